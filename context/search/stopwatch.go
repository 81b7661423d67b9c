package search

import "time"

// Stage is one part of the work of a search: words, embed, vectors, fuse or
// snippets.
type Stage struct {
	Name string
	Took time.Duration
}

// stopwatch times the stages of a search, one at a time. A nil one times
// nothing.
type stopwatch struct{ stages []Stage }

// begin begins a stage, which what is returned ends.
func (w *stopwatch) begin(name string) (over func()) {
	if w == nil {
		return func() {}
	}
	start := time.Now()
	return func() { w.stages = append(w.stages, Stage{name, time.Since(start)}) }
}

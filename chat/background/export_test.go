package background

import "context"

// For tests: the pure parts of a summary.
var (
	Paragraph = paragraph
	Sentence  = sentence
	Read      = readSummary
)

// Wait returns when all that was asked for before is done.
func (m *Summarizer) Wait() {
	if m == nil {
		return
	}
	done := make(chan struct{})
	if !m.queue.Add(func(context.Context) error { close(done); return nil }) {
		panic("too many wait")
	}
	<-done
}

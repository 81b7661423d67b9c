package term

import (
	"cmp"

	"github.com/schollz/progressbar/v3"

	"github.com/ctxd/ctxd/rpc/protocol"
)

// Progress draws how far a job has come, on a terminal only. It is used by one
// goroutine at a time.
type Progress struct {
	bar   *progressbar.ProgressBar // nil when nothing is drawn
	stage string
}

// NewProgress returns the progress that is drawn on a screen.
func NewProgress(s *Screen) *Progress {
	p := &Progress{}
	if !s.Terminal {
		return p
	}
	p.bar = progressbar.NewOptions64(-1,
		progressbar.OptionSetWriter(s),
		progressbar.OptionSetWidth(28),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetTheme(progressbar.Theme{Saucer: "█", SaucerPadding: "·", BarStart: " ", BarEnd: " "}),
	)
	return p
}

// Report shows a stage and how many of its steps are done; total 0 is unknown.
func (p *Progress) Report(stage string, done, total int) {
	if p.bar == nil {
		return
	}
	if stage != p.stage {
		p.stage = stage
		p.bar.Reset()
		p.bar.Describe(Clean(stage))
	}
	if total > 0 {
		p.bar.ChangeMax(total)
	}
	_ = p.bar.Set(min(done, max(total-1, 0))) // a bar that reaches its end is over, and the next stage needs it
}

// Wire shows a report of the daemon.
func (p *Progress) Wire(r protocol.Progress) {
	if r.Kind == protocol.ProgressReport {
		p.Report(r.Message, int(r.Done), int(r.Total))
	}
}

// Finish takes the bar away.
func (p *Progress) Finish() {
	if p.bar != nil {
		_ = p.bar.Finish() // drawing failed: the result is printed all the same
	}
}

// Share returns a function that shows how far a stage is of which only the size
// is known, not what it is made of.
func (p *Progress) Share(stage string) func(done, total int64) {
	return func(done, total int64) {
		if total > 0 {
			p.Report(stage, int(100*done/total), 100)
		} else {
			p.Report(stage, 0, 0)
		}
	}
}

// WireShare is share for the reports of a daemon, whose stages have these names.
func (p *Progress) WireShare(stages map[string]string) func(protocol.Progress) {
	return func(r protocol.Progress) {
		if r.Kind == protocol.ProgressReport {
			p.Share(cmp.Or(stages[r.Message], r.Message))(r.Done, r.Total)
		}
	}
}

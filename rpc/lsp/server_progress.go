package lsp

import (
	"context"
	"strconv"
)

// Progress is a work that an editor shows while it goes on. The zero value, and nil, show
// nothing.
type Progress struct {
	session *Session
	token   ProgressToken
}

// Progress begins a progress: under the token that came with a request or, without one,
// under a token of its own where the editor shows such.
func (s *Session) Progress(ctx context.Context, token ProgressToken, title string) *Progress {
	if len(token) == 0 {
		if !s.Client().Window.WorkDoneProgress {
			return nil
		}
		s.mu.Lock()
		s.tokens++
		token = ProgressToken(strconv.AppendInt([]byte(`"ctxd-`), int64(s.tokens), 10))
		token = append(token, '"')
		s.mu.Unlock()
		if s.Ask(ctx, "window/workDoneProgress/create", WorkDoneProgressCreateParams{Token: token}, nil) != nil {
			return nil
		}
	}
	p := &Progress{s, token}
	p.tell(WorkDoneProgress{Kind: "begin", Title: title})
	return p
}

func (p *Progress) tell(v WorkDoneProgress) {
	if p != nil && p.session != nil {
		p.session.Tell("$/progress", ProgressParams{Token: p.token, Value: v})
	}
}

// Report says how far the work is. total is 0 when it is unknown.
func (p *Progress) Report(message string, done, total int64) {
	v := WorkDoneProgress{Kind: "report", Message: message}
	if total > 0 {
		percent := uint32(min(100, 100*done/total))
		v.Percentage = &percent
	}
	p.tell(v)
}

// End ends it.
func (p *Progress) End(message string) { p.tell(WorkDoneProgress{Kind: "end", Message: message}) }

package main

import (
	"os"
	"path/filepath"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
)

// manCmd writes the manual pages, for who packages ctxd.
type manCmd struct {
	Dir  string    `arg:"" help:"Folder that the pages are written to."`
	Date time.Time `format:"2006-01-02" required:"" help:"Day that the pages are of."`
}

func (c *manCmd) Run(a *app) error {
	about := ManInfo{Version: term.ProgramVersion(), Date: c.Date, Examples: appExamples, Note: exitNote}
	for _, e := range exitTexts {
		about.Statuses = append(about.Statuses, ExitStatus{Code: e.code, Text: e.text})
	}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil { //nolint:gosec // manuals are for everybody
		return fault.Wrap(fault.Unavailable, err, "cannot create the folder")
	}
	for _, p := range ManPages(a.kong.Model.Node, about) {
		if err := os.WriteFile(filepath.Join(c.Dir, p.Name), []byte(p.Text), 0o644); err != nil { //nolint:gosec // as above
			return fault.Wrap(fault.Unavailable, err, "cannot write a manual page")
		}
	}
	return nil
}

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/shell"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
)

// exitTexts document the exit statuses in ctxd --help.
var exitTexts = []struct {
	code int
	text string
}{
	{term.ExitOK, "done"},
	{term.ExitError, "the command failed; the line Error: says why"},
	{term.ExitMisused, "the command line is wrong, or needs --yes because nobody can be asked"},
	{term.ExitOwned, "another daemon owns the socket or the data"},
	{term.ExitMissing, "the named note, entity, type, vault, method or file does not exist"},
	{term.ExitNoDaemon, "no daemon answers on the socket, or it stopped"},
	{term.ExitInterrupted, "interrupted by Ctrl-C"},
}

// exitNote stands under them.
const exitNote = "Commands that run until Ctrl-C, such as events, inspect rpc --watch and\ninspect log --follow, then exit with 0."

// fail prints an error and returns the exit status.
func (a *app) fail(err error) int {
	if err == nil {
		return term.ExitOK
	}
	f := term.ExplainError(err)
	if a.Ctx.Err() != nil && f.Kind == fault.Cancelled.String() {
		f.Code, f.Message, f.Hint = term.ExitInterrupted, "interrupted", ""
	}
	if a.JSON {
		_ = a.Err.JSON(map[string]term.Failure{"error": f}) // there is nowhere else to say it
		return f.Code
	}
	if f.Code == term.ExitInterrupted {
		return f.Code // who pressed Ctrl-C knows
	}
	if len(f.Diagnostics) > 0 {
		shell.DrawDiagnostics(a.Err, f.Diagnostics, f.File)
		return f.Code
	}
	a.Err.SayWhole(term.Styled(term.Bad, "Error: "), term.Text(f.Message))
	if f.Line > 0 && f.File == "" {
		what := "query"
		if f.Field == "template" {
			what = f.Field
		}
		a.Err.Say(term.Text(fmt.Sprintf("       at line %d, column %d of the %s", f.Line, f.Column, what)))
	}
	for _, l := range f.Log {
		a.Err.Say(term.Styled(term.Faint, "  | "), term.Text(l))
	}
	for _, c := range f.Candidates {
		place := connect.Place(c.Vault, c.Path)
		if c.Type != "" || alike(c, f.Candidates) { // a path names no entity
			place = strings.TrimSpace(place + "  " + c.ID)
		}
		a.Err.Say(term.Text("  · "), term.Styled(term.Strong, cmp.Or(c.Title, c.Name, c.ID)),
			term.Styled(term.Faint, "  "+strings.TrimSpace(c.Type+"  "+cmp.Or(place, c.ID))))
	}
	if f.Hint != "" {
		a.Err.SayWhole(term.Styled(term.Good, "Try: "), term.Text(f.Hint))
	}
	return f.Code
}

// alike reports whether a candidate lies where another one does: then only ids tell them apart.
func alike(c fault.Candidate, among []fault.Candidate) bool {
	return slices.ContainsFunc(among, func(other fault.Candidate) bool {
		return other.ID != c.ID && other.Vault == c.Vault && other.Path == c.Path
	})
}

// warn says what of the configuration can't be used, where the command needs none of it.
func (a *app) warn(err error) {
	f := term.ExplainError(err)
	if a.JSON {
		_ = a.Err.JSON(map[string]any{"warning": f}) // there is nowhere else to say it
		return
	}
	a.Err.SayWhole(term.Styled(term.Warn, "Warning: "), term.Text(f.Message))
	if f.Hint != "" {
		a.Err.SayWhole(term.Styled(term.Good, "Try: "), term.Text(f.Hint))
	}
}

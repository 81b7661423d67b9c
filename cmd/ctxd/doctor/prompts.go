package doctor

import (
	"log/slog"

	"github.com/ctxd/ctxd/chat/prompts"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
)

// checkPrompts opens the templates of the configuration, as a daemon would that starts now; nothing where none are
// configured.
func checkPrompts(x *examination) (*checkup, error) {
	dir := x.conf.Prompts
	if dir == "" {
		return nil, nil //nolint:nilnil // there is nothing to say
	}
	c := &checkup{Name: "prompts", State: stateOK}
	set := prompts.Open(dir, slog.New(slog.DiscardHandler))
	own := 0
	for _, t := range set.List() {
		if t.File != "" {
			own++
		}
	}
	c.Found = term.Count(own, "template") + " of " + dir
	if c.More = set.Warnings(); len(c.More) > 0 {
		c.State = stateWarning
		c.Hint = "ctxd templates show NAME --built-in prints one that is sound; the README of chat/prompts says what one needs"
	}
	return c, nil
}

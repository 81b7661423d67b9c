package tools

import (
	"slices"
	"strings"

	"github.com/ctxd/ctxd/chat/turn"
)

// commandAt returns the command that a text begins with, and where what it says begins.
func commandAt(s string) (c turn.Command, from int, ok bool) {
	commands := turn.Commands()
	if !strings.HasPrefix(s, "/") {
		return c, 0, false
	}
	name := s
	if i := strings.IndexAny(s, " \t\r\n\u00a0\u3000"); i >= 0 {
		name = s[:i]
	}
	i := slices.IndexFunc(commands, func(c turn.Command) bool { return strings.EqualFold(c.Name, name) })
	if i < 0 {
		return c, 0, false
	}
	return commands[i], len(name), true
}

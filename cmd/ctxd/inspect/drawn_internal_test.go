package inspect

import (
	"bytes"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
)

// drawn returns what fn draws on a screen of the given width, 0 for a pipe.
func drawn(width int, fn func(s *term.Screen)) string {
	var b bytes.Buffer
	fn(&term.Screen{Writer: &b, Width: width, Terminal: width > 0})
	return b.String()
}

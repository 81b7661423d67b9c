package text

import (
	"regexp"
	"sync"
)

// Pattern returns a regular expression that is compiled when it is first asked for. A
// variable of a package holds it: compiling those of all packages took a program a third
// of its start, and it uses few of them. Inlined, each would be 2 KB of the program.
//
//go:noinline
func Pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

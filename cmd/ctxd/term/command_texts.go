package term

import (
	"errors"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
)

// NonEmpty returns the texts that are not empty.
func NonEmpty(texts ...string) []string {
	var out []string
	for _, s := range texts {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// WithHint returns a wire error with another hint.
func WithHint(err error, hint string) error {
	var e *fault.Error
	if !errors.As(err, &e) {
		return err
	}
	c := *e
	c.Hint = hint
	return &c
}

// ShellQuoted writes a text as a word of a shell.
func ShellQuoted(s string) string {
	if s != "" && !strings.ContainsFunc(s, needsQuotes) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// needsQuotes reports whether a shell may read more into r than the character.
func needsQuotes(r rune) bool {
	plain := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_./@", r)
	return !plain && r < 0x80
}

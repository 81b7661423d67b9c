package llm

import (
	"slices"
	"strings"
)

// keyPrefixes are what the keys of the larger providers begin with.
var keyPrefixes = []string{"sk-", "gsk_", "xai-", "AIza", "Bearer "}

// LooksLikeKey reports whether a text that is to name something looks like a key of a provider. Who is
// given one refuses it without showing it, and keeps it nowhere.
func LooksLikeKey(text string) bool {
	text = strings.TrimSpace(text)
	return slices.ContainsFunc(keyPrefixes, func(p string) bool { return strings.HasPrefix(text, p) })
}

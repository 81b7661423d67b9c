package audience

import (
	"html"
	"net/url"
	"strings"
	"unicode"
)

// spelling returns a target as it is read: without characters that have no shape, with
// what is escaped for a URL or for HTML unescaped, and with slashes for backslashes. No
// link is resolved so, but who reads the text sees where it was to lead.
func spelling(target string) string {
	plain := strings.Map(func(r rune) rune {
		switch {
		case r == '\\':
			return '/'
		case unicode.IsSpace(r):
			return ' '
		case unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
			return -1
		}
		return r
	}, html.UnescapeString(target))
	unescaped, err := url.PathUnescape(plain)
	if err != nil {
		return plain
	}
	return unescaped
}

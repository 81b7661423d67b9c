package markdown

import (
	"html"
	"net/url"
	"strings"
	"unicode/utf8"
)

// UnescapeDest returns a destination without the escapes of Markdown, HTML and URLs.
func UnescapeDest(dest string) string {
	if strings.IndexByte(dest, '\\') >= 0 {
		var b strings.Builder
		for i := 0; i < len(dest); i++ {
			if dest[i] == '\\' && i+1 < len(dest) && isPunct(dest[i+1]) {
				i++
			}
			b.WriteByte(dest[i])
		}
		dest = b.String()
	}
	dest = html.UnescapeString(dest)
	if plain, err := url.PathUnescape(dest); err == nil {
		return plain
	}
	return dest
}

// UnescapePath returns a path, or a part of one, without escapes; as it is, where they say no text.
func UnescapePath(dest string) string {
	if text := UnescapeDest(dest); utf8.ValidString(text) && strings.IndexByte(text, 0) < 0 {
		return text
	}
	return dest
}

// isPunct reports ASCII punctuation, the bytes that a backslash escapes.
func isPunct(c byte) bool {
	return '!' <= c && c <= '/' || ':' <= c && c <= '@' || '[' <= c && c <= '`' || '{' <= c && c <= '~'
}

package destinations

import "strings"

// IsNote reports a path without scheme that ends like a Markdown file.
func IsNote(p string) bool {
	dot := strings.LastIndexByte(p, '.')
	if dot < 1 {
		return false
	}
	if ext := p[dot:]; !strings.EqualFold(ext, ".md") && !strings.EqualFold(ext, ".markdown") {
		return false
	}
	if strings.HasPrefix(p, "//") {
		return false
	}
	scheme, _, ok := strings.Cut(p, ":")
	return !ok || strings.ContainsAny(scheme, "/.% ") || len(scheme) < 2
}

package lsp

import (
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
)

// URIPath returns the file that an address names. It reports false for an address of
// another scheme, such as that of a document that was never saved.
func URIPath(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || !strings.EqualFold(u.Scheme, "file") || u.Path == "" {
		return "", false
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		switch {
		case u.Host != "" && !strings.EqualFold(u.Host, "localhost"):
			path = "//" + u.Host + path
		case len(path) > 2 && path[0] == '/' && path[2] == ':':
			path = strings.ToUpper(path[1:2]) + path[2:]
		}
	} else if u.Host != "" && !strings.EqualFold(u.Host, "localhost") {
		return "", false
	}
	return filepath.Clean(filepath.FromSlash(path)), true
}

// FileURI returns the address of a file, as editors write it.
func FileURI(path string) string {
	path = filepath.ToSlash(path)
	host := ""
	switch {
	case strings.HasPrefix(path, "//"):
		host, path, _ = strings.Cut(path[2:], "/")
		path = "/" + path
	case !strings.HasPrefix(path, "/"):
		path = "/" + path // C:/Notes
	}
	u := url.URL{Scheme: "file", Host: host, Path: path}
	return u.String()
}

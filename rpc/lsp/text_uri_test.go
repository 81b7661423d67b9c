package lsp_test

import (
	"path/filepath"
	"runtime"
	"testing"

	"github.com/ctxd/ctxd/rpc/lsp"
)

func TestLSP1_AddressesOfFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths are those of other systems")
	}
	for uri, want := range map[string]string{
		"file:///a/b.md": "/a/b.md", "file:///a/B%20c%C3%A9.md": "/a/B cé.md", "file://localhost/a.md": "/a.md",
		"FILE:///a/./b.md": "/a/b.md", "untitled:Untitled-1": "", "file://server/a.md": "", "": "", "%zz": "", "file:": "",
		"vscode-vfs://github/a.md": "",
	} {
		if got, ok := lsp.URIPath(uri); got != want || ok != (want != "") {
			t.Errorf("%s is %q, %v, want %q", uri, got, ok, want)
		}
	}
	for _, path := range []string{"/a/b.md", "/a b/c#d?.md", "/é/%41.md", "/a:b/[x].md"} {
		if got, ok := lsp.URIPath(lsp.FileURI(path)); !ok || got != filepath.Clean(path) {
			t.Errorf("%s is written as %s, which is %q", path, lsp.FileURI(path), got)
		}
	}
}

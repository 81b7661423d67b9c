package markdown_test

import (
	"testing"

	"github.com/ctxd/ctxd/notes/markdown"
)

// TestSRCH34_KindsOfDestinations: what lists broken links names no address, and no word
// that somebody wrote in place of one.
func TestSRCH34_KindsOfDestinations(t *testing.T) {
	for kind, list := range map[markdown.DestKind][]string{
		markdown.DestFile: {
			"x.md", "../x%20y.MD#sec", "x.markdown", "/x.md", "a.b:c.md", "100%.md", "%ff.md", "example.org/x.md",
			"Board.canvas", "Tasks.base", "pic.png", "../Files/pic.JPEG", "a b/paper.pdf#page=3", "pic%20one.png",
			"./x.mp3", "my.2nd/pic.png", "v1.2/pic.png", "Dr. Who/pic.png", "x.excalidraw", "x.y.png", "a:b/pic.png",
			`pic\_1.png`, "c:pic.png", "data.zip", "[a].md", "[a].png", "#d", "#^d",
		},
		markdown.DestPossible: {
			"Zebra", "scripts/run", "scripts/run.sh", "example.org", "example.org/page", "example.org/logo.png",
			"my-host.example.org:8080/logo.png", "url", "relative specifier", "image.xyz", "page.html", "somebody@example.org",
			"/home/me/pic.png", "/assets/pic.png", "{{picture}}.png", "x.md?raw=1", "pic.png?raw=1", "%20x",
			"x.longendingofafile", "é.é", "a..", "a../b",
		},
		markdown.DestElsewhere: {
			"", "#", ".md", ".png", "https://example.org/x.md", "//example.org/x.md", "mailto:a@example.org",
			"HTTP://example.org/x.png", "data:image/png;base64,AAAA.png", "tel:123", "javascript:void(0)", "logseq://graph/x.md",
			"file:///home/me/x.png", "localhost:8080/x.md", "www.example.org/x.png", "((634fb9a8-cab9-441e-b476-41fa828010ea))",
			"C:/pics/x.png", `C:\pics\x.png`, `\\server\x.png`, "~/x.png", ".", "..", ".", "./", "scripts/", "/", ".hidden.png",
			"a/.hidden", ".obsidian/icon.png", "../.a/b", "a/%2egit/x.png", "%20", "&nbsp;", "a/%20/", "a/%2e%2e", "x\ny.md", "[a]]", "[x",
		},
	} {
		for _, dest := range list {
			if got := markdown.DestKindOf(dest); got != kind {
				t.Errorf("%q is of kind %d, want %d", dest, got, kind)
			}
		}
	}
}

package books_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/books"
)

// printedBook is an EPUB with the pages of a printed one.
func printedBook(t *testing.T, pages []string, chapters ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	add := func(name, text string) {
		w, err := z.Create(name)
		must(t, err)
		_, err = w.Write([]byte(text))
		must(t, err)
	}
	items, spine, list := "", "", ""
	for i, text := range chapters {
		items += fmt.Sprintf(`<item id="c%d" href="c%d.xhtml" media-type="application/xhtml+xml"/>`, i, i)
		spine += fmt.Sprintf(`<itemref idref="c%d"/>`, i)
		add(fmt.Sprintf("c%d.xhtml", i), "<html><body>"+text+"</body></html>")
	}
	for _, p := range pages {
		at, label, _ := strings.Cut(p, " ")
		list += `<li><a href="` + at + `">` + label + "</a></li>"
	}
	add("META-INF/container.xml", `<container><rootfiles><rootfile full-path="p.opf"/></rootfiles></container>`)
	add("p.opf", `<package><manifest><item id="n" href="n.xhtml" media-type="application/xhtml+xml" properties="nav"/>`+items+`</manifest><spine>`+spine+`</spine></package>`)
	add("n.xhtml", `<html><body><nav epub:type="page-list"><ol>`+list+`</ol></nav></body></html>`)
	must(t, z.Close())
	return b.Bytes()
}

// TestMEM85_CitedByTheLabelOfThePage: a passage is cited by the page as it is printed, and where that is in the file.
func TestMEM85_CitedByTheLabelOfThePage(t *testing.T) {
	h := open(t)
	long := strings.Repeat("They stand in the reed for hours and wait. ", 40)
	data := printedBook(t, []string{"c0.xhtml vii", "c1.xhtml 1", "c2.xhtml 3", "c2.xhtml#x Zanzibar", "c3.xhtml 5"},
		"<h1>Before</h1><p>A heron is a bird.</p>", "<h1>Body</h1><p>A heron stands.</p>",
		"<h1>Reed</h1><p>"+long+`</p><p id="x">`+long+"</p>", "<h1>End</h1><p>It flies.</p>")
	b := h.put(books.Draft{Content: data, MimeType: "epub", Name: "birds.epub", Title: "Birds"})
	list, _, err := h.Read(t.Context(), h.local, b.ID, "", "", -1, 100)
	must(t, err)
	said := ""
	for _, p := range list {
		said += p.Cite + "\n"
	}
	for _, want := range []string{
		"[Birds, Before, p. vii (1 of 5)]\n", "[Birds, Body, p. 1 (2 of 5)]\n", "[Birds, Reed, p. 3]\n", "[Birds, Reed, p. Zanzibar (4 of 5)]\n", "[Birds, End, p. 5]\n",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
}

// TestMEM85_CitedOverTwoPages names both as they are printed.
func TestMEM85_CitedOverTwoPages(t *testing.T) {
	h := open(t)
	data := printedBook(t, []string{"c0.xhtml 84", "c0.xhtml#x 85"}, `<p>A heron stands.</p><p id="x">It flies.</p>`)
	b := h.put(books.Draft{Content: data, MimeType: "epub", Name: "birds.epub", Title: "Birds"})
	list, _, err := h.Read(t.Context(), h.local, b.ID, "", "", -1, 100)
	must(t, err)
	if len(list) != 1 || list[0].Cite != "[Birds, p. 84-85 (1-2 of 2)]" || list[0].Label != "84" || list[0].LastLabel != "85" {
		t.Errorf("%+v", list)
	}
}

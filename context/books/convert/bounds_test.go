package convert_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/books/convert"
	"github.com/ctxd/ctxd/entities/fault"
)

// TestREL15_ABombIsRefusedEarly: by what it would make, before that is made. What was allocated tells.
func TestREL15_ABombIsRefusedEarly(t *testing.T) {
	const size = 8 << 20
	fill := func(unit string) string { return strings.Repeat(unit, size/len(unit)) }
	footnote := part{"word/footnotes.xml", `<f><footnote w:id="1"><p><t>` + strings.Repeat("note ", 20_000) + `</t></p></footnote></f>`}
	for _, c := range []struct {
		name   string
		format convert.Format
		data   []byte
		says   string
	}{
		{"commas", convert.CSV, []byte(fill(",")), "cells"},
		{"semicolons behind a line", convert.CSV, []byte("a;b\n" + fill(";")), "cells"},
		{"empty quotes", convert.CSV, []byte(fill(`"",`)), "cells"},
		{"bars", convert.Markdown, []byte(fill("|")), "cells"},
		{"cells", convert.HTML, []byte("<table><tr>" + fill("<td>")), "cells"},
		{"wide heads", convert.HTML, []byte("<table><tr>" + strings.Repeat("<th colspan=100>a", 100) + "</table>"), "cells"},
		{"cells of Word", convert.DOCX, word(t, "<w:tbl><w:tr>"+fill("<w:tc><w:p/></w:tc>")), "cells"},
		{"a footnote, often", convert.DOCX, zipped(t, footnote,
			part{"word/document.xml", "<w:document><w:p>" + strings.Repeat(`<w:footnoteReference w:id="1"/>`, 10_000) + "</w:p></w:document>"}), "MiB of text"},
		{"a page, often", convert.EPUB, zipped(t, part{"META-INF/container.xml", `<container><rootfile full-path="o.opf"/></container>`},
			part{"o.opf", `<package><item id="a" href="a.html" media-type="application/xhtml+xml"/>` + strings.Repeat(`<itemref idref="a"/>`, 1000) + `</package>`},
			part{"a.html", strings.Repeat("<p>"+strings.Repeat("some words ", 100), 500)}), "MiB of text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := shared.Convert(t.Context(), c.format, c.data, nil)
			runtime.ReadMemStats(&after)
			if fault.KindOf(err) != fault.Limit || !strings.Contains(fault.Message(err), c.says) {
				t.Errorf("%v", err)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 24*size { // what is not refused early takes a hundred times
				t.Errorf("%d MiB were allocated", took>>20)
			}
		})
	}
}

// TestREL15_RealTablesAreNotRefused: what looks like cells within quotes is one cell, over lines and with quotes in it.
func TestREL15_RealTablesAreNotRefused(t *testing.T) {
	list := strings.Repeat("a, b\n", 600)
	for _, text := range []string{
		"name,said\nOkapi,\"" + list + "\"\nBee,x\n", "name,said\r\nOkapi,\"" + strings.Repeat("x,", 1500) + " \"\"quoted\"\", " + list + "\"\r\nBee,x\r\n",
		"name,said\nOkapi,\"a \" b" + strings.Repeat(",", 1500) + "\"\nBee,x\n", "name,size\nOkapi,5\" pipe\nBee,7\" pipe\n" + strings.Repeat("x,1\n", 2000),
	} {
		d, err := shared.Convert(t.Context(), convert.CSV, []byte(text), nil)
		if err != nil || !strings.Contains(dump(d), "Bee") {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

// TestREL15_TheBoundsOfAFile: ten times its size, a least for a small one, a most for a large one.
func TestREL15_TheBoundsOfAFile(t *testing.T) {
	for size, want := range map[int64][2]int64{0: {256, 16}, 1 << 20: {256, 16}, 4 << 20: {256, 40}, 40 << 20: {400, 64}, 64 << 20: {640, 64}, 1 << 30: {640, 64}} {
		if got := [2]int64{convert.MemoryOf(size) >> 20, convert.TextOf(size) >> 20}; got != want {
			t.Errorf("%d: %v, want %v", size, got, want)
		}
	}
	if convert.TimeoutOf(0) > convert.TimeoutOf(60<<20) || convert.TimeoutOf(1<<40) > convert.TimeoutOf(64<<20) {
		t.Error("times do not grow, or without a bound")
	}
}

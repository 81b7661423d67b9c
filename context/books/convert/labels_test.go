package convert_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/books/convert"
)

// labelled is a PDF of pages of one line each, with labels: entries of a number tree.
func labelled(pages int, nums string) []byte {
	list := make([][]at, pages)
	for i := range list {
		list[i] = []at{{x: 54, y: 720, text: fmt.Sprintf("The page of number %d tells of bees.", i+1)}}
	}
	return pdfWith("/PageLabels << /Nums ["+nums+"] >>", list...)
}

// TestMEM85_PageLabelsOfPDF are those that are printed on the pages.
func TestMEM85_PageLabelsOfPDF(t *testing.T) {
	for nums, want := range map[string]string{
		"0 << /S /r >> 2 << /S /D >>":                 "[i ii 1 2 3]",
		"0 << /S /D /St 81 >>":                        "[81 82 83 84 85]",
		"0 << /S /D >>":                               "[]", // the same as their numbers
		"0 << /P (Cover) >> 1 << /S /D >>":            "[Cover 1 2 3 4]",
		"0 << /S /D /P (A-) >>":                       "[A-1 A-2 A-3 A-4 A-5]",
		"0 << /P (], \\(x\\) [id:1) >>":               "[]", // no label, but structure
		"0 << /S /D >> 3 << /S /A >>":                 "[1 2 3 A B]",
		"0 << /P (aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa) >>": "[]", // too long to be printed beside a number
		"0 << /S /R /P ( Vol. 2 ) /St 4 >>":           "[Vol. 2 IV Vol. 2 V Vol. 2 VI Vol. 2 VII Vol. 2 VIII]",
	} {
		d, err := shared.Convert(t.Context(), convert.PDF, labelled(5, nums), nil)
		if err != nil {
			t.Fatalf("%s: %v", nums, err)
		}
		if got := fmt.Sprint(d.Labels); got != want {
			t.Errorf("%s: %s, want %s", nums, got, want)
		}
	}
}

// printed is an EPUB of two pages of HTML with the breaks of a printed book.
func printed(t *testing.T, list, one, two string) []byte {
	t.Helper()
	page := func(s string) string {
		return `<html xmlns:epub="http://www.idpf.org/2007/ops"><body>` + s + "</body></html>"
	}
	return packed(t, map[string]string{
		"META-INF/container.xml": `<container><rootfiles><rootfile full-path="E/content.opf"/></rootfiles></container>`,
		"E/content.opf": `<package><manifest><item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>` +
			`<item id="x" href="toc.ncx" media-type="application/x-dtbncx+xml"/>` +
			`<item id="a" href="t/a.xhtml" media-type="application/xhtml+xml"/><item id="b" href="t/b.xhtml" media-type="application/xhtml+xml"/></manifest>` +
			`<spine toc="x"><itemref idref="n"/><itemref idref="a"/><itemref idref="b"/></spine></package>`,
		"E/nav.xhtml": page(list), "E/toc.ncx": "<ncx>" + list + "</ncx>",
		"E/t/a.xhtml": page(one), "E/t/b.xhtml": page(two),
	})
}

// TestMEM85_PageLabelsOfEPUB come from its list of pages, else from the breaks in its text.
func TestMEM85_PageLabelsOfEPUB(t *testing.T) {
	const (
		nav = `<nav epub:type="toc"><ol><li><a href="t/a.xhtml">Bees</a></li></ol></nav><nav epub:type="page-list" hidden=""><ol><li><a href="t/a.xhtml#p1">vii</a></li><li><a href="t/a.xhtml#p2">1</a></li><li><a href="t/b.xhtml">2</a></li></ol></nav>`
		ncx = `<navMap><navPoint><navLabel><text>Bees</text></navLabel><content src="t/a.xhtml"/></navPoint></navMap><pageList><pageTarget value="7" type="front"><navLabel><text>vii</text></navLabel><content src="t/a.xhtml#p1"/></pageTarget><pageTarget><navLabel><text>1</text></navLabel><content src="t/a.xhtml#p2"/></pageTarget><pageTarget><navLabel><text>2</text></navLabel><content src="t/b.xhtml"/></pageTarget></pageList>`
		one = `<h1>Of bees</h1><p><span id="p1"/>They cluster.</p><p>The queen</p><div id="p2"></div><p>is in the middle.</p>`
	)
	for name, c := range map[string]struct{ list, one, two, want string }{
		"a nav":           {nav, one, "<p>They move upward.</p>", "pages 3 [vii 1 2] 0 1 1 2 3"},
		"an ncx":          {ncx, one, "<p>They move upward.</p>", "pages 3 [vii 1 2] 0 1 1 2 3"},
		"breaks alone":    {"", `<p><span epub:type="pagebreak" id="x" title="11"/>They cluster.</p>`, `<p>On.</p><div role="doc-pagebreak" aria-label="Page 12."/><p>They move.</p>`, "pages 2 [11 12] 1 1 2"},
		"breaks, no name": {"", `<p><span epub:type="pagebreak" id="x"/>They cluster.</p>`, `<p>On.</p>`, "pages 0 [] 0 0"},
		"in a paragraph":  {nav, `<p id="p1">One <span id="p2">two.</span></p>`, "<p>Three.</p>", "pages 3 [vii 1 2] 1 3"},
		"a number shown":  {"", `<p><span epub:type="pagebreak" id="x">11</span>They cluster.</p>`, "<p>On.</p>", "pages 1 [11] 1 1"},
	} {
		d, err := shared.Convert(t.Context(), convert.EPUB, printed(t, c.list, c.one, c.two), nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := fmt.Sprintf("pages %d %v", d.Pages, d.Labels)
		for i := range d.Blocks {
			got += fmt.Sprint(" ", d.Blocks[i].Page)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s\n%s", name, got, c.want, dump(d))
		}
		if strings.Contains(dump(d), "11They") {
			t.Errorf("%s: the number stands within the text: %s", name, dump(d))
		}
	}
}

// TestMEM85_PageLabelsOfWord are the numbers that its sections print.
func TestMEM85_PageLabelsOfWord(t *testing.T) {
	par := func(s string) string { return "<w:p><w:r>" + s + "</w:r></w:p>" }
	const next, text = "<w:lastRenderedPageBreak/>", "<w:t>Bees.</w:t>"
	section := func(kind, numbers string) string {
		return `<w:sectPr><w:type w:val="` + kind + `"/><w:pgNumType ` + numbers + `/></w:sectPr>`
	}
	for name, c := range map[string]struct{ body, want string }{
		"one section":    {par(text) + par(next+text) + section("nextPage", `w:start="81"`), "pages 2 [81 82] 1 2"},
		"roman, then on": {par(text) + "<w:p><w:pPr>" + section("nextPage", `w:fmt="lowerRoman"`) + "</w:pPr><w:r>" + next + text + "</w:r></w:p>" + par(next+text) + section("nextPage", `w:start="1"`), "pages 3 [i ii 1] 1 2 3"},
		"it goes on":     {par(text) + "<w:p><w:pPr>" + section("nextPage", `w:start="5"`) + "</w:pPr><w:r>" + text + "</w:r></w:p>" + par(next+text) + section("nextPage", ""), "pages 2 [5 6] 1 1 2"},
		"no numbers":     {par(text) + par(next+text) + section("nextPage", ""), "pages 2 [] 1 2"},
		"written twice":  {par(text) + par(`<w:br w:type="page"/>`) + par(next+text) + par(next+text), "pages 3 [] 1 2 3"},
		"before one":     {par(text) + `<w:p><w:pPr><w:pageBreakBefore/></w:pPr><w:r>` + next + text + "</w:r></w:p>", "pages 2 [] 1 2"},
	} {
		d, err := shared.Convert(t.Context(), convert.DOCX, word(t, c.body), nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := fmt.Sprintf("pages %d %v", d.Pages, d.Labels)
		for i := range d.Blocks {
			got += fmt.Sprint(" ", d.Blocks[i].Page)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestMEM85_FootnoteNumbers stand apart from the words that they follow.
func TestMEM85_FootnoteNumbers(t *testing.T) {
	for markup, want := range map[string]string{
		`<p>The honeybee<sup><a href="#fn1">1</a></sup> dances.</p>`:                                "The honeybee [1] dances.",
		`<p>The honeybee<sup id="r1"><a href="#fn1">[1]</a></sup> dances.</p>`:                      "The honeybee [1] dances.",
		`<p>The honeybee<a href="#fn1" role="doc-noteref">1</a> dances.</p>`:                        "The honeybee [1] dances.",
		`<p>The honeybee<a epub:type="noteref" href="n.xhtml#fn1"><sup>*</sup></a> dances.</p>`:     "The honeybee [*] dances.",
		`<p>The honeybee<a class="footnote-ref" href="#fn1"><sup>12</sup></a>, 3<sup>rd</sup>.</p>`: "The honeybee [12], 3rd.",
		`<p>x<sup>2</sup> in 4 m<sup>2</sup>, H<sub>2</sub>O</p>`:                                   "x2 in 4 m2, H2O",
		`<p>A <a href="#part">1</a> link.</p>`:                                                      "A 1 link.",
	} {
		d, err := shared.Convert(t.Context(), convert.HTML, []byte("<html><body>"+markup+"</body></html>"), nil)
		if err != nil || len(d.Blocks) != 1 || d.Blocks[0].Text != want {
			t.Errorf("%s: %s %v", markup, dump(d), err)
		}
	}
	body := `<w:p><w:r><w:t>The honeybee</w:t></w:r><w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>1</w:t></w:r><w:r><w:t> dances on 4 m</w:t></w:r>` +
		`<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>2</w:t></w:r><w:r><w:t>, the 3</w:t></w:r><w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>rd</w:t></w:r><w:r><w:t>.</w:t></w:r></w:p>`
	d, err := shared.Convert(t.Context(), convert.DOCX, word(t, body), nil)
	if err != nil || !strings.Contains(dump(d), "The honeybee [1] dances on 4 m2, the 3rd.") {
		t.Errorf("Word: %s %v", dump(d), err)
	}
	d, err = shared.Convert(t.Context(), convert.DOCX, packed(t, map[string]string{
		"word/document.xml": `<w:document xmlns:w="w"><w:body><w:p><w:r><w:t>The honeybee</w:t></w:r><w:r><w:endnoteReference w:id="2"/></w:r><w:r><w:t> dances.</w:t></w:r></w:p></w:body></w:document>`,
		"word/endnotes.xml": `<w:endnotes xmlns:w="w"><w:endnote w:id="2"><w:p><w:r><w:t>Apis mellifera.</w:t></w:r></w:p></w:endnote></w:endnotes>`,
	}), nil)
	if err != nil || !strings.Contains(dump(d), "The honeybee (Apis mellifera.) dances.") {
		t.Errorf("endnotes: %s %v", dump(d), err)
	}
}

// TestMEM85_FootnoteNumbersOfPDF are told by their size and their height.
func TestMEM85_FootnoteNumbersOfPDF(t *testing.T) {
	for _, c := range []struct{ before, digits, after, want string }{
		{"The honeybee", "1", " dances.", "The honeybee [1] dances."},
		{"The honeybee,", "12", " a worker, dances.", "The honeybee, [12] a worker, dances."},
		{"They said so.", "3", " And on.", "They said so. [3] And on."},
		{"It has 4 m", "2", " of wax.", "It has 4 m2 of wax."},
		{"It weighs 10", "3", " grains.", "It weighs 103 grains."},
	} {
		d, err := shared.Convert(t.Context(), convert.PDF, superscript(c.before, c.digits, c.after, 4), nil)
		if err != nil || !strings.Contains(dump(d), c.want) {
			t.Errorf("%s^%s: %s %v", c.before, c.digits, dump(d), err)
		}
	}
	d, err := shared.Convert(t.Context(), convert.PDF, superscript("They drank the water of COO", "2", " and more.", -3), nil)
	if err != nil || !strings.Contains(dump(d), "COO2 and more") {
		t.Errorf("lowered: %s %v", dump(d), err)
	}
	d, err = shared.Convert(t.Context(), convert.PDF, superscript("", "1", "See the dance of bees.", 4), nil)
	if err != nil || !strings.Contains(dump(d), "1 See the dance") {
		t.Errorf("the note itself: %s %v", dump(d), err)
	}
}

// superscript is a PDF with small digits within a line, raised by so many points.
func superscript(before, digits, after string, rise int) []byte {
	return pdfOf([]at{
		{x: 54, y: 720, text: before, more: fmt.Sprintf("/F1 5 Tf %d Ts (%s) Tj /F1 9 Tf 0 Ts (%s) Tj", rise, digits, after)},
		{x: 54, y: 690, text: "A line of its own stands under it, as long as lines are."},
	})
}

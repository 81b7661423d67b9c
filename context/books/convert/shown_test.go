package convert_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/books/convert"
)

// TestMEM85_HiddenTextOfHTML is no text of the page, and what stands behind it is.
func TestMEM85_HiddenTextOfHTML(t *testing.T) {
	for markup, want := range map[string]string{
		`<p>Bees<span style="display:none"> secret</span> dance.</p>`:                  "Bees dance.",
		`<p>Bees<span hidden> secret</span> dance.</p><p hidden>secret</p>`:            "Bees dance.",
		`<div hidden><div>secret</div>secret</div><p>Bees dance.</p>`:                  "Bees dance.",
		`<div style="color:red; DISPLAY : NONE"><p>secret<p>secret</div>Bees dance.`:   "Bees dance.",
		`<ul><li hidden>secret<li>Bees dance.</ul>`:                                    "Bees dance.",
		`<ul><li hidden>secret<ul><li>secret<li>secret</ul>secret<li>Bees dance.</ul>`: "Bees dance.",
		`<ul><li hidden>secret</ul>Bees dance.`:                                        "Bees dance.",
		`<p hidden>secret<p>Bees dance.`:                                               "Bees dance.",
		`<p hidden>secret<b>secret</b><div>Bees dance.</div>`:                          "Bees dance.",
		`<div><p hidden>secret</div>Bees dance.`:                                       "Bees dance.",
		`<input hidden value=x><img hidden alt="secret">Bees dance.`:                   "Bees dance.",
		`<p style="visibility: hidden">secret</p>Bees dance.`:                          "Bees dance.",
		`<p hidden="until-found">Bees dance.</p>`:                                      "Bees dance.",
		`<span hidden>secret<br>secret<img>secret</span>Bees dance.`:                   "Bees dance.",
		`<table><tr hidden><td>secret<td>secret<tr><td>Bees dance.</table>`:            "Bees dance.",
		`<table><tr><td hidden>secret<td>Bees dance.</table>`:                          "Bees dance.",
		`<div hidden><script>secret</script>secret<style>a</style></div>Bees dance.`:   "Bees dance.",
		`<ruby>蜂<rt hidden>はち</rt></ruby>`:                                             "蜂",
	} {
		d, err := shared.Convert(t.Context(), convert.HTML, []byte("<html><body>"+markup+"</body></html>"), nil)
		if err != nil || len(d.Blocks) != 1 || d.Blocks[0].Text != want {
			t.Errorf("%s: %s %v", markup, dump(d), err)
		}
	}
	d, err := shared.Convert(t.Context(), convert.HTML, []byte(`<body style="visibility:hidden"><p>Bees dance.</p></body>`), nil)
	if err != nil || !strings.Contains(dump(d), "Bees dance.") {
		t.Errorf("a page that a program shows: %v", err)
	}
}

// TestMEM85_HiddenTextOfWord is no text of the document: by its run, and by a style. What a tracked change was before is not, either.
func TestMEM85_HiddenTextOfWord(t *testing.T) {
	run := func(props, s string) string {
		return "<w:r><w:rPr>" + props + `</w:rPr><w:t xml:space="preserve">` + s + "</w:t></w:r>"
	}
	styles := `<w:styles xmlns:w="w"><w:style w:type="character" w:styleId="H"><w:name w:val="Hidden"/><w:rPr><w:vanish/></w:rPr></w:style>` +
		`<w:style w:type="character" w:styleId="H2"><w:basedOn w:val="H"/></w:style>` +
		`<w:style w:type="paragraph" w:styleId="HP"><w:rPr><w:vanish/></w:rPr></w:style>` +
		`<w:style w:type="paragraph" w:styleId="T"><w:name w:val="heading 1"/></w:style></w:styles>`
	for body, want := range map[string]string{
		"<w:p>" + run("", "Bees") + run("<w:vanish/>", " secret") + run("", " dance.") + "</w:p>":                                                                        "text: Bees dance.\n",
		"<w:p>" + run("", "Bees") + run(`<w:vanish w:val="0"/>`, " all") + run("", " dance.") + "</w:p>":                                                                 "text: Bees all dance.\n",
		"<w:p>" + run("", "Bees") + run(`<w:rStyle w:val="H"/>`, " secret") + run("", " dance.") + "</w:p>":                                                              "text: Bees dance.\n",
		"<w:p>" + run("", "Bees") + run(`<w:rStyle w:val="H2"/>`, " secret") + run("", " dance.") + "</w:p>":                                                             "text: Bees dance.\n",
		`<w:p><w:pPr><w:pStyle w:val="HP"/></w:pPr>` + run("", "secret") + "</w:p><w:p>" + run("", "Bees.") + "</w:p>":                                                   "text: Bees.\n",
		`<w:p><w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr>` + run("", "Bees.") + "</w:p>":                                                                                   "text: Bees.\n",
		"<w:p><w:pPr><w:pPrChange><w:pPr><w:pStyle w:val=\"T\"/></w:pPr></w:pPrChange></w:pPr>" + run("", "Bees.") + "</w:p>":                                            "text: Bees.\n",
		"<w:p>" + run("<w:rPrChange><w:rPr><w:vanish/></w:rPr></w:rPrChange>", "Bees.") + "</w:p>":                                                                       "text: Bees.\n",
		"<w:p><w:r><w:ruby><w:rt><w:r><w:t>はち</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>蜂</w:t></w:r></w:rubyBase></w:ruby></w:r></w:p>":                                   "text: 蜂\n",
		"<w:p>" + run("", "Bees ") + "<w:r><w:pict><w:txbxContent><w:p>" + run("", "In a box.") + "</w:p></w:txbxContent></w:pict></w:r>" + run("", "dance.") + "</w:p>": "text: In a box.\ntext: Bees dance.\n",
	} {
		data := packed(t, map[string]string{"word/document.xml": `<w:document xmlns:w="w"><w:body>` + body + "</w:body></w:document>", "word/styles.xml": styles})
		d, err := shared.Convert(t.Context(), convert.DOCX, data, nil)
		if err != nil || !strings.HasSuffix(dump(d), "\n"+want) || strings.Count(dump(d), "\n") != 1+strings.Count(want, "\n") {
			t.Errorf("%s: %s %v", body, dump(d), err)
		}
	}
}

// TestMEM85_NamesOfColumnsThatRepeat are told apart.
func TestMEM85_NamesOfColumnsThatRepeat(t *testing.T) {
	for text, want := range map[string]string{
		"Day,Amount,Amount\nMonday,5,7\n":              "Day: Monday; Amount: 5; Amount (2): 7",
		"Day,Note,Note,Note\nMonday,a,b,c\n":           "Day: Monday; Note: a; Note (2): b; Note (3): c",
		"Day,Amount (2),Amount,Amount\nMonday,1,2,3\n": "Day: Monday; Amount (2): 1; Amount: 2; Amount (3): 3",
		"Day,Amount,\nMonday,5,\n":                     "Day: Monday; Amount: 5",
		"Day,Amount,Amount \nMonday,5,7\n":             "Day: Monday; Amount: 5; Amount (2): 7",
	} {
		d, err := shared.Convert(t.Context(), convert.CSV, []byte(text), nil)
		if err != nil || !strings.Contains(dump(d), want+"\n") {
			t.Errorf("%q: %s %v", text, dump(d), err)
		}
	}
	page := "<table><tr><th>Day<th colspan=2>Amount<tr><td>Monday<td>5<td>7</table>"
	if d, err := shared.Convert(t.Context(), convert.HTML, []byte(page), nil); err != nil || !strings.Contains(dump(d), "Day: Monday; Amount: 5; Amount (2): 7") {
		t.Errorf("HTML: %s %v", dump(d), err)
	}
	if d, err := shared.Convert(t.Context(), convert.CSV, []byte("red,red\nblue,green\n"), nil); err != nil || strings.Contains(dump(d), "red:") {
		t.Errorf("values: %s %v", dump(d), err)
	}
}

// TestMEM85_TitlesThatProgramsWrite are none, nor is what every book has.
func TestMEM85_TitlesThatProgramsWrite(t *testing.T) {
	for said, want := range map[string]string{
		"Microsoft Word - Beekeeping": "Beekeeping", "Microsoft Word - draft7.doc": "Bees", "untitled": "Bees", "Document1": "Bees", "PowerPoint Presentation": "Bees",
		"Introduction": "Bees", "1 Introduction": "Bees", "Chapter 3": "Bees", "report_final.docx": "Bees", "The Hive": "The Hive", "2001: A Space Odyssey": "2001: A Space Odyssey",
		"12 Rules for Bees": "12 Rules for Bees", "Introduction to Bees": "Introduction to Bees", "Page 1": "Bees", "Documentation": "Documentation", "The Word": "The Word",
		"1.6. Lifecycle of a Release": "Lifecycle of a Release", "2.1 The Hive": "The Hive",
	} {
		page := "<html><head><title>" + said + "</title></head><body><h1>1 Introduction</h1><h1>Bees</h1></body></html>"
		if d, err := shared.Convert(t.Context(), convert.HTML, []byte(page), nil); err != nil || d.Title != want {
			t.Errorf("HTML %q: %q %v", said, d.Title, err)
		}
		data := packed(t, map[string]string{
			"docProps/core.xml": `<p:coreProperties xmlns:p="p" xmlns:dc="dc"><dc:title>` + said + `</dc:title></p:coreProperties>`,
			"word/styles.xml":   `<w:styles xmlns:w="w"><w:style w:styleId="T"><w:name w:val="heading 1"/></w:style></w:styles>`,
			"word/document.xml": `<w:document xmlns:w="w"><w:body><w:p><w:pPr><w:pStyle w:val="T"/></w:pPr><w:r><w:t>Bees</w:t></w:r></w:p></w:body></w:document>`,
		})
		if d, err := shared.Convert(t.Context(), convert.DOCX, data, nil); err != nil || d.Title != want {
			t.Errorf("Word %q: %q %v", said, d.Title, err)
		}
	}
}

// TestMEM85_HyphensOfWords stay where the word has them, in a PDF and in a text whose lines were broken.
func TestMEM85_HyphensOfWords(t *testing.T) {
	for _, c := range []struct{ first, second, want string }{
		{"The queen of this nest is a long-", "lived animal, and long-lived ones are rare.", "a long-lived animal"},
		{"The state-of-the-", "art hive of this maker is made of wood.", "The state-of-the-art hive"},
		{"They told of a self-", "regulating nest, which keeps its heat.", "a self-regulating nest"},
		{"It was the Franco-", "Prussian war in which they were used.", "the Franco-Prussian war"},
		{"They wrote of pre-", "and post-war hives, which are of wood.", "of pre- and post-war hives"},
		{"They measure the temp-", "erature, and temperature is what they know.", "the temperature, and"},
		{"Vor- und Nachteile der Vor-", "oder Nachsorge, die sie brauchen.", "der Vor- oder Nachsorge"},
	} {
		d, err := shared.Convert(t.Context(), convert.PDF, pdfOf([]at{{x: 54, y: 720, text: c.first}, {x: 54, y: 708, text: c.second}}), nil)
		if err != nil || !strings.Contains(dump(d), c.want) {
			t.Errorf("PDF: %s %v, want %q", dump(d), err, c.want)
		}
		d, err = shared.Convert(t.Context(), convert.Text, fmt.Appendf(nil, "%s\n%s\n", c.first, c.second), nil)
		if err != nil || !strings.Contains(dump(d), c.want) {
			t.Errorf("text: %s %v, want %q", dump(d), err, c.want)
		}
	}
	for text, want := range map[string]string{
		"A list:\n- one\n- two\n": "A list: - one - two", "It ends -\nas it was.\n": "It ends - as it was.", "2 -\n3\n": "2 - 3", "a--\nb\n": "a-- b",
		"Tempera-\r\nture and temperature\r\n": "Temperature and temperature",
	} {
		if d, err := shared.Convert(t.Context(), convert.Text, []byte(text), nil); err != nil || !strings.Contains(dump(d), want) {
			t.Errorf("%q: %s %v", text, dump(d), err)
		}
	}
}

// TestMEM85_TitlesOfHeadings: a heading within a part, a sign and an item of a list name no book.
func TestMEM85_TitlesOfHeadings(t *testing.T) {
	for text, want := range map[string]string{
		"# 1 Introduction\n\n## Bees\n\n# 2 Scope\n": "", "## 1 Introduction\n\n# Bees\n": "Bees", "# ˆ\n\n# Bees\n": "Bees", "# • brace\n\n# Bees\n": "Bees",
		"# Bees\n\n# Hives\n": "Bees",
	} {
		if d, err := shared.Convert(t.Context(), convert.Markdown, []byte(text+"\ntext\n"), nil); err != nil || d.Title != want {
			t.Errorf("%q: %q %v", text, d.Title, err)
		}
	}
}

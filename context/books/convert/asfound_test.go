package convert_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/books/convert"
	"github.com/ctxd/ctxd/entities/fault"
)

// at is a text that is drawn somewhere on a page.
type at struct {
	x, y int
	text string
	more string // operators behind it
}

// pdfOf writes a PDF whose pages draw texts in their order, in Helvetica.
func pdfOf(pages ...[]at) []byte { return pdfWith("", pages...) }

// pdfWith is pdfOf with more entries of the catalog.
func pdfWith(catalog string, pages ...[]at) []byte {
	objects := []string{"<< /Type /Catalog /Pages 2 0 R " + catalog + " >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"}
	var kids []string
	for _, page := range pages {
		var content strings.Builder
		for _, one := range page {
			fmt.Fprintf(&content, "BT /F1 9 Tf 1 0 0 1 %d %d Tm (%s) Tj %s ET\n", one.x, one.y, strings.NewReplacer("(", `\(`, ")", `\)`).Replace(one.text), one.more)
		}
		objects = append(objects, fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", content.Len(), content.String()))
		objects = append(objects, fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R /Resources << /Font << /F1 3 0 R >> >> >>", len(objects)))
		kids = append(kids, fmt.Sprintf("%d 0 R", len(objects)))
	}
	objects[1] = fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", strings.Join(kids, " "), len(kids))
	var b strings.Builder
	b.WriteString("%PDF-1.4\n")
	var offsets []int
	for i, o := range objects {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF", len(objects)+1, start)
	return []byte(b.String())
}

// wrapped breaks a text into lines of a width, from x and y down.
func wrapped(text string, x, y, width int) (list []at) {
	line := ""
	for _, w := range append(strings.Fields(text), "") {
		if w == "" || len(line)+1+len(w) > width {
			list = append(list, at{x: x, y: y - 12*len(list), text: line})
			line = w
			continue
		}
		line = strings.TrimSpace(line + " " + w)
	}
	return list
}

// byRows draws columns row by row.
func byRows(columns ...[]at) (list []at) {
	for i := 0; ; i++ {
		more := false
		for _, c := range columns {
			if i < len(c) {
				list, more = append(list, c[i]), true
			}
		}
		if !more {
			return list
		}
	}
}

const (
	bees  = "Honeybees regulate the temperature of the brood nest within narrow limits. When the air outside is cold, workers cluster over the comb and shiver their flight muscles without moving the wings. The heat that they produce is kept by the layers of bees around them, and the queen is found in the middle of the cluster. As the winter goes on, the cluster contracts and moves upward into the stores of honey."
	river = "Rivers carry sediment from the hills to the sea in three ways. Coarse gravel rolls along the bed, sand leaps from place to place in short arcs, and the finest clay hangs in the water for weeks. After a flood the order in which the grains fall down again tells the geologist how fast the current was, in layers that one may count."
)

// TestMEM85_ColumnsThatAreDrawnRowByRow are read one after the other, and a table stays one.
func TestMEM85_ColumnsThatAreDrawnRowByRow(t *testing.T) {
	table := [][]string{{"Name", "Weight", "Colour"}, {"Lamp", "12", "red"}, {"Chair", "40", "blue"}, {"Table", "95", "green"}, {"Stool", "31", "white"}, {"Bench", "77", "brown"}}
	var rows []at
	for i, r := range table {
		for k, cell := range r {
			rows = append(rows, at{x: 54 + 150*k, y: 720 - 14*i, text: cell})
		}
	}
	const queen, fast = "and the queen is found in the middle of the cluster", "tells the geologist how fast the current was"
	for name, c := range map[string]struct {
		page []at
		want []string
	}{
		"row by row":          {byRows(wrapped(bees, 54, 720, 52), wrapped(river, 320, 720, 52)), []string{queen, fast}},
		"column by column":    {append(wrapped(bees, 54, 720, 52), wrapped(river, 320, 720, 52)...), []string{queen, fast}},
		"other base lines":    {byRows(wrapped(bees, 54, 720, 52), wrapped(river, 320, 715, 52)), []string{queen, fast}},
		"three columns":       {byRows(wrapped(bees, 40, 720, 32), wrapped(river, 225, 720, 32), wrapped(bees, 410, 720, 32)), []string{queen, fast}},
		"a heading over both": {append([]at{{x: 54, y: 750, text: "Of bees, and of rivers that carry their sediment from the hills down to the sea, in two columns of text"}}, byRows(wrapped(bees, 54, 720, 52), wrapped(river, 320, 720, 52))...), []string{queen, fast}},
		"right column first":  {byRows(wrapped(river, 320, 720, 52), wrapped(bees, 54, 720, 52)), []string{queen, fast}},
		"a table":             {rows, []string{"Name: Chair; Weight: 40; Colour: blue"}},
		"one column":          {wrapped(bees+" "+river, 54, 720, 100), []string{queen, fast}},
	} {
		d, err := shared.Convert(t.Context(), convert.PDF, pdfOf(c.page), nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		text := strings.Join(strings.Fields(strings.ReplaceAll(dump(d), "\ntext p1: ", " ")), " ")
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", name, want, dump(d))
			}
		}
	}
}

// TestMEM85_HyphensAndTitles: a word that was taken apart is one, a hyphen of its own stays; a chapter names no book.
func TestMEM85_HyphensAndTitles(t *testing.T) {
	page := []at{{x: 54, y: 720, text: "1 Introduction"}, {x: 54, y: 700, text: "The well-known queen is long-lived, and the bees know this temp-"}, {x: 54, y: 688, text: "erature, which is a well-"}, {x: 54, y: 676, text: "known figure of this nest."}}
	d, err := shared.Convert(t.Context(), convert.PDF, pdfOf(page, nil, nil, page), nil)
	if err != nil {
		t.Fatal(err)
	}
	if text := dump(d); !strings.Contains(text, "this temperature, which is a well-known figure") {
		t.Error(text)
	}
	if fmt.Sprint(d.Empty) != "[2 3]" {
		t.Errorf("pages without text %v", d.Empty)
	}
	// What a PDF draws is there: signs that other formats show only at the end of a line are hyphens.
	for _, name := range []string{"sfthyphen", "hyphentwo", "uni2011"} {
		page = []at{{x: 54, y: 720, text: "The first is self\x01attention over pre\x01war nests and the temp\x01"}, {x: 54, y: 708, text: "erature of the well\x01"}, {x: 54, y: 696, text: "known queen"}}
		data := bytes.Replace(pdfOf(page), []byte("/Encoding /WinAnsiEncoding"), []byte("/Encoding << /BaseEncoding /WinAnsiEncoding /Differences [1 /"+name+"] >>"), 1)
		d, err = shared.Convert(t.Context(), convert.PDF, data, nil)
		if text := dump(d); err != nil || !strings.Contains(text, "self-attention over pre-war nests and the temperature of the well-known queen") {
			t.Errorf("%s: %s %v", name, text, err)
		}
	}
	for first, title := range map[string]string{
		"# 1 Introduction": "", "# 1.2. Scope": "", "# Contents": "", "# Chapter 3": "", "# IV. Results": "", "# Inhaltsverzeichnis": "",
		"# Beekeeping": "Beekeeping", "# 1984": "1984", "# Introduction to Bees": "Introduction to Bees", "# I, Robot": "I, Robot", "# 1 Introduction\n\n# Bees": "Bees",
	} {
		d, err := shared.Convert(t.Context(), convert.Markdown, []byte(first+"\n\ntext\n"), nil)
		if err != nil || d.Title != title {
			t.Errorf("%q: title %q, %v", first, d.Title, err)
		}
	}
}

// TestMEM85_Readings of characters stand apart from their words.
func TestMEM85_Readings(t *testing.T) {
	for markup, want := range map[string]string{
		"<ruby>東<rt>とう</rt></ruby><ruby>京<rt>きょう</rt></ruby>へ行く":                          "東京へ行く",
		"<ruby>図書館<rt>としょかん</rt></ruby>で働く":                                               "図書館で働く",
		"<ruby><rb>銀河</rb><rp>(</rp><rt>ぎんが</rt><rp>)</rp></ruby>の鉄道":                     "銀河の鉄道",
		"<ruby>新<rt>しん</rt>聞<rt>ぶん</rt></ruby>を読む":                                        "新聞を読む",
		"<ruby>学<rt>xué</rt>习<rt>xí</rt></ruby>汉语":                                        "学习汉语",
		"<ruby><rb>東<rb>京<rt>とう<rt>きょう</ruby>へ":                                           "東京へ",
		"<ruby>漢<rp>(<rt>kan<rp>)</ruby>字":                                                "漢字",
		"<ruby><rbc><rb>東</rb><rb>京</rb></rbc><rtc><rt>とう</rt><rt>きょう</rt></rtc></ruby>へ": "東京へ",
		"<ruby>東<rt>とう": "東",
	} {
		d, err := shared.Convert(t.Context(), convert.HTML, []byte("<html><head><meta charset=utf-8></head><body><p>"+markup+"</p><p>次</p></body></html>"), nil)
		if err != nil || len(d.Blocks) == 0 || d.Blocks[0].Text != want || len(d.Blocks) != 2 || d.Blocks[1].Text != "次" {
			t.Errorf("%s: %s %v", markup, dump(d), err)
		}
	}
}

// TestMEM85_TablesOfExcel: the line that says the delimiter is none of the table, and packed files are read.
func TestMEM85_TablesOfExcel(t *testing.T) {
	for text, want := range map[string]string{
		"sep=;\r\nname;age\r\nOkapi;7\r\n": "name: Okapi; age: 7", "\"sep=|\"\nname|age\nOkapi|7\n": "name: Okapi; age: 7", "SEP=\t\nname\tage\nOkapi\t7\n": "name: Okapi; age: 7",
	} {
		d, err := shared.Convert(t.Context(), convert.CSV, []byte(text), nil)
		if err != nil || !strings.Contains(dump(d), want) {
			t.Errorf("%q: %s %v", text, dump(d), err)
		}
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte("name;age\nOkapi;7\n"))
	_ = z.Close()
	unpack := func(name string, data []byte) (string, []byte, error) {
		name, in, err := convert.Unpack(name, bytes.NewReader(data), 64<<20)
		if err != nil {
			return name, nil, err
		}
		data, err = io.ReadAll(in)
		return name, data, err
	}
	name, data, err := unpack("Animals.csv.GZ", packed.Bytes())
	if err != nil || name != "Animals.csv" || string(data) != "name;age\nOkapi;7\n" {
		t.Errorf("%s %q %v", name, data, err)
	}
	if _, _, err := unpack("x.gz", packed.Bytes()[:packed.Len()-9]); fault.KindOf(err) != fault.Invalid {
		t.Error(err)
	}
	packed.Reset()
	z = gzip.NewWriter(&packed)
	for range 65 {
		_, _ = z.Write(make([]byte, 1<<20))
	}
	_ = z.Close()
	if _, _, err := unpack("bomb.gz", packed.Bytes()); fault.KindOf(err) != fault.Limit {
		t.Error(err)
	}
}

// TestMEM86_GarbageIsNotReady: letters that no language has are refused, and every real script is not.
func TestMEM86_GarbageIsNotReady(t *testing.T) {
	for text, fine := range map[string]bool{
		strings.Repeat("\ue001\ue002\ue003 \ue004\ue005 ", 30): false, strings.Repeat("ÃŸÂ¤Ð¿Ñ€ Ð¸Ð²ÐµÑ‚ ", 30): false, strings.Repeat("ﬀ�\x02�x\x03 �", 50): false,
		strings.Repeat("日本語のテキスト ", 30): true, strings.Repeat("हिन्दी में पाठ ", 30): true, strings.Repeat("ქართული ტექსტი ", 30): true, strings.Repeat("한국어 글 ", 30): true,
		strings.Repeat("Tiếng Việt có dấu ", 30): true, strings.Repeat("Ελληνικό κείμενο ", 30): true, strings.Repeat("русский текст ", 30): true, strings.Repeat("עברית ", 30): true,
		strings.Repeat("🐝🐝 ", 30): true, strings.Repeat("∀x∈ℝ: x²≥0 ", 30): true, strings.Repeat("plain ", 30): true, strings.Repeat("አማርኛ ጽሑፍ ", 30): true,
	} {
		_, err := shared.Convert(t.Context(), convert.Text, []byte(text), nil)
		if fine != (err == nil) {
			t.Errorf("%.60q: %v", text, err)
		}
	}
}

// TestPRIV14_TheHeadOfAFile is its text, in whatever encoding, and none of a file that is no text.
func TestPRIV14_TheHeadOfAFile(t *testing.T) {
	const head = "---\nprivate: true\n---\n"
	var wide []byte
	for _, c := range []byte(head + "Bees") {
		wide = append(wide, c, 0)
	}
	for name, data := range map[string][]byte{
		"as it is": []byte(head + "Bees"), "with a mark": []byte("\xEF\xBB\xBF" + head), "UTF-16": append([]byte{0xFF, 0xFE}, wide...),
		"UTF-16 without a mark": wide, "of a country": []byte(head + "die Bienen fliegen \xFCber die Wiese"),
		"cut within a letter": append([]byte(head), bytes.Repeat([]byte("ü"), 64<<10)...), "of no encoding": []byte(head + "\x81\x8D\x00\x8F\xFF"),
	} {
		if got := convert.Head(convert.Markdown, bytes.NewReader(data)); !strings.HasPrefix(got, head) {
			t.Errorf("%s: %.60q", name, got)
		}
	}
	if got := convert.Head(convert.PDF, strings.NewReader("%PDF-1.7")); got != "" {
		t.Errorf("of a PDF: %q", got)
	}
}

// packed is an archive of files.
func packed(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range files {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestMEM86_NamesOfPartsInAnyCase are found; where two differ in nothing else, each is.
func TestMEM86_NamesOfPartsInAnyCase(t *testing.T) {
	page := func(s string) string { return "<html><body><p>" + s + "</p></body></html>" }
	book := func(href string) map[string]string {
		return map[string]string{
			"META-INF/container.xml": `<container><rootfiles><rootfile full-path="OEBPS/content.opf"/></rootfiles></container>`,
			"OEBPS/content.opf":      `<package><manifest><item id="a" href="` + href + `" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>`,
		}
	}
	for name, c := range map[string]struct{ href, file string }{
		"the manifest in capitals": {"Text/A.xhtml", "OEBPS/text/a.xhtml"}, "the file in capitals": {"text/a.xhtml", "OEBPS/TEXT/A.XHTML"},
		"letters with marks": {"%C3%9Cber.xhtml", "OEBPS/über.xhtml"},
	} {
		files := book(c.href)
		files[c.file] = page("Okapi eats leaves")
		d, err := shared.Convert(t.Context(), convert.EPUB, packed(t, files), nil)
		if err != nil || !strings.Contains(dump(d), "Okapi eats leaves") {
			t.Errorf("%s: %s %v", name, dump(d), err)
		}
	}
	files := book("a.xhtml")
	files["OEBPS/A.xhtml"], files["OEBPS/a.xhtml"] = page("Tapir"), page("Okapi")
	d, err := shared.Convert(t.Context(), convert.EPUB, packed(t, files), nil)
	if err != nil || !strings.Contains(dump(d), "Okapi") || strings.Contains(dump(d), "Tapir") {
		t.Errorf("both: %s %v", dump(d), err)
	}
}

// TestMEM86_FirstLineOfAFileOfValues names the columns where it can.
func TestMEM86_FirstLineOfAFileOfValues(t *testing.T) {
	for text, want := range map[string]string{
		"Name,City\nOkapi,NYC\nBob,LA\n": "Name: Okapi; City: NYC", "question,answer\nWhat is it?,An okapi.\n": "question: What is it?; answer: An okapi.",
		"q1,q2\nOkapi,yes\n": "q1: Okapi; q2: yes", "country,2023,2024\nOkapi,5.5,6.1\n": "country: Okapi; 2023: 5.5; 2024: 6.1",
		"name,mail\nOkapi,a@b.org\n": "name: Okapi; mail: a@b.org",
	} {
		d, err := shared.Convert(t.Context(), convert.CSV, []byte(text), nil)
		if err != nil || !strings.Contains(dump(d), want) {
			t.Errorf("%q: %s %v", text, dump(d), err)
		}
	}
	for _, text := range []string{"Okapi,7\nTapir,8\n", "Okapi,a@b.org\nTapir,c@d.org\n", "1999,2000\n2001,2002\n", "Okapi,brown\nTapir,brown\n"} {
		d, err := shared.Convert(t.Context(), convert.CSV, []byte(text), nil)
		if err != nil || strings.Contains(dump(d), "Okapi:") || strings.Contains(dump(d), "1999:") {
			t.Errorf("%q: %s %v", text, dump(d), err)
		}
	}
}

// TestMEM86_FormulasOfWord are written in a line that tells what is above, below and beside.
func TestMEM86_FormulasOfWord(t *testing.T) {
	run := func(s string) string { return "<m:r><m:t>" + s + "</m:t></m:r>" }
	in := func(name, s string) string { return "<m:" + name + ">" + s + "</m:" + name + ">" }
	e := func(s string) string { return in("e", run(s)) }
	for formula, want := range map[string]string{
		run("E=m") + in("sSup", e("c")+in("sup", run("2"))): "E=mc^2", in("f", in("num", run("17"))+in("den", run("34"))): "17/34",
		in("f", in("num", run("a+b"))+in("den", run("2c"))): "(a+b)/(2c)", in("sSubSup", e("x")+in("sub", run("i"))+in("sup", run("n+1"))): "x_i^(n+1)",
		in("rad", in("deg", "")+e("2")): "√2", in("rad", in("deg", run("3"))+e("a+b")): "√[3](a+b)", in("d", e("a")) + run("=b"): "(a)=b",
		in("f", in("num", in("f", in("num", run("1"))+in("den", run("2"))))+in("den", run("3"))): "(1/2)/3",
	} {
		data := packed(t, map[string]string{"word/document.xml": `<w:document xmlns:w="w" xmlns:m="m"><w:body><w:p><w:r><w:t>It is </w:t></w:r><m:oMath>` + formula +
			`</m:oMath><w:r><w:t> told.</w:t></w:r></w:p></w:body></w:document>`})
		d, err := shared.Convert(t.Context(), convert.DOCX, data, nil)
		if err != nil || !strings.Contains(dump(d), "It is "+want+" told.") {
			t.Errorf("%s: %s %v", want, dump(d), err)
		}
	}
}

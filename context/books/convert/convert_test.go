package convert_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/books/convert"
	"github.com/ctxd/ctxd/entities/fault"
)

var update = flag.Bool("update", false, "write the golden files")

// shared converts for all tests: to compile its PDF reader takes seconds.
var shared convert.Converter

// dump shows a document.
func dump(d *convert.Document) string {
	var b strings.Builder
	fmt.Fprintf(&b, "title %q author %q pages %d\n", d.Title, d.Author, d.Pages)
	kinds := [...]string{convert.TextBlock: "text", convert.HeadingBlock: "heading", convert.RowBlock: "row", convert.CodeBlock: "code"}
	for i := range d.Blocks {
		x := &d.Blocks[i]
		b.WriteString(kinds[x.Kind])
		if x.Level > 0 {
			fmt.Fprintf(&b, " %d", x.Level)
		}
		if x.Page > 0 {
			fmt.Fprintf(&b, " p%d", x.Page)
		}
		if x.Row > 0 {
			fmt.Fprintf(&b, " r%d", x.Row)
		}
		fmt.Fprintf(&b, ": %s\n", strings.ReplaceAll(x.Text, "\n", "\n    "))
	}
	return b.String()
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestMEM67_FilesOfRealPrograms: pandoc, LibreOffice and Chromium have written them.
func TestMEM67_FilesOfRealPrograms(t *testing.T) {
	for _, name := range []string{
		"manual.md", "manual.txt", "manual.html", "manual.docx", "manual.epub", "writer.pdf", "chromium.pdf", "rain.csv", "rain.xlsx",
	} {
		t.Run(name, func(t *testing.T) {
			data := read(t, name)
			d, err := shared.Convert(t.Context(), detect(convert.ByName(name), data), data, nil)
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(golden, []byte(dump(d)), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if want := string(read(t, name+".golden")); dump(d) != want {
				t.Errorf("%s is now\n%s", golden, dump(d))
			}
		})
	}
}

// part is a file in an archive.
type part struct{ name, text string }

func zipped(t testing.TB, list ...part) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, p := range list {
		w, err := z.Create(p.name)
		if err == nil {
			_, err = w.Write([]byte(p.text))
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

func word(t testing.TB, body string) []byte {
	t.Helper()
	return zipped(t, part{"word/document.xml", `<w:document xmlns:w="w"><w:body>` + body + `</w:body></w:document>`})
}

const bombEntities = `<!DOCTYPE x [<!ENTITY a "haha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;">]>`

// manyPages is a PDF that says it has more pages than there are.
const manyPages = "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Count 2000000000/Kids[3 0 R]>>endobj\n" +
	"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"

// circle is a PDF whose outline and whose pages lead back to themselves.
const circle = "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R/Outlines 4 0 R>>endobj\n2 0 obj<</Type/Pages/Count 2/Kids[3 0 R 2 0 R]>>endobj\n" +
	"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 6 0 R/Resources<</Font<</F 7 0 R>>>>>>endobj\n" +
	"4 0 obj<</First 5 0 R/Last 5 0 R/Count 1>>endobj\n5 0 obj<</Title(Again)/Parent 4 0 R/First 5 0 R/Next 5 0 R/Dest[3 0 R/Fit]>>endobj\n" +
	"6 0 obj<</Length 40>>stream\nBT /F 12 Tf 20 100 Td (Hello there) Tj ET\nendstream endobj\n" +
	"7 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"

func TestSEC5_HostileFilesEndInATypedError(t *testing.T) {
	lying := zipped(t, part{"word/document.xml", strings.Repeat("<w:p/>", 1000)})
	if i := bytes.LastIndex(lying, []byte("PK\x01\x02")); i >= 0 {
		copy(lying[i+24:], []byte{9, 0, 0, 0}) // the size in the directory
	}
	for _, c := range []struct {
		name   string
		format convert.Format
		data   []byte
		kind   fault.Kind
		says   string
	}{
		{"a zip bomb", convert.DOCX, word(t, strings.Repeat("<w:p></w:p>", 8<<20)), fault.Limit, "unpacks to more"},
		{"a zip bomb as sheets", convert.XLSX, zipped(t, part{"xl/workbook.xml", strings.Repeat(" ", 40<<20)}), fault.Limit, "unpacks to more"},
		{"a zip bomb as pages", convert.EPUB, zipped(t, part{"META-INF/container.xml", strings.Repeat(" ", 40<<20)}), fault.Limit, "unpacks to more"},
		{"a directory that lies", convert.DOCX, lying, fault.Invalid, "broken"},
		{"entities", convert.DOCX, zipped(t, part{"word/document.xml", bombEntities + "<w:document><w:p><w:t>&c;</w:t></w:p></w:document>"}), fault.Invalid, "broken"},
		{"entities in a package", convert.EPUB, zipped(t, part{"META-INF/container.xml", bombEntities + "<container>&c;</container>"}), fault.Invalid, "broken"},
		{"deep", convert.DOCX, word(t, strings.Repeat("<w:p>", 5000)+strings.Repeat("</w:p>", 5000)), fault.Limit, "nested"},
		{"half an element", convert.DOCX, word(t, "<w:p><w:t>a"), fault.Invalid, "broken"},
		{"Office with a password", convert.DOCX, []byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1 and more"), fault.Invalid, "encrypted"},
		{"PDF with a password", convert.PDF, read(t, "encrypted.pdf"), fault.Invalid, "encrypted"},
		{"an encrypted page", convert.EPUB, zipped(t,
			part{"META-INF/container.xml", `<container><rootfile full-path="o.opf"/></container>`},
			part{"o.opf", `<package><item id="a" href="a.html" media-type="application/xhtml+xml"/><itemref idref="a"/></package>`},
			part{"META-INF/encryption.xml", `<encryption><CipherReference URI="a.html"/></encryption>`},
			part{"a.html", "xx"}), fault.Invalid, "encrypted"},
		{"no PDF", convert.PDF, []byte("Dear reader"), fault.Invalid, "broken"},
		{"no zip", convert.XLSX, []byte("a,b\n1,2\n"), fault.Invalid, "broken"},
		{"another zip", convert.XLSX, zipped(t, part{"a.txt", "a"}), fault.Invalid, "no Excel"},
		{"too many pages", convert.PDF, []byte(manyPages), fault.Invalid, "no text"},
		{"no text", convert.Text, []byte(" \n\n\t\x00"), fault.Invalid, "no text"},
		{"a wide row", convert.CSV, []byte(strings.Repeat("a,", 2000) + "\n"), fault.Limit, "cells"},
		{"tables in tables", convert.HTML, []byte(strings.Repeat("<table><tr><td>", 50_000)), fault.Invalid, "no text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := shared.Convert(t.Context(), c.format, c.data, nil)
			if d != nil || fault.KindOf(err) != c.kind || !strings.Contains(fault.Message(err), c.says) {
				t.Errorf("%v %v", d, err)
			}
			if e := (*fault.Error)(nil); !errors.As(err, &e) || e.Hint == "" {
				t.Errorf("no hint: %v", err)
			}
		})
	}
}

func TestSEC5_APDFThatLeadsBackToItself(t *testing.T) {
	d, err := shared.Convert(t.Context(), convert.PDF, []byte(circle), nil)
	if err != nil || !strings.Contains(dump(d), "Hello there") {
		t.Errorf("%v %v", d, err)
	}
}

func TestSEC5_DeepHTMLIsReadInOneGo(t *testing.T) {
	d, err := shared.Convert(t.Context(), convert.HTML, []byte(strings.Repeat("<div><b>", 200_000)+"deep"), nil)
	if err != nil || dump(d) != "title \"\" author \"\" pages 0\ntext: deep\n" {
		t.Errorf("%v", err)
	}
}

// TestSEC5_APanicIsAnError: the zero Document of a format that there is not is no way to make a library
// panic, so what is read is cut at every place instead.
func TestSEC5_CutFilesEndInATypedError(t *testing.T) {
	for _, name := range []string{"manual.docx", "manual.epub", "rain.xlsx", "writer.pdf"} {
		data := read(t, name)
		for i := range 40 {
			cut := data[:len(data)*i/40]
			if _, err := shared.Convert(t.Context(), convert.ByName(name), cut, nil); err != nil &&
				fault.KindOf(err) != fault.Invalid && fault.KindOf(err) != fault.Limit {
				t.Errorf("%s cut at %d: %v", name, len(cut), err)
			}
		}
	}
}

func TestMEM67_AConversionIsCancelled(t *testing.T) {
	for _, name := range []string{"writer.pdf", "manual.docx", "rain.xlsx", "manual.md", "rain.csv", "manual.epub", "manual.html", "manual.txt"} {
		ctx, cancel := context.WithCancel(t.Context())
		if name != "writer.pdf" {
			cancel()
		}
		d, err := shared.Convert(ctx, convert.ByName(name), read(t, name), func(int, int) { cancel() })
		if d != nil || fault.KindOf(err) != fault.Cancelled {
			t.Errorf("%s: %v %v", name, d, err)
		}
		cancel()
	}
	data := read(t, "writer.pdf")
	if _, err := shared.Convert(t.Context(), convert.PDF, data, nil); err != nil {
		t.Errorf("the one after a cancelled one: %v", err)
	}
}

func detect(said convert.Format, data []byte) convert.Format {
	return convert.Detect(said, bytes.NewReader(data), int64(len(data)))
}

func TestMEM67_TheFormatOfAFile(t *testing.T) {
	for _, c := range []struct {
		said convert.Format
		file string
		want convert.Format
	}{
		{"", "manual.docx", convert.DOCX},
		{"", "rain.xlsx", convert.XLSX},
		{"", "manual.epub", convert.EPUB},
		{"", "writer.pdf", convert.PDF},
		{"", "manual.html", convert.HTML},
		{"", "manual.md", ""},
		{convert.Markdown, "manual.md", convert.Markdown},
		{convert.Text, "manual.docx", ""},
		{convert.DOCX, "writer.pdf", convert.PDF},
	} {
		if got := detect(c.said, read(t, c.file)); got != c.want {
			t.Errorf("%s said to be %q is %q, want %q", c.file, c.said, got, c.want)
		}
	}
	if detect(convert.CSV, []byte("a\x00b")) != "" {
		t.Error("binary is text")
	}
	for kind, want := range map[string]convert.Format{"text/html; charset=utf-8": convert.HTML, "PDF": convert.PDF, "image/png": ""} {
		if got := convert.ByType(kind); got != want {
			t.Errorf("%s is %q", kind, got)
		}
	}
}

func TestMEM67_WhatTextsSay(t *testing.T) {
	for _, c := range []struct {
		format convert.Format
		data   string
		want   string
	}{
		{convert.Text, "\xFF\xFEG\x00r\x00\xFC\x00n\x00", "text: Grün\n"},
		{convert.Text, "Gr\xFCn und sch\xF6n.\n\n\nNeu.", "text: Grün und schön.\ntext: Neu.\n"},
		{convert.Text, "a\n\fb\n\f", "text p1: a\ntext p2: b\n"},
		{convert.CSV, "Name;Alter\n\"Schmidt; Anna\";41\n", "row r2: Name: Schmidt; Anna; Alter: 41\n"},
		{convert.CSV, "1\t2\n3\t4\n", "row r1: 1; 2\nrow r2: 3; 4\n"},
		{convert.HTML, "<p>a<br>b <i>c</i><script>x</script><pre>1\n  2</pre><h2>T</h2><ul><li>x<li>y</ul>", "text: a b c\ncode: 1\n      2\nheading 2: T\ntext: x\ntext: y\n"},
		{convert.HTML, "<table><thead><tr><th>A<th>B</thead><tr><td>1<td><p>2</p><p>3</p></table>z", "row r2: A: 1; B: 2 3\ntext: z\n"},
		{convert.HTML, "<table><tr><td>layout</table>", "text: layout\n"},
		{convert.Markdown, "| A | B |\n|---|---|\n| x | *y* |\n\n~~~\ncode\n~~~\n- a\n- b\n", "row r2: A: x; B: *y*\ncode: code\ntext: - a\ntext: - b\n"},
		{convert.DOCX, string(word(t, `<w:p><w:r><w:t>Old</w:t></w:r><w:del><w:r><w:t>gone</w:t></w:r></w:del></w:p><w:p><w:r><w:br w:type="page"/><w:t>New</w:t></w:r></w:p>`)), "text p1: Old\ntext p2: New\n"},
	} {
		d, err := shared.Convert(t.Context(), c.format, []byte(c.data), nil)
		if err != nil {
			t.Errorf("%q: %v", c.data, err)
			continue
		}
		if _, got, _ := strings.Cut(dump(d), "\n"); got != c.want {
			t.Errorf("%.80q is\n%swant\n%s", c.data, got, c.want)
		}
	}
}

//go:build linux

package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"strings"
)

// hostileFile is a file that is made to hurt who reads it. Its name tells its format.
type hostileFile struct {
	name string
	make func(size int) []byte // of about so many bytes, where it is a matter of size
}

// hostileFiles are a hundred of them.
func hostileFiles() (list []hostileFile) {
	add := func(name string, fn func(size int) []byte) { list = append(list, hostileFile{name, fn}) }
	fill := func(name, unit string) { // unit, over and over
		add(name, func(size int) []byte { return []byte(strings.Repeat(unit, size/len(unit))) })
	}
	led := func(name, lead, unit, end string) {
		add(name, func(size int) []byte { return []byte(lead + strings.Repeat(unit, size/len(unit)) + end) })
	}
	hostileTablesFiles(fill, led)
	hostileTextsFiles(fill, led)
	hostileMarkupFiles(fill, led)
	hostileOfficeFiles(add)
	hostilePDFFiles(add)
	for name, unit := range map[string]string{"zeros.txt.gz": "\x00", "commas.csv.gz": ",", "letters.md.gz": "word "} {
		add(name, func(size int) []byte { return gzipped([]byte(strings.Repeat(unit, 8*size/len(unit)))) })
	}
	add("gzip in gzip.txt.gz", func(size int) []byte { return gzipped(gzipped(make([]byte, 4*size))) })
	add("half.txt.gz", func(size int) []byte { return gzipped(make([]byte, size))[:200] })
	return list
}

type (
	filler = func(name, unit string)
	leader = func(name, lead, unit, end string)
)

func hostileTablesFiles(fill filler, led leader) {
	names := make([]string, 1000)
	for i := range names {
		names[i] = fmt.Sprintf("%d %s", i, strings.Repeat("n", 290))
	}
	fill("commas.csv", ",")
	fill("semicolons.csv", ";")
	fill("tabs.tsv", "\t")
	fill("bars.csv", "|")
	fill("quotes.csv", `"`)
	fill("empty quotes.csv", `"",`)
	fill("letters and commas.csv", "a,")
	fill("lines.csv", "\n")
	fill("comma a line.csv", ",\n")
	fill("two letters a line.csv", "a,b\n")
	fill("a thousand empty cells.csv", strings.Repeat(",", 998)+"1\n")
	fill("a thousand cells.csv", strings.Repeat("1,", 999)+"1\n")
	led("one cell.csv", "a,b\n1,", "x", "\n")
	led("an open quote.csv", "a,b\n1,\"", "x,\n", "")
	led("long names.csv", strings.Join(names, ",")+"\n", strings.Repeat("1,", 999)+"1\n", "")
	led("sep.csv", "sep=,\n", ",", "\n")
	led("UTF-16.csv", "\xFF\xFE", ",\x00", "")
	fill("returns.csv", "a,b\r")
}

func hostileTextsFiles(fill filler, led leader) {
	fill("brackets.txt", "[")
	fill("double brackets.txt", "[[a")
	fill("links.txt", "[[a]]")
	fill("closing.txt", "]]")
	fill("sentences.txt", "a. ")
	fill("blanks.txt", " ")
	fill("lines.txt", "a\n\n")
	fill("form feeds.txt", "a\f")
	fill("accents.txt", "e\u0301\u0301\u0301\u0301")
	fill("mentions.txt", "@a ")
	fill("numbers.txt", "#1 ")
	led("UTF-16.txt", "\xFF\xFE", "a\x00", "")
	fill("no encoding.txt", "\xFF\x81\x8D")
	fill("joiners.txt", "👩\u200D")
	fill("one word.txt", "x")
	fill("ideographs.txt", "漢")
}

func hostileMarkupFiles(fill filler, led leader) {
	fill("bars.md", "|")
	fill("rows.md", "|a|b|\n")
	fill("headings.md", "# a\n")
	fill("sections.md", "# a\nb\n\n")
	fill("deep sections.md", strings.Repeat("# "+strings.Repeat("h", 290)+"\n", 1)+"###### "+strings.Repeat("h", 290)+"\nb\n\n")
	fill("fences.md", "```\n")
	led("a fence.md", "```\n", "a\n", "")
	fill("quotes.md", ">")
	fill("items.md", "- ")
	fill("stars.md", "*")
	fill("targets.md", "[a](")
	fill("pictures.md", "![](")
	led("deep frontmatter.md", "---\na: ", "[", "\n---\nb\n")
	led("long frontmatter.md", "---\n", "a: b\n", "---\nb\n")
	led("aliases.md", "---\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\n"+
		"d: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ntitle: [*d,*d,*d,*d,*d,*d,*d,*d]\n---\n", "text\n", "")
	fill("elements.html", "<div>")
	fill("tables.html", "<table><tr><td>")
	led("attributes.html", "<p ", "a ", ">b</p>")
	led("spans.html", "<table><tr>", "<th colspan=100>a", "</table>")
	led("cells.html", "<table><tr>", "<td>", "</table>")
	fill("headings.html", "<h1>a")
	led("a comment.html", "<p>a", "<!--", "")
	led("a script.html", "<p>a<script>", "<b>", "")
	led("one text.html", "<p>", "x", "</p>")
	fill("entities.html", "&amp;")
	led("links.html", "<p>", "<a href=a.md>b</a>", "</p>")
	led("pre.html", "<pre>", "a\n", "</pre>")
	fill("readings.html", "<ruby><rt>a")
}

func zippedFiles(files ...string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i+1 < len(files); i += 2 {
		w, _ := z.Create(files[i]) // a buffer takes all
		_, _ = w.Write([]byte(files[i+1]))
	}
	_ = z.Close()
	return b.Bytes()
}

func gzipped(data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(data)
	_ = z.Close()
	return b.Bytes()
}

// wordFile is a document of Word of about size bytes in its text.
func wordFile(lead, unit, end string, others ...string) func(size int) []byte {
	return func(size int) []byte {
		return zippedFiles(append(others, "word/document.xml", "<w:document>"+lead+strings.Repeat(unit, size/len(unit))+end+"</w:document>")...)
	}
}

// sheetFile is a file of Excel with this sheet, as often as it is listed.
func sheetFile(sheets int, strs string, lead, unit, end string) func(size int) []byte {
	return func(size int) []byte {
		var list, relations strings.Builder
		for i := range sheets {
			fmt.Fprintf(&list, `<sheet name="s%d" sheetId="%d" r:id="r%d"/>`, i, i+1, i)
			fmt.Fprintf(&relations, `<Relationship Id="r%d" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/>`, i)
		}
		return zippedFiles(
			"[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`,
			"_rels/.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
			"xl/workbook.xml", `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>`+list.String()+`</sheets></workbook>`,
			"xl/_rels/workbook.xml.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`+relations.String()+`</Relationships>`,
			"xl/sharedStrings.xml", `<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">`+strings.Repeat(strs, size/max(1, len(strs)))+`</sst>`,
			"xl/worksheets/sheet1.xml", `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">`+lead+strings.Repeat(unit, size/max(1, len(unit)))+end+`</worksheet>`)
	}
}

// pagesFile is an EPUB whose pages are listed in its spine.
func pagesFile(spine int, page string) func(size int) []byte {
	return func(size int) []byte {
		return zippedFiles("META-INF/container.xml", `<container><rootfile full-path="o.opf"/></container>`,
			"o.opf", `<package><item id="a" href="a.html" media-type="application/xhtml+xml"/>`+strings.Repeat(`<itemref idref="a"/>`, spine)+`</package>`,
			"a.html", strings.Repeat(page, size/len(page)))
	}
}

func hostileOfficeFiles(add func(name string, fn func(size int) []byte)) {
	add("bomb.docx", wordFile("", "<w:p></w:p>", ""))
	add("laughs.docx", wordFile(`<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>`, "<w:p><w:t>&b;</w:t></w:p>", ""))
	add("deep.docx", wordFile("", "<w:p>", ""))
	add("one text.docx", wordFile("<w:p><w:t>", "some words. ", "</w:t></w:p>"))
	add("one paragraph.docx", wordFile("<w:p>", "<w:t>a</w:t>", "</w:p>"))
	add("one cell.docx", wordFile("<w:tbl><w:tr><w:tc>", "<w:p><w:t>a</w:t></w:p>", "</w:tc></w:tr></w:tbl>"))
	add("cells.docx", wordFile("<w:tbl><w:tr>", "<w:tc><w:p/></w:tc>", "</w:tr></w:tbl>"))
	add("spans.docx", wordFile(`<w:tbl><w:tr><w:tblHeader/>`, `<w:tc><w:gridSpan w:val="100"/><w:p/></w:tc>`, "</w:tr></w:tbl>"))
	add("formulas.docx", wordFile("<w:p><m:oMath>", "<m:rad><m:t>a</m:t></m:rad>", "</m:oMath></w:p>"))
	add("footnotes.docx", wordFile("<w:p>", `<w:footnoteReference w:id="1"/>`, "</w:p>",
		"word/footnotes.xml", `<f><footnote w:id="1"><p><t>`+strings.Repeat("note ", 200_000)+`</t></p></footnote></f>`))
	add("a long footnote.docx", func(size int) []byte {
		return zippedFiles("word/document.xml", "<d><p><t>a</t></p></d>",
			"word/footnotes.xml", `<f><footnote id="1">`+strings.Repeat("<p><t>a</t></p>", size/15)+`</footnote></f>`)
	})
	add("parts.docx", func(size int) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for i := range size / 100 {
			_, _ = z.Create(fmt.Sprintf("part %d", i))
		}
		_ = z.Close()
		return b.Bytes()
	})
	add("strings.xlsx", sheetFile(1, "<si><t>a</t></si>", "<sheetData>", "", "</sheetData>"))
	add("cells.xlsx", sheetFile(1, "", "<sheetData><row>", "<c><v>1</v></c>", "</row></sheetData>"))
	add("rows.xlsx", sheetFile(1, "", "<sheetData>", `<row><c r="XFD1"><v>1</v></c></row>`, "</sheetData>"))
	add("empty rows.xlsx", sheetFile(1, "", "<sheetData>", "<row/>", "</sheetData>"))
	add("far rows.xlsx", sheetFile(1, "", "<sheetData>", `<row r="1048576"><c r="A1048576"><v>1</v></c></row>`, "</sheetData>"))
	add("texts.xlsx", sheetFile(1, "", "<sheetData>", `<row><c t="inlineStr"><is><t>a</t></is></c></row>`, "</sheetData>"))
	add("sheets.xlsx", sheetFile(5_000, "", "<sheetData>", `<row><c><v>1</v></c></row>`, "</sheetData>"))
	add("merged.xlsx", sheetFile(1, "", `<sheetData/><mergeCells>`, `<mergeCell ref="A1:XFD1048576"/>`, "</mergeCells>"))
	add("deep.xlsx", sheetFile(1, "", "<sheetData>", "<row>", ""))
	add("pages.epub", pagesFile(100_000, "<p>words and words</p>"))
	add("blank pages.epub", pagesFile(100_000, "    \n"))
	add("one page.epub", pagesFile(1, "<p>words"))
	add("spine.epub", pagesFile(400_000, "<p>a</p>"))
	add("a zip", func(size int) []byte { return zippedFiles("a", strings.Repeat("a", size)) })
}

// pdfFile is a PDF of these objects, the first of which is its catalogue. Readers rebuild the table of where they stand.
func pdfFile(objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	for i, o := range objects {
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	b.WriteString("trailer<</Root 1 0 R>>\n%%EOF\n")
	return b.Bytes()
}

// packedStream is a stream that zlib packs, several times.
func packedStream(members, text string, times int) string {
	filters := ""
	for range times {
		var b bytes.Buffer
		z, _ := zlib.NewWriterLevel(&b, zlib.BestCompression) // a level that there is
		_, _ = z.Write([]byte(text))
		_ = z.Close()
		text, filters = b.String(), filters+"/FlateDecode"
	}
	return fmt.Sprintf("<<%s/Filter[%s]/Length %d>>stream\n%s\nendstream", members, filters, len(text), text)
}

const (
	onePage  = "<</Type/Catalog/Pages 2 0 R>>"
	pageKids = "<</Type/Pages/Count 1/Kids[3 0 R]>>"
	pageOf   = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>/XObject<</X 6 0 R>>>>>>"
	plain    = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
)

// paged is a PDF of one page with this content.
func paged(content string, others ...string) []byte {
	return pdfFile(append([]string{onePage, pageKids, pageOf, content, plain}, others...)...)
}

func hostilePDFFiles(add func(name string, fn func(size int) []byte)) {
	show := func(n int) string {
		return "BT /F 12 Tf 20 700 Td " + strings.Repeat("(some words here) Tj 0 -1 Td ", n) + "ET"
	}
	add("blanks.pdf", func(size int) []byte { return paged(packedStream("", strings.Repeat(" ", 4*size), 1)) })
	add("words.pdf", func(size int) []byte { return paged(packedStream("", show(size/25), 1)) })
	add("packed thrice.pdf", func(size int) []byte { return paged(packedStream("", strings.Repeat(" ", 16*size), 3)) })
	add("open states.pdf", func(size int) []byte { return paged(packedStream("", strings.Repeat("q ", size), 1)) })
	add("paths.pdf", func(size int) []byte { return paged(packedStream("", strings.Repeat("1 1 m 2 2 l S ", size/10), 1)) })
	add("nested arrays.pdf", func(size int) []byte { return paged(packedStream("", strings.Repeat("[", size), 1)) })
	add("one page often.pdf", func(int) []byte {
		return pdfFile(onePage, "<</Type/Pages/Count 20000/Kids["+strings.Repeat("3 0 R ", 20_000)+"]>>", pageOf, packedStream("", show(4_000), 1), plain)
	})
	add("pages of one text.pdf", func(int) []byte {
		objects := []string{onePage, "", "", packedStream("", show(2_000), 1), plain}
		kids := ""
		for i := range 5_000 {
			kids += fmt.Sprintf("%d 0 R ", i+6)
			objects = append(objects, pageOf)
		}
		objects[1] = "<</Type/Pages/Count 5000/Kids[" + kids + "]>>"
		return pdfFile(objects...)
	})
	add("count.pdf", func(int) []byte {
		return pdfFile(onePage, "<</Type/Pages/Count 2000000000/Kids[3 0 R]>>", pageOf, packedStream("", show(1), 1), plain)
	})
	add("circle.pdf", func(int) []byte {
		return pdfFile("<</Type/Catalog/Pages 2 0 R/Outlines 4 0 R>>", "<</Type/Pages/Count 2/Kids[3 0 R 2 0 R]>>", "<</Type/Page/Parent 2 0 R>>",
			"<</First 5 0 R/Last 5 0 R/Count 1>>", "<</Title(a)/Parent 4 0 R/First 5 0 R/Next 5 0 R>>")
	})
	add("deep pages.pdf", func(int) []byte {
		objects := []string{onePage}
		for i := range 20_000 {
			objects = append(objects, fmt.Sprintf("<</Type/Pages/Count 1/Kids[%d 0 R]>>", i+3))
		}
		return pdfFile(append(objects, "<</Type/Page>>")...)
	})
	add("forms in forms.pdf", func(int) []byte {
		objects := []string{}
		for i := range 12 {
			objects = append(objects, packedStream(fmt.Sprintf("/Type/XObject/Subtype/Form/BBox[0 0 600 800]/Resources<</Font<</F 5 0 R>>/XObject<</X %d 0 R>>>>", i+7),
				strings.Repeat("/X Do ", 10)+"BT /F 9 Tf (a) Tj ET", 1))
		}
		return paged(packedStream("", "/X Do", 1), objects...)
	})
	add("a form in itself.pdf", func(int) []byte {
		return paged(packedStream("", "/X Do", 1), packedStream("/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 6 0 R>>>>", "/X Do /X Do", 1))
	})
	add("a picture.pdf", func(size int) []byte {
		return paged(packedStream("", "q 600 0 0 800 0 0 cm /X Do Q", 1),
			packedStream("/Type/XObject/Subtype/Image/Width 65000/Height 65000/ColorSpace/DeviceRGB/BitsPerComponent 8", strings.Repeat("\x00", size), 1))
	})
	add("predictor.pdf", func(size int) []byte {
		return paged(packedStream("/DecodeParms<</Predictor 15/Colors 32/BitsPerComponent 16/Columns 200000000>>", strings.Repeat("\x02", size), 1))
	})
	add("letters of a font.pdf", func(size int) []byte {
		return pdfFile(onePage, pageKids, pageOf, packedStream("", show(10), 1), "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 6 0 R>>",
			packedStream("", "1 begincmap 100 beginbfrange "+strings.Repeat("<00><ff><0041> ", size/15)+"endbfrange endcmap", 1))
	})
	add("objects in a stream.pdf", func(size int) []byte {
		n := size / 20
		var head, body strings.Builder
		for i := range n {
			fmt.Fprintf(&head, "%d %d ", i+10, body.Len())
			body.WriteString("[1 2]")
		}
		return append(paged(packedStream("", show(1), 1),
			packedStream(fmt.Sprintf("/Type/ObjStm/N %d/First %d", n, head.Len()), head.String()+body.String(), 1)), []byte("\n")...)
	})
	add("table of places.pdf", func(int) []byte {
		return append([]byte("%PDF-1.7\n1 0 obj\n"), []byte(packedStream("/Type/XRef/Size 2000000000/W[8 8 8]/Index[0 2000000000]/Root 1 0 R", strings.Repeat("\x01", 1<<20), 1)+
			"\nendobj\nstartxref\n9\n%%EOF\n")...)
	})
	add("nested.pdf", func(size int) []byte {
		return pdfFile("<</Type/Catalog/Pages " + strings.Repeat("[", min(size, 8<<20)) + ">>")
	})
	add("objects.pdf", func(size int) []byte {
		return append(paged(packedStream("", show(1), 1)), []byte(strings.Repeat("9 0 obj 1 endobj\n", size/17))...)
	})
}

package convert_test

import (
	"testing"
	"unicode/utf8"

	"github.com/ctxd/ctxd/context/books"
	"github.com/ctxd/ctxd/context/books/convert"
	"github.com/ctxd/ctxd/entities/fault"
)

// fuzz holds a converter to this: whatever it reads ends in a document with valid text, which can be cut, or
// in a typed error.
func fuzz(f *testing.F, format convert.Format, seeds ...string) {
	f.Helper()
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := shared.Convert(t.Context(), format, data, nil)
		if err != nil {
			if k := fault.KindOf(err); k != fault.Invalid && k != fault.Limit {
				t.Fatal(err)
			}
			return
		}
		if !utf8.ValidString(books.PlainText(d)) || len(books.CutPassages(d)) == 0 {
			t.Error("text that is not valid, or no passage")
		}
	})
}

func FuzzMEM67_PDF(f *testing.F) {
	// An input has ten seconds, and the first one would have PDFium compiled.
	if _, err := shared.Convert(f.Context(), convert.PDF, []byte(circle), nil); err != nil {
		f.Fatal(err)
	}
	fuzz(f, convert.PDF, string(read(f, "writer.pdf")), circle, manyPages)
}

func FuzzMEM67_DOCX(f *testing.F) {
	fuzz(f, convert.DOCX, string(read(f, "manual.docx")), string(word(f, "<w:tbl><w:tr><w:tc><w:p><w:t>a</w:t></w:p></w:tc></w:tr></w:tbl>")))
}

// FuzzMEM67_DOCXText changes the text of a document, which in a packed one is hardly ever whole.
func FuzzMEM67_DOCXText(f *testing.F) {
	f.Add(`<w:p><w:pPr><w:pStyle w:val="h"/></w:pPr><w:r><w:t>a</w:t><w:br/></w:r></w:p><w:tbl><w:tr><w:trPr><w:tblHeader/></w:trPr><w:tc><w:tcPr><w:gridSpan w:val="3"/></w:tcPr><w:p/></w:tc></w:tr></w:tbl>`)
	f.Fuzz(func(t *testing.T, body string) {
		d, err := shared.Convert(t.Context(), convert.DOCX, word(t, body), nil)
		if k := fault.KindOf(err); err != nil && k != fault.Invalid && k != fault.Limit {
			t.Fatal(err)
		}
		if d != nil {
			books.CutPassages(d)
		}
	})
}

func FuzzMEM67_XLSX(f *testing.F) { fuzz(f, convert.XLSX, string(read(f, "rain.xlsx"))) }
func FuzzMEM67_EPUB(f *testing.F) { fuzz(f, convert.EPUB, string(read(f, "manual.epub"))) }
func FuzzMEM67_HTML(f *testing.F) { fuzz(f, convert.HTML, string(read(f, "manual.html"))) }
func FuzzMEM67_CSV(f *testing.F)  { fuzz(f, convert.CSV, "a;b\n1;\"2\n", "a,b") }
func FuzzMEM67_Text(f *testing.F) { fuzz(f, convert.Text, "a\n\n\fb", "\xFF\xFEa\x00") }
func FuzzMEM67_Markdown(f *testing.F) {
	fuzz(f, convert.Markdown, string(read(f, "manual.md")), "| a |\n|-|\n```\n")
}

package convert

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities/fault"
)

// Timeout is how long the conversion of one file may take.
const Timeout = 10 * time.Minute

// Format is a format of files.
type Format string

// The formats.
const (
	Markdown Format = "md"
	Text     Format = "txt"
	HTML     Format = "html"
	CSV      Format = "csv"
	DOCX     Format = "docx"
	XLSX     Format = "xlsx"
	PDF      Format = "pdf"
	EPUB     Format = "epub"
)

// known is a format, the ends of the names of its files and its content types.
type known struct {
	format Format
	ends   []string
	types  []string
}

// formats are all formats. The table in README.md of package books has the same.
var formats = []known{
	{Markdown, []string{".md", ".markdown"}, []string{"text/markdown", "text/x-markdown"}},
	{Text, []string{".txt", ".text"}, []string{"text/plain"}},
	{HTML, []string{".html", ".htm", ".xhtml"}, []string{"text/html", "application/xhtml+xml"}},
	{CSV, []string{".csv", ".tsv"}, []string{"text/csv", "text/tab-separated-values"}},
	{DOCX, []string{".docx"}, []string{"application/vnd.openxmlformats-officedocument.wordprocessingml.document"}},
	{XLSX, []string{".xlsx"}, []string{"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"}},
	{PDF, []string{".pdf"}, []string{"application/pdf"}},
	{EPUB, []string{".epub"}, []string{"application/epub+zip"}},
}

// Formats are the names of all formats.
func Formats() []string {
	list := make([]string, len(formats))
	for i, k := range formats {
		list[i] = string(k.format)
	}
	return list
}

// Unknown is the error of a file whose format is none of these.
func Unknown(field string) error {
	return fault.Field(field, "the format of the file is not known").WithHint("give one of %s", strings.Join(Formats(), ", "))
}

// ByName returns the format that a name of a file says, "" for none.
func ByName(name string) Format {
	end := strings.ToLower(filepath.Ext(name))
	for _, k := range formats {
		for _, e := range k.ends {
			if e == end {
				return k.format
			}
		}
	}
	return ""
}

// Unpack returns a file that was packed by gzip, and its name without .gz; another one as it is. The errors are those of a bomb
// and of a broken file.
func Unpack(name string, data []byte) (string, []byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1F, 0x8B}) {
		return name, data, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return name, nil, brokenError(err)
	}
	most := min(int64(maxUnpackedBytes), max(int64(freeSize), int64(len(data))*maxRatio))
	out, err := io.ReadAll(io.LimitReader(z, most+1))
	switch {
	case err != nil:
		return name, nil, brokenError(err)
	case int64(len(out)) > most:
		return name, nil, bombError()
	}
	if strings.EqualFold(filepath.Ext(name), ".gz") {
		name = name[:len(name)-len(".gz")]
	}
	return name, out, nil
}

// ByType returns the format of a content type, or of a name of a format; "" for none.
func ByType(kind string) Format {
	kind, _, _ = strings.Cut(strings.ToLower(kind), ";")
	kind = strings.TrimSpace(kind)
	for _, k := range formats {
		if string(k.format) == kind {
			return k.format
		}
		for _, t := range k.types {
			if t == kind {
				return k.format
			}
		}
	}
	return ""
}

// Detect returns the format of a file: what its first bytes say, else what is said of it; "" for none. Of a
// zip, and of text, the bytes do not tell the format. A file that is said to be another than it is has none.
func Detect(said Format, data []byte) Format {
	head := data[:min(len(data), 1024)]
	if bytes.Contains(head, []byte("%PDF-")) && said != Text && said != Markdown && said != HTML && said != CSV {
		return PDF
	}
	zipped := bytes.HasPrefix(head, []byte("PK\x03\x04"))
	switch said {
	case DOCX, XLSX, EPUB, PDF: // what is no zip is told to be broken, or encrypted
		return said
	case "":
		if zipped {
			return inside(data)
		}
		if bytes.HasPrefix(bytes.ToLower(bytes.TrimSpace(head)), []byte("<!doctype html")) {
			return HTML
		}
		return ""
	}
	if zipped || binary(head) {
		return ""
	}
	return said
}

// binary reports bytes that are no text: they have a zero, and are no UTF-16 with its mark.
func binary(head []byte) bool {
	if bytes.HasPrefix(head, []byte{0xFF, 0xFE}) || bytes.HasPrefix(head, []byte{0xFE, 0xFF}) {
		return false
	}
	return bytes.IndexByte(head, 0) >= 0
}

// inside returns the format of a zip by what is in it.
func inside(data []byte) Format {
	a, err := openArchive(data)
	switch {
	case err != nil:
		return ""
	case a.Has("word/document.xml"):
		return DOCX
	case a.Has("xl/workbook.xml"):
		return XLSX
	case a.Has("META-INF/container.xml"):
		return EPUB
	}
	return ""
}

// Converter converts files. The zero value works. It may be used concurrently.
type Converter struct{ pdf pdfEngine }

// Close gives back what is held between two files. The Converter may be used again.
func (c *Converter) Close() error { return c.pdf.Close() }

// Convert converts a file. progress is told how many of how many parts are read, where that is known; it may
// be nil. The errors are Invalid for a broken or encrypted file, and for one without text; Limit for one that
// is too large or takes too long; and that of the context.
func (c *Converter) Convert(ctx context.Context, format Format, data []byte, progress func(done, total int)) (*Document, error) {
	within, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	b := NewBuilder(within)
	err := c.add(b, format, data, progress)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fault.New(fault.Limit, "the file takes longer than %v to read", Timeout).WithHint("split it into several files")
	case err != nil:
		return nil, brokenError(err)
	}
	d := b.Document()
	if len(d.Blocks) == 0 {
		return nil, fault.New(fault.Invalid, "there is no text in the file").
			WithHint("a scanned file needs text recognition first, for example by ocrmypdf")
	}
	if isGarbage(d.Blocks) {
		return nil, fault.New(fault.Invalid, "the text of the file is no language: its fonts do not say which letters they draw, or it is damaged").
			WithHint("open it in the program that made it and save it anew, or have its text recognised, for example by ocrmypdf --force-ocr")
	}
	return d, nil
}

// add converts, and makes errors of panics.
func (c *Converter) add(b *Builder, format Format, data []byte, progress func(done, total int)) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = brokenError(fmt.Errorf("panic while a %s file was read: %v", format, p))
		}
	}()
	switch format {
	case DOCX:
		return convertWord(b, data)
	case XLSX:
		return convertSheets(b, data)
	case PDF:
		return c.pdf.Add(b, data, progress)
	case EPUB:
		return convertEPUB(b, data)
	}
	text, err := decodeText(data, string(format))
	if err != nil {
		return err
	}
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "")
	}
	switch format {
	case Markdown:
		return convertMarkdown(b, text)
	case HTML:
		return convertHTML(b, text)
	case CSV:
		return convertCSV(b, text)
	case Text:
		return convertText(b, text)
	}
	return Unknown("")
}

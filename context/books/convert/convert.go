package convert

import (
	"archive/zip"
	"bufio"
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

// Bounds of one file.
const (
	minTimeout  = 2 * time.Minute // of a small file
	perMegabyte = 8 * time.Second
	maxTimeout  = 10 * time.Minute

	// What a process takes that converts a file: ten times the file; minMemory for a small one, most of which the reader of PDF
	// takes whatever the file is.
	times     = 10
	minMemory = 256 << 20
	// MaxMemory is what the largest file may take, in bytes.
	MaxMemory = 640 << 20

	minTextBytes = 16 << 20 // of what is made of a small file, in bytes
)

// TimeoutOf is how long the conversion of a file of so many bytes may take.
func TimeoutOf(size int64) time.Duration {
	return min(minTimeout+time.Duration(size>>20)*perMegabyte, maxTimeout)
}

// MemoryOf is what the process that converts a file of so many bytes may take, in bytes.
func MemoryOf(size int64) int64 { return min(max(minMemory, times*size), MaxMemory) }

// TextOf is how much text a file of so many bytes may become, in bytes.
func TextOf(size int64) int64 { return min(max(minTextBytes, times*size), maxTextBytes) }

// TookTooLong is the error of a file that takes longer than it may.
func TookTooLong(limit time.Duration) error {
	return fault.New(fault.Limit, "the file takes longer than %v to read", limit).WithHint("split it into several files")
}

// TakesTooMuch is the error of a file that needs more memory than it may take, in bytes.
func TakesTooMuch(most int64) error {
	return fault.New(fault.Limit, "the file needs more than %d MiB of memory to read", most>>20).
		WithHint("split it into several files, or save it as plain text")
}

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

// Unpack returns the bytes of a file that gzip has packed as they are read, and its name without .gz; those of another one as they
// are. most is how many there may be. The errors, also of reading, are Invalid for a broken file and Limit for a longer one.
func Unpack(name string, file io.Reader, most int64) (string, io.Reader, error) {
	in := bufio.NewReader(file)
	if head, _ := in.Peek(2); !bytes.Equal(head, []byte{0x1F, 0x8B}) {
		return name, in, nil
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return name, nil, brokenError(err)
	}
	if strings.EqualFold(filepath.Ext(name), ".gz") {
		name = name[:len(name)-len(".gz")]
	}
	return name, &unpacked{z, most}, nil
}

// unpacked is a file that is unpacked while it is read.
type unpacked struct {
	from io.Reader
	left int64
}

func (u *unpacked) Read(p []byte) (int, error) {
	n, err := u.from.Read(p)
	u.left -= int64(n)
	switch {
	case u.left < 0:
		return 0, fault.New(fault.Limit, "the file unpacks to more than is allowed").WithHint("unpack it and split it into several files")
	case err != nil && !errors.Is(err, io.EOF):
		return n, brokenError(err)
	}
	return n, err
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
func Detect(said Format, file io.ReaderAt, size int64) Format {
	head := make([]byte, min(size, 1024))
	if n, err := file.ReadAt(head, 0); n < len(head) && err != nil {
		return ""
	}
	if bytes.Contains(head, []byte("%PDF-")) && said != Text && said != Markdown && said != HTML && said != CSV {
		return PDF
	}
	zipped := bytes.HasPrefix(head, []byte("PK\x03\x04"))
	switch said {
	case DOCX, XLSX, EPUB, PDF: // what is no zip is told to be broken, or encrypted
		return said
	case "":
		if zipped {
			return inside(file, size)
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

// binary reports bytes that are no text: they have a zero, and are no UTF-16.
func binary(head []byte) bool {
	if _, wide := looks16(head); wide && len(head) > 8 {
		return false
	}
	if bytes.HasPrefix(head, []byte{0xFF, 0xFE}) || bytes.HasPrefix(head, []byte{0xFE, 0xFF}) {
		return false
	}
	return bytes.IndexByte(head, 0) >= 0
}

// directoryBytes is how much of the end of a zip its directory is looked for in, where its name says no format.
const directoryBytes = 2 << 20

// ending is the end of a file; what is before it can't be read.
type ending struct {
	io.ReaderAt
	from int64
}

func (e ending) ReadAt(p []byte, at int64) (int, error) {
	if at < e.from {
		return 0, io.ErrUnexpectedEOF
	}
	return e.ReaderAt.ReadAt(p, at)
}

// inside returns the format of a zip by what is in it. One with a large directory has none: it is read with the memory that
// opening it may take.
func inside(file io.ReaderAt, size int64) Format {
	z, err := zip.NewReader(ending{file, size - directoryBytes}, size)
	if err != nil {
		return ""
	}
	for _, f := range z.File {
		switch strings.ToLower(clean(f.Name)) {
		case "word/document.xml":
			return DOCX
		case "xl/workbook.xml":
			return XLSX
		case "meta-inf/container.xml":
			return EPUB
		}
	}
	return ""
}

// Converter converts files. The zero value works. It may be used concurrently.
type Converter struct{ pdf pdfEngine }

// Close gives back what is held between two files. The Converter may be used again.
func (c *Converter) Close() error { return c.pdf.Close() }

// Prepare makes what files of a format need that is not of any file: the code of PDFium is compiled, which takes more memory than
// most files. Convert says why it could not be made.
func (c *Converter) Prepare(format Format) {
	if format == PDF {
		c.pdf.prepare()
	}
}

// Convert converts a file. progress is told how many of how many parts are read, where that is known; it may
// be nil. The errors are Invalid for a broken or encrypted file, and for one without text; Limit for one that
// is too large or takes too long; and that of the context.
func (c *Converter) Convert(ctx context.Context, format Format, data []byte, progress func(done, total int)) (*Document, error) {
	limit := TimeoutOf(int64(len(data)))
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	b := NewBuilder(within)
	b.most = int(TextOf(int64(len(data))))
	err := c.add(b, format, data, progress)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return nil, TookTooLong(limit)
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

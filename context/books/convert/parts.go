package convert

// Archives that books come in (docx, xlsx, epub) are opened with bounds on what they unpack to, and the XML in them is
// read with a bound on its depth.
//
// A bomb is refused by what its directory declares before anything is unpacked, and by what is really read as well.
// What is read of one part is bounded by its caller. Entities of a DTD are not expanded: the reader of the standard
// library knows none, and a document that needs one is broken. Errors are Invalid or Limit and hold nothing of the
// file. Opening is linear in the number of parts, reading in their size. An archive is read by one goroutine.

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"path"
	"strings"

	"golang.org/x/net/html/charset"

	"github.com/ctxd/ctxd/entities/fault"
)

// Bounds of an archive.
const (
	maxArchiveParts  = 20_000
	maxUnpackedBytes = 512 << 20 // bytes, altogether
	// maxRatio is how many times its packed size an archive of more than freeSize bytes unpacks to at most.
	maxRatio = 100
	freeSize = 16 << 20
	maxDepth = 250 // of elements
)

// brokenError is the error of a file that is not what it says it is.
func brokenError(err error) error {
	var known *fault.Error
	if errors.As(err, &known) {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fault.Wrap(fault.Invalid, err, "the file is broken").
		WithHint("open it in the program that made it, save it again, and give the new file")
}

// encryptedError is the error of a file that needs a password.
func encryptedError() error {
	return fault.New(fault.Invalid, "the file is encrypted").WithHint("save it without a password and give the new file")
}

// bombError is the error of a file that unpacks to too much.
func bombError() error {
	return fault.New(fault.Limit, "the file unpacks to more than is allowed").
		WithHint("give a file of at most %d MiB when it is unpacked", maxUnpackedBytes>>20)
}

// zipArchive is a zip file in memory.
type zipArchive struct {
	files  map[string]*zip.File
	left   int64                // how many bytes may be unpacked; a part may be asked for as often as another one names it
	folded map[string]*zip.File // by their names in lower case: who packed them may have had a file system that tells no case
}

// file returns a part, nil for none. The name as it is written counts first.
func (a *zipArchive) file(name string) *zip.File {
	name = clean(name)
	if f := a.files[name]; f != nil {
		return f
	}
	return a.folded[strings.ToLower(name)]
}

// ole are the first bytes of a compound file: an encrypted document of Office, or one of before 2007.
const ole = "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"

// openArchive reads the directory of an archive.
func openArchive(data []byte) (*zipArchive, error) {
	if strings.HasPrefix(string(data[:min(len(data), len(ole))]), ole) {
		return nil, fault.New(fault.Invalid, "the file is encrypted, or of an Office program before 2007").
			WithHint("save it without a password as docx or xlsx and give the new file")
	}
	if bytes.Count(data, []byte("PK\x01\x02")) > 2*maxArchiveParts { // its directory alone would take ten times the file
		return nil, bombError()
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, brokenError(err)
	}
	if len(z.File) > maxArchiveParts {
		return nil, bombError()
	}
	a := &zipArchive{left: maxUnpackedBytes, files: make(map[string]*zip.File, len(z.File)), folded: make(map[string]*zip.File, len(z.File))}
	var sum uint64
	for _, f := range z.File {
		if f.Flags&1 != 0 {
			return nil, encryptedError()
		}
		if f.UncompressedSize64 > maxUnpackedBytes {
			return nil, bombError()
		}
		sum += f.UncompressedSize64
		if sum > maxUnpackedBytes || sum > freeSize && sum > maxRatio*uint64(len(data)) {
			return nil, bombError()
		}
		a.files[clean(f.Name)] = f
		if low := strings.ToLower(clean(f.Name)); a.folded[low] == nil {
			a.folded[low] = f
		}
	}
	return a, nil
}

func clean(name string) string {
	return strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(name, `\`, "/")), "/")
}

// Has reports whether there is a part.
func (a *zipArchive) Has(name string) bool { return a.file(name) != nil }

// Reader opens a part, which must be closed; nil when there is none. More than most bytes of it are a Limit.
func (a *zipArchive) Reader(name string, most int64) (io.ReadCloser, error) {
	f := a.file(name)
	if f == nil {
		return nil, nil
	}
	if f.UncompressedSize64 > uint64(most) {
		return nil, bombError()
	}
	r, err := f.Open()
	if err != nil {
		return nil, brokenError(err)
	}
	return &bounded{r, a, most}, nil
}

// Read returns the bytes of a part; nil when there is none.
func (a *zipArchive) Read(name string, most int64) ([]byte, error) {
	r, err := a.Reader(name, most)
	if r == nil || err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	if closed := r.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return nil, brokenError(err)
	}
	return data, nil
}

// bounded is a part that ends with an error when it is longer than it may be.
type bounded struct {
	io.ReadCloser
	of   *zipArchive
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	b.of.left -= int64(n)
	if b.left < 0 || b.of.left < 0 {
		return 0, bombError()
	}
	return n, err
}

// walkXML reads XML and tells of each element and text, until the end or an error of a function, which it
// returns. Elements are told without their name space. O(text).
func walkXML(ctx context.Context, r io.Reader, start func(xml.StartElement) error, end func(name string) error, text func(string) error) error {
	d := xml.NewDecoder(r)
	d.CharsetReader = charset.NewReaderLabel
	for depth, n := 0, 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			if depth != 0 {
				return brokenError(io.ErrUnexpectedEOF)
			}
			return nil
		}
		if err != nil {
			return brokenError(err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			depth++
			if depth > maxDepth {
				return fault.New(fault.Limit, "the file is nested more than %d levels deep", maxDepth).
					WithHint("save it anew in the program that made it, or as plain text")
			}
			err = start(t)
		case xml.EndElement:
			depth--
			if depth < 0 {
				return brokenError(io.ErrUnexpectedEOF)
			}
			err = end(t.Name.Local)
		case xml.CharData:
			err = text(string(t))
		}
		if err != nil {
			return err
		}
	}
}

// xmlAttr is the value of an attribute, whatever its name space is.
func xmlAttr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

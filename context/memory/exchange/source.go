package exchange

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/fault"
)

// Formats.
const (
	JSONL       = "jsonl"
	Markdown    = "markdown"
	BasicMemory = "basic-memory"
	Mem0        = "mem0"
	Lines       = "lines"
)

// Written are the formats of Export, Read those of Import.
var (
	Written = []string{JSONL, Markdown}
	Read    = []string{JSONL, BasicMemory, Mem0, Lines}
)

// maxLine is the longest line, or item of a list, that is read, in bytes.
const maxLine = 1 << 20

// maxFiles is how many files of a folder are read.
const maxFiles = 100_000

// parser reads the rows of one file. yield is given each, and its error ends it.
type parser func(r *reader, yield func(memory.Row) error) error

var parsers = map[string]parser{JSONL: readJSONL, BasicMemory: readBasic, Mem0: readMem0, Lines: readLines}

// file is one file of a source.
type file struct {
	path, name string // name is empty where it is the only one
	size       int64
	changed    time.Time
}

// source is what is imported.
type source struct {
	format string
	files  []file
	size   int64

	isPrivate func(ctx context.Context, path, head string) (bool, error) // nil: no file is
}

// openSource finds the files of a path, and their format where none is given.
func openSource(path, format string) (*source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, unreadable(err)
	}
	src := &source{format: format}
	switch {
	case info.IsDir():
		err = src.folder(path)
	case !info.Mode().IsRegular():
		err = fault.Field("path", "path is no regular file").WithHint("give a file, or a folder of Markdown files")
	default:
		err = src.add(path, "", info)
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		err = src.settle(path)
	}
	return src, err
}

// settle finds out the format of a file. One that holds private memories marked as such is never read as another
// one, where the mark would count for nothing.
func (src *source) settle(path string) error {
	found, err := detect(path)
	switch {
	case err != nil:
		return err
	case src.format == "":
		src.format = found
	case src.format != found && (found == JSONL || found == Mem0):
		return fault.Field("format", "the file has the format %s, not %s", found, src.format).
			WithHint("leave out format")
	}
	return nil
}

func (src *source) add(path, name string, info fs.FileInfo) error {
	if len(src.files) >= maxFiles {
		return fault.TooLarge("path", len(src.files)+1, maxFiles, "files")
	}
	src.files = append(src.files, file{path, name, info.Size(), info.ModTime()})
	src.size += info.Size()
	return nil
}

// folder finds the Markdown files of a folder. Links are not followed, and hidden folders not entered.
func (src *source) folder(path string) error {
	if src.format != "" && src.format != BasicMemory {
		return fault.Field("path", "path is a folder, and %s is one file", src.format).WithHint("give the file")
	}
	src.format = BasicMemory
	err := filepath.WalkDir(path, func(at string, d fs.DirEntry, err error) error {
		hidden := strings.HasPrefix(d.Name(), ".") && at != path
		switch {
		case err != nil:
			return err
		case d.IsDir() && hidden:
			return filepath.SkipDir
		case hidden, !d.Type().IsRegular(), !strings.EqualFold(filepath.Ext(at), ".md"):
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(path, at)
		if err != nil {
			return err
		}
		return src.add(at, filepath.ToSlash(name), info)
	})
	if fault.KindOf(err) == fault.Internal && err != nil {
		return unreadable(err)
	}
	return err
}

func unreadable(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		e := fault.Wrap(fault.NotFound, err, "there is no such file").WithHint("give the path of a file that is there")
		e.Field = "path"
		return e
	}
	e := fault.Wrap(fault.Unavailable, err, "the file cannot be read").WithHint("check its permissions")
	e.Field = "path"
	return e
}

// read gives the rows of all files to yield, and how many bytes are read.
func (src *source) read(ctx context.Context, yield func(r memory.Row, done int64) error) error {
	before := int64(0)
	for _, f := range src.files {
		err := f.read(ctx, parsers[src.format], src.isPrivate, func(r memory.Row, at int64) error {
			r.File = f.name
			return yield(r, min(before+at, src.size))
		})
		if err != nil {
			return err
		}
		before += f.size
	}
	return nil
}

func (f *file) read(ctx context.Context, parse parser, isPrivate func(ctx context.Context, path, head string) (bool, error),
	yield func(r memory.Row, at int64) error,
) error {
	in, err := os.Open(f.path)
	if err != nil {
		return unreadable(err)
	}
	defer func() { _ = in.Close() }() // it was only read
	info, err := in.Stat()
	if err != nil {
		return unreadable(err)
	}
	if !info.Mode().IsRegular() || info.Size() != f.size || !info.ModTime().Equal(f.changed) {
		return fault.Clash(fault.Changed, "the file was changed while it was read").WithHint("try again")
	}
	r := newReader(in)
	private := false
	if isPrivate != nil {
		head, _ := r.in.Peek(headBytes) // what can't be read is an error below
		if private, err = isPrivate(ctx, f.path, string(head)); err != nil {
			return err
		}
	}
	err = parse(r, func(row memory.Row) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if private {
			hide(&row)
		}
		return yield(row, r.at)
	})
	if err != nil && f.name != "" && fault.KindOf(err) == fault.Invalid {
		e := fault.Wrap(fault.Invalid, err, "%s: %s", f.name, fault.Message(err)).WithHint("mend or remove that file")
		e.Field, err = "path", e
	}
	return err
}

// hide makes what a row says private.
func hide(r *memory.Row) {
	switch {
	case r.Synonyms != nil:
		r.Synonyms.Private = true
	case r.Context != nil:
		r.Context.Private = true
	case r.Memory != nil:
		r.Memory.Private = true
	case r.Draft != nil:
		r.Draft.Private = true
	}
}

// headBytes is how much of a file is looked at for what it says of itself, and is read at once.
const headBytes = 1 << 16

// reader reads a file in lines, or as it is, and never more than maxLine at a time into memory.
type reader struct {
	in   *bufio.Reader
	at   int64 // bytes that are read
	line int   // number of the last line
	buf  []byte
}

func newReader(in io.Reader) *reader {
	r := &reader{in: bufio.NewReaderSize(in, headBytes)}
	if bom, _ := r.in.Peek(3); string(bom) == "\ufeff" {
		_, _ = r.in.Discard(3) // which was peeked
	}
	return r
}

// next returns the next line without its end, until it is read again. The error is io.EOF behind the last one.
func (r *reader) next() ([]byte, error) {
	r.buf = r.buf[:0]
	for {
		part, err := r.in.ReadSlice('\n')
		r.at += int64(len(part))
		r.buf = append(r.buf, part...)
		if len(r.buf) > maxLine {
			return nil, fault.TooLarge("path", len(r.buf), maxLine, "bytes in a line")
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(r.buf) == 0:
			return nil, io.EOF
		case err != nil && !errors.Is(err, io.EOF):
			return nil, unreadable(err)
		}
		break
	}
	r.line++
	line := r.buf
	for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
		line = line[:len(line)-1]
	}
	if !utf8.Valid(line) {
		return nil, r.bad("is not valid UTF-8")
	}
	return line, nil
}

// bad is the error for the last line that was read.
func (r *reader) bad(what string, args ...any) error {
	return badAt("line", r.line, what, args...)
}

func badAt(unit string, n int, what string, args ...any) error {
	e := fault.Field("path", "%s %d "+what, append([]any{unit, n}, args...)...).
		WithHint("mend the file, or say with format what it is; nothing was imported")
	if unit == "line" {
		e.Line = n
	}
	return e
}

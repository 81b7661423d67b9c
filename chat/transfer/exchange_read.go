package transfer

// This file and exchange_*.go write a conversation as JSON or Markdown, and read the JSON again.
//
//	json      all that the store keeps of a conversation: ImportJSON of it gives the same export, byte for byte
//	markdown  for people to read: each line of what was said begins with >, and no other line does
//
// The JSON is one object: format, version, conversation, messages, in this order, a message a line. A conversation and
// a message have the members of their stored records, also those that this program does not know. For a remote reader
// there is audience before conversation, and the records are what chat.get shows him; that is not imported.
//
// An export is given in pieces of about a MiB, so that no reply is too long for its connection: those behind the first
// know by number which messages are left, and a message that is added meanwhile is in none. A file is read twice, a
// message at a time: first it is checked as a whole and compared with the store, then it is written, in one transaction
// up to chat.MaxGroup and in groups beyond that. An import of more that was interrupted has written whole groups, and
// the same one again goes on with the rest.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/entities/fault"
)

// Sizes of what is read.
const (
	maxRecord  = 16 << 20 // bytes of a conversation or a message
	maxNesting = 512      // objects and arrays within each other
)

// isOwnExport reports whether a file that begins with some bytes may be an export of this program.
func isOwnExport(beginning []byte) bool {
	b := bytes.TrimPrefix(beginning, byteOrderMark)
	inside, is := bytes.CutPrefix(bytes.TrimLeft(b, " \t\r\n"), []byte("{"))
	inside = bytes.TrimLeft(inside, " \t\r\n")
	return is && (bytes.Contains(inside, []byte(`"format"`)) || bytes.HasPrefix(inside, []byte(`"conversation"`)))
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// bounded is a reader that gives no more than up to an offset.
type bounded struct {
	ctx   context.Context
	in    io.Reader
	at    int64 // offset of the next byte
	until int64
}

var errTooLarge = errors.New("too large")

func (b *bounded) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	if b.at >= b.until {
		return 0, errTooLarge
	}
	n, err := b.in.Read(p[:min(int64(len(p)), b.until-b.at)])
	b.at += int64(n)
	return n, err
}

// parser reads an export, a record at a time.
type parser struct {
	in  *bounded
	dec *json.Decoder
	bom int64 // bytes before the first one that dec counts

	what  string // is read: the conversation, or message 3
	start int64  // where it begins
}

func newParser(ctx context.Context, in io.Reader) (*parser, error) {
	begin := make([]byte, len(byteOrderMark))
	n, err := io.ReadFull(in, begin)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, unreadable(err)
	}
	x := &parser{in: &bounded{ctx: ctx, at: int64(n)}}
	if bytes.Equal(begin[:n], byteOrderMark) {
		x.bom, x.in.in = int64(n), in
	} else {
		x.in.in = io.MultiReader(bytes.NewReader(begin[:n]), in)
		x.in.at = 0
	}
	x.dec = json.NewDecoder(x.in)
	x.dec.UseNumber() // or one that no float64 holds is an error of another type
	return x, nil
}

// offset is where the next value begins, about.
func (x *parser) offset() int64 { return x.bom + x.dec.InputOffset() }

// allow lets a value of so many bytes be read from here on.
func (x *parser) allow() {
	x.start = x.offset()
	x.in.until = x.start + maxRecord
}

// wrong is the error for the record that is read.
func (x *parser) wrong(kind fault.Kind, format string, args ...any) error {
	e := fault.New(kind, "%s at byte %d: %s", x.what, x.start, fmt.Sprintf(format, args...)).
		WithHint("give a file that ctxd chat export wrote, as it was written; nothing was imported")
	e.Field = "path"
	return e
}

// because is the error for the record that is read, for what went wrong.
func (x *parser) because(err error) error {
	var known *fault.Error
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, errTooLarge):
		return x.wrong(fault.Limit, "it has more than %d MiB", maxRecord>>20)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return x.wrong(fault.Invalid, "the file ends in it")
	case errors.As(err, &known) && (known.Kind == fault.Invalid || known.Kind == fault.Limit):
		return x.wrong(known.Kind, "%s", known.Msg)
	case errors.As(err, &known):
		return err
	case errors.As(err, new(*json.SyntaxError)):
		return x.wrong(fault.Invalid, "it is no JSON")
	}
	return unreadable(err)
}

func unreadable(err error) error {
	e := fault.Wrap(fault.Unavailable, err, "the file can't be read")
	e.Field = "path"
	return e
}

// token reads the next token and reports whether it is the one that is wanted.
func (x *parser) token(want json.Token) error {
	x.allow()
	got, err := x.dec.Token()
	if err != nil {
		return x.because(err)
	}
	if got != want {
		return x.wrong(fault.Invalid, "%v is missing", want)
	}
	return nil
}

// value reads the next value.
func (x *parser) value(into any) error {
	x.allow()
	var raw json.RawMessage
	err := x.dec.Decode(&raw)
	if err == nil {
		x.start = x.offset() - int64(len(raw))
		if nesting(raw) > maxNesting {
			return x.wrong(fault.Limit, "it is nested deeper than %d", maxNesting)
		}
		if into, ok := into.(*json.RawMessage); ok {
			*into = raw
			return nil
		}
		err = json.Unmarshal(raw, into)
		if errors.As(err, new(*json.UnmarshalTypeError)) {
			return x.wrong(fault.Invalid, "it has the wrong type")
		}
	}
	if err != nil {
		return x.because(err)
	}
	return nil
}

// nesting is how deep a JSON value is nested.
func nesting(raw []byte) (deepest int) {
	depth, inString := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{', c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}', c == ']':
			depth--
		}
	}
	return deepest
}

// head reads what stands before the conversation.
func (x *parser) head() error {
	x.what = "the beginning of the file"
	if err := x.token(json.Delim('{')); err != nil {
		return err
	}
	var format string
	if err := x.token("format"); err != nil {
		return err
	}
	if err := x.value(&format); err != nil {
		return err
	}
	if format != formatName {
		return x.wrong(fault.Invalid, "it is no export of a conversation")
	}
	var version int
	if err := x.token("version"); err != nil {
		return err
	}
	if err := x.value(&version); err != nil {
		return err
	}
	if version != formatVersion {
		return x.wrong(fault.Invalid, "it has the version %d, and this program reads %d", version, formatVersion)
	}
	x.allow()
	name, err := x.dec.Token()
	switch {
	case err != nil:
		return x.because(err)
	case name == "audience":
		return x.wrong(fault.Invalid, "it has what a remote reader sees of a conversation, which is not imported")
	case name != "conversation":
		return x.wrong(fault.Invalid, "conversation is missing")
	}
	return nil
}

// read reads an export, and gives its conversation to begin and then each message to each, with the bytes that
// are read. An error of theirs that tells what is wrong with the record gets its place in the file.
func read(ctx context.Context, in io.Reader, begin func(*chat.Record) error, each func(m *chat.Message, at int64) error) error {
	x, err := newParser(ctx, in)
	if err != nil {
		return err
	}
	if err := x.head(); err != nil {
		return err
	}
	x.what = "the conversation"
	var raw json.RawMessage
	if err := x.value(&raw); err != nil {
		return err
	}
	c, err := chat.ParseRecord(raw)
	if err == nil {
		err = begin(c)
	}
	if err != nil {
		return x.because(err)
	}
	if err := x.token("messages"); err != nil {
		return err
	}
	if err := x.token(json.Delim('[')); err != nil {
		return err
	}
	for number := 1; ; number++ {
		x.what = fmt.Sprintf("message %d of the file", number)
		x.allow()
		if !x.dec.More() {
			break
		}
		if err := x.value(&raw); err != nil {
			return err
		}
		m, err := chat.ParseMessage(raw)
		if err == nil {
			err = each(m, x.offset())
		}
		if err != nil {
			return x.because(err)
		}
	}
	return x.end()
}

// end reads what stands behind the messages.
func (x *parser) end() error {
	x.what = "the end of the file"
	for _, want := range []json.Delim{']', '}'} {
		if err := x.token(want); err != nil {
			return err
		}
	}
	x.allow()
	_, err := x.dec.Token()
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err == nil, errors.As(err, new(*json.SyntaxError)):
		return x.wrong(fault.Invalid, "something stands behind it")
	}
	return x.because(err)
}

package books

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/ctxd/ctxd/context/books/convert"
	"github.com/ctxd/ctxd/entities/fault"
)

// Frames between a Store and its child: a byte of kind, the length of the body as a uint32 (little endian), the body. The child
// begins with a hello. To a request, which the bytes of the file follow, it answers with pages, one head, the passages, and one
// end; or with an error.
const (
	frameHello    byte = 'h' // JSON: the protocol, a number
	frameRequest  byte = 'r' // JSON: request
	frameProgress byte = 'g' // JSON: [done, total]
	frameHead     byte = 'd' // JSON: made
	framePassage  byte = 'p' // a passage as it is stored
	frameEnd      byte = 'z' // JSON: ending
)

// childProtocol is another one whenever a frame changes: the program on disk may be newer than the daemon that starts it.
const childProtocol = 1

const (
	maxFrame    = 64 << 10 // of the child; its largest is a passage with six headings above it
	maxHeadSize = 512 << 10
)

// request asks for a file to be converted.
type request struct {
	Format convert.Format `json:"format"`
	Size   int64          `json:"size"`
}

// made is what the child says of a document before its passages.
type made struct {
	Title    string `json:"title,omitempty"`
	Author   string `json:"author,omitempty"`
	Pages    int    `json:"pages,omitempty"`
	Empty    []int  `json:"empty,omitempty"`
	Passages int    `json:"passages"`
}

// ending ends the answer to a request.
type ending struct {
	Kind string `json:"kind,omitempty"` // of the error; "": there is none
	Msg  string `json:"msg,omitempty"`
	Hint string `json:"hint,omitempty"`
	Last bool   `json:"last,omitempty"` // the child ends
}

// errorKinds are the kinds of errors that a child tells, by their names.
var errorKinds = map[string]fault.Kind{
	fault.Invalid.String(): fault.Invalid, fault.Limit.String(): fault.Limit, fault.Unavailable.String(): fault.Unavailable,
}

// endingOf is the end of an answer.
func endingOf(err error) ending {
	var known *fault.Error
	switch {
	case err == nil:
		return ending{}
	case errors.As(err, &known) && errorKinds[known.Kind.String()] == known.Kind:
		return ending{Kind: known.Kind.String(), Msg: known.Msg, Hint: known.Hint}
	}
	return ending{Kind: fault.Invalid.String(), Msg: "the file is broken", Hint: "save it again in the program that made it"}
}

// err is the error that an ending tells.
func (e ending) err() error {
	if e.Kind == "" {
		return nil
	}
	kind, ok := errorKinds[e.Kind]
	if !ok {
		return broken("an error of kind %q", e.Kind)
	}
	return &fault.Error{Kind: kind, Msg: e.Msg, Hint: e.Hint}
}

// brokenChild is an answer that no child of ours gives.
type brokenChild struct{ what string }

func (e *brokenChild) Error() string {
	return "the process that reads files answers wrongly: " + e.what
}

func broken(format string, args ...any) error { return &brokenChild{fmt.Sprintf(format, args...)} }

func writeFrame(w io.Writer, kind byte, body []byte) error {
	if _, err := w.Write(binary.LittleEndian.AppendUint32([]byte{kind}, uint32(len(body)))); err != nil {
		return err
	}
	_, err := w.Write(body)
	return err
}

func writeJSON(w io.Writer, kind byte, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return writeFrame(w, kind, body)
}

// readFrame reads a frame into space, which it returns, grown.
func readFrame(r *bufio.Reader, space []byte) (kind byte, body, grown []byte, err error) {
	var lead [5]byte
	if _, err := io.ReadFull(r, lead[:]); err != nil {
		return 0, nil, space, err
	}
	most, n := uint32(maxFrame), binary.LittleEndian.Uint32(lead[1:])
	if lead[0] == frameHead {
		most = maxHeadSize
	}
	if n > most {
		return 0, nil, space, broken("a frame of %d bytes", n)
	}
	if int(n) > cap(space) {
		space = make([]byte, n)
	}
	body = space[:n]
	_, err = io.ReadFull(r, body)
	return lead[0], body, space, err
}

// passageOf reads a passage of a child.
func passageOf(body []byte) (CutPassage, error) {
	p, err := decode(string(body))
	if err != nil {
		return CutPassage{}, broken("a malformed passage")
	}
	if !utf8.Valid(body) || utf8.RuneCountInString(p.Text) > MaxPassage {
		return CutPassage{}, broken("a passage of %d bytes", len(body))
	}
	return p.CutPassage, nil
}

package exchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/text"
)

// listStart begins a list of objects.
var listStart = text.Pattern(`^\[\s*(?:[{\]\[\d]|$)`)

// detectWithin is how many lines of a file tell its format.
const detectWithin = 1000

// detect tells the format of a file by its beginning.
func detect(path string) (string, error) {
	in, err := os.Open(path)
	if err != nil {
		return "", unreadable(err)
	}
	defer func() { _ = in.Close() }() // it was only read
	return detectIn(newReader(in))
}

func detectIn(r *reader) (string, error) {
	start, err := r.in.Peek(1 << 12)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", unreadable(err)
	}
	text := bytes.TrimLeft(start, " \t\r\n")
	switch {
	case bytes.HasPrefix(text, []byte(readableHead)):
		return "", fault.Field("path", "the file is an export for people to read, which is not imported").
			WithHint("import an export of the format jsonl")
	case listStart().Match(text):
		return Mem0, nil
	case bytes.HasPrefix(text, []byte("{")):
		var h header
		if json.Unmarshal(firstLine(text), &h) == nil && h.Format == formatName {
			return JSONL, nil
		}
		return Mem0, nil
	}
	for range detectWithin {
		line, err := r.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", err
		}
		if _, _, ok := observed(string(line)); ok || r.line == 1 && strings.TrimSpace(string(line)) == "---" {
			return BasicMemory, nil
		}
	}
	return Lines, nil
}

func firstLine(text []byte) []byte {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return line
}

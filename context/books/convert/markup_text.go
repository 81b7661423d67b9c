package convert

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"github.com/ctxd/ctxd/entities/fault"
)

// decodeText returns bytes as a text. kind is a content type that may say the encoding, such as text/html.
func decodeText(data []byte, kind string) (string, error) {
	if rest, ok := bytes.CutPrefix(data, []byte("\xEF\xBB\xBF")); ok {
		data = rest
	}
	if len(data) >= 2 && (data[0] == 0xFE && data[1] == 0xFF || data[0] == 0xFF && data[1] == 0xFE) {
		return decode16(data[2:], data[0] == 0xFE), nil
	}
	if big, ok := looks16(data); ok {
		return decode16(data, big), nil
	}
	if utf8.Valid(data) {
		if e := stateful(data); e != nil {
			if text, err := e.NewDecoder().Bytes(data); err == nil && !bytes.ContainsRune(text, utf8.RuneError) {
				return string(text), nil
			}
		}
		return string(data), nil
	}
	_, name, certain := charset.DetermineEncoding(data[:min(len(data), 1024)], kind)
	if !certain {
		name = ""
	}
	text, ok := decodeLocal(data, name)
	if !ok {
		return "", fault.New(fault.Invalid, "the encoding of the text is not known").WithHint("save it as UTF-8, and add it again")
	}
	return text, nil
}

// Head returns the beginning of the text of a file, where frontmatter stands; empty for a file that is no text.
func Head(format Format, file io.ReaderAt) string {
	if !slices.Contains([]Format{Markdown, Text, HTML, CSV}, format) {
		return ""
	}
	head := make([]byte, sampled)
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return ""
	}
	head = head[:n]
	if text, err := decodeText(head, string(format)); err == nil {
		return text
	}
	return string(head)
}

// looks16 reports whether bytes are UTF-16 without a mark: in a text with ASCII in it every second byte is 0.
func looks16(data []byte) (big, ok bool) {
	var zero [2]int
	sample := data[:min(len(data), 4096)]
	for i, c := range sample {
		if c == 0 {
			zero[i%2]++
		}
	}
	most, least := max(zero[0], zero[1]), min(zero[0], zero[1])
	return zero[0] > zero[1], most > len(sample)/4 && least <= most/20
}

func decode16(data []byte, big bool) string {
	units := make([]uint16, 0, len(data)/2)
	for ; len(data) >= 2; data = data[2:] {
		if big {
			units = append(units, uint16(data[0])<<8|uint16(data[1]))
		} else {
			units = append(units, uint16(data[1])<<8|uint16(data[0]))
		}
	}
	return string(utf16.Decode(units))
}

// convertText adds a plain text: paragraphs are parted by empty lines, pages by form feeds.
func convertText(b *Builder, text string) error {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	paged := strings.Contains(text, "\f")
	broken := hyphensOfText(text)
	page := 0
	for sheet := range strings.SplitSeq(text, "\f") {
		if paged {
			page++
			if strings.TrimSpace(sheet) != "" {
				b.SetPages(page)
			}
		}
		start, at := 0, 0
		add := func(end int) error {
			text := sheet[start:end]
			if broken != nil {
				text = broken.unwrapped(text)
			}
			return b.Add(Block{Text: text, Page: page})
		}
		for line := range strings.Lines(sheet) {
			next := at + len(line)
			if strings.TrimSpace(line) == "" {
				if err := add(at); err != nil {
					return err
				}
				start = next
			}
			at = next
		}
		if err := add(at); err != nil {
			return err
		}
	}
	return nil
}

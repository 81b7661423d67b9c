package markdown

import (
	"strings"
)

// Link is one wikilink: !?[[target(#heading|#^block)?(|alias)?]]. A Markdown link to a
// file is its destination alone: of [textBlock](x.md#heading) and ![textBlock](x.png), and of the
// definition [label]: x.md, which stands for all links that use the label.
type Link struct {
	Target  string // trimmed; "" for [[#heading]], a link into the note itself
	Heading string // after '#', trimmed; "A#B" for a heading under a heading
	Block   string // after '#^'
	Alias   string // after '|', trimmed
	Embed   bool   // written with a leading '!'

	// Markdown says that it is the destination of a Markdown link. Target is a path
	// without escapes then, which counts from the folder of the note first.
	Markdown bool

	Raw           string // as written, '!' and brackets included
	Line          int
	Start, End    int // of Raw, byte offsets into the source
	InFrontmatter bool
}

// Text returns what a reader sees in place of the link: the alias, else the
// target with its heading as written. A number as alias of an embed is the
// width of an image, not a text.
func (l Link) Text() string {
	switch {
	case l.Alias != "" && !(l.Embed && isImageSize(l.Alias)):
		return l.Alias
	case l.Target == "" && l.Heading != "":
		return l.Heading
	case l.Target == "":
		return l.Block
	case l.Heading != "":
		return l.Target + "#" + l.Heading
	}
	return l.Target
}

// Picture reports whether a link shows a picture, which is no note: ![[photo.png]].
func (l Link) Picture() bool { return l.Embed && IsPicturePath(l.Target) }

// ParseTarget reads the text between [[ and ]]. Only Target, Heading, Block
// and Alias are set. "\|" counts as the separator, since that is how a link
// with an alias is written inside a table.
func ParseTarget(inner string) Link {
	var l Link
	if i := strings.IndexByte(inner, '|'); i >= 0 {
		l.Alias = strings.TrimSpace(inner[i+1:])
		inner = strings.TrimSuffix(inner[:i], `\`)
	}
	if i := headingMark(inner); i >= 0 {
		part := strings.TrimSpace(inner[i+1:])
		inner = inner[:i]
		if block, ok := strings.CutPrefix(part, "^"); ok {
			l.Block = block
		} else {
			l.Heading = part
		}
	}
	l.Target = strings.TrimSpace(inner)
	return l
}

// headingMark returns where the '#' stands that ends a target, -1 for nowhere. That of a
// character reference, as in &#32;, does not.
func headingMark(inner string) int {
	for at := 0; ; {
		next := strings.IndexByte(inner[at:], '#')
		if next < 0 {
			return -1
		}
		at += next
		if !inCharRef(inner, at) {
			return at
		}
		at++
	}
}

// ParseLink reads a text that is exactly one wikilink, surrounding blanks
// apart, such as the value of a reference field. Start and End count from the
// first byte of text; Line is 1.
func ParseLink(text string) (Link, bool) {
	lead := len(text) - len(strings.TrimLeft(text, " \t\r\n"))
	t := strings.TrimSpace(text)
	n := linkLen(t)
	if n == 0 || n != len(t) {
		return Link{}, false
	}
	l := newLink(t)
	l.Line, l.Start, l.End = 1, lead, lead+n
	return l, !l.empty()
}

// IsLink reports whether a text is exactly one wikilink, without blanks around, or the
// destination of a Markdown link to a file.
func IsLink(text string) bool {
	if !isWikilink(text) {
		return isFileDest(text)
	}
	if c := text[len("[[")]; 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' {
		return true // it names something
	}
	return !newLink(text).empty()
}

func isWikilink(text string) bool { return text != "" && linkLen(text) == len(text) }

// ReadLink reads a text for which IsLink holds. It does not set where the link
// stands.
func ReadLink(text string) Link {
	if IsDest(text) {
		return newFileLink(text)
	}
	return newLink(text)
}

// IsDest reports whether a text for which IsLink holds is that of a Markdown link.
func IsDest(text string) bool {
	return !strings.HasPrefix(text, "[[") && !strings.HasPrefix(text, "![[")
}

// newLink reads a link as written. The caller has checked the brackets.
func newLink(raw string) Link {
	inner, embed := raw, false
	if inner[0] == '!' {
		inner, embed = inner[1:], true
	}
	l := ParseTarget(inner[2 : len(inner)-2])
	l.Embed, l.Raw = embed, raw
	return l
}

// empty reports a link that names nothing: [[]], [[ ]], [[#]], [[|x]].
func (l Link) empty() bool {
	return l.Target == "" && l.Heading == "" && l.Block == ""
}

// isImageSize reports "300" and "300x200".
func isImageSize(s string) bool {
	digits := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case '0' <= c && c <= '9':
			digits = true
		case c == 'x' && digits && i+1 < len(s):
		default:
			return false
		}
	}
	return digits
}

package notes

// This file turns the files of note apps that are no Markdown, but hold texts and
// links of a person, into Markdown that the store of notes reads: canvases (.canvas, the
// JSON Canvas format, https://jsoncanvas.org) and bases (.base, YAML).
//
// Of a canvas, the cards are read from the top to the bottom, then from the left to the
// right: text cards as their text, cards that show a note or a file as a link to it, web
// cards as their address, groups and arrows as their labels. A base is read as it is
// written: its links count, and the names of its views and filters are found.
//
// The first line of each is the name of the file as a heading, so that nothing in a card
// is taken for frontmatter.
//
// Functions are pure: text in, text out, in time linear in the text.

import (
	"cmp"
	"encoding/json"
	"errors"
	"path"
	"slices"
	"strings"
)

// The kinds of notes that are no Markdown.
const (
	KindCanvas = "canvas"
	KindBase   = "base"
)

// FileKind returns the kind of note that a file is by its name, "" for all others.
func FileKind(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".canvas":
		return KindCanvas
	case ".base":
		return KindBase
	}
	return ""
}

// fileTitle returns the name of such a file without its ending.
func fileTitle(name string) string {
	return strings.TrimSuffix(path.Base(name), path.Ext(name))
}

// CanvasMarkdown returns the Markdown of a file of that name.
func CanvasMarkdown(name, source string) (string, error) {
	var b strings.Builder
	b.Grow(len(source) + len(name))
	b.WriteString("# " + strings.ReplaceAll(fileTitle(name), "\n", " ") + "\n")
	if FileKind(name) == KindBase {
		b.WriteString("\n" + source)
		return b.String(), nil
	}
	if strings.TrimSpace(source) == "" { // as a note app makes it
		return b.String(), nil
	}
	var c drawing
	if err := json.Unmarshal([]byte(source), &c); err != nil {
		return "", errors.New("not a canvas that can be read")
	}
	slices.SortStableFunc(c.Nodes, func(a, b node) int { return cmp.Or(cmp.Compare(a.Y, b.Y), cmp.Compare(a.X, b.X)) })
	for _, n := range c.Nodes {
		addPart(&b, n.markdown())
	}
	for _, e := range c.Edges {
		addPart(&b, e.Label)
	}
	return b.String(), nil
}

// addPart adds a card, a blank line before it.
func addPart(b *strings.Builder, text string) {
	text = strings.TrimRight(strings.ReplaceAll(text, "\x00", ""), " \t\r\n")
	if strings.TrimSpace(text) == "" {
		return
	}
	b.WriteString("\n" + text + "\n")
	if fence := openFence(text); fence != "" {
		b.WriteString(fence + "\n") // what follows is another card
	}
}

// openFence returns the fence that a card has opened and not closed, "" for none.
func openFence(text string) (fence string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		run := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		if run == "" {
			run = line[:len(line)-len(strings.TrimLeft(line, "~"))]
		}
		switch {
		case len(run) < len("```"):
		case fence == "":
			fence = run
		case run[0] == fence[0] && len(run) >= len(fence) && run == line:
			fence = ""
		}
	}
	return fence
}

// drawing is a canvas, as far as it is read.
type drawing struct {
	Nodes []node `json:"nodes"`
	Edges []struct {
		Label string `json:"label"`
	} `json:"edges"`
}

// node is a card or a group.
type node struct {
	Type    string  `json:"type"`
	X       float64 `json:"x"`
	Y       float64 `json:"y"`
	Text    string  `json:"text"`
	File    string  `json:"file"`
	Subpath string  `json:"subpath"`
	URL     string  `json:"url"`
	Label   string  `json:"label"`
}

func (n *node) markdown() string {
	switch n.Type {
	case "text":
		return n.Text
	case "file":
		target := strings.TrimSpace(n.File)
		if target == "" || strings.ContainsAny(target+n.Subpath, "[]|\n\r") || strings.Contains(target, "#") {
			return target // no link can say it
		}
		if strings.HasPrefix(n.Subpath, "#") {
			target += n.Subpath
		}
		return "[[" + target + "]]"
	case "link":
		return n.URL
	case "group":
		return n.Label
	}
	return ""
}

package canvas

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
	Canvas = "canvas"
	Base   = "base"
)

// KindOf returns the kind of note that a file is by its name, "" for all others.
func KindOf(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".canvas":
		return Canvas
	case ".base":
		return Base
	}
	return ""
}

// TitleOf returns the name of such a file without its ending.
func TitleOf(name string) string {
	return strings.TrimSuffix(path.Base(name), path.Ext(name))
}

// Text returns the Markdown of a file of that name.
func Text(name, source string) (string, error) {
	var b strings.Builder
	b.Grow(len(source) + len(name))
	b.WriteString("# " + strings.ReplaceAll(TitleOf(name), "\n", " ") + "\n")
	if KindOf(name) == Base {
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

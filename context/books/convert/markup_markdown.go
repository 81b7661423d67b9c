package convert

import (
	"strings"

	"github.com/ctxd/ctxd/notes/markdown"
)

// convertMarkdown adds a text in Markdown. Its links and its emphasis keep their marks: they say what a text refers
// to, and a model reads them.
func convertMarkdown(b *Builder, src string) error {
	b.SetTitle(titleOf(src))
	_, at := markdown.SplitFrontmatter(src)
	var err error
	markdown.Headings(src, func(h markdown.Heading) {
		if err == nil {
			err = section(b, src[at:h.Start])
		}
		if err == nil {
			err = b.Add(Block{Kind: HeadingBlock, Level: h.Level, Text: headingOf(src[h.Start:h.End])})
		}
		at = h.End
	})
	if err == nil {
		err = section(b, src[at:])
	}
	return err
}

// headingOf is the text of a heading as it is written, without the marks of a heading.
func headingOf(lines string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(lines), "\n")
	text := strings.TrimLeft(first, "#")
	if text != first {
		text = strings.TrimRight(strings.TrimSpace(text), "#")
	}
	return text
}

// titleOf returns the title of the frontmatter, "" for none.
func titleOf(src string) string {
	yaml, _ := markdown.SplitFrontmatter(src)
	if !yaml.Found {
		return ""
	}
	fields, err := markdown.ReadFrontmatter(src[yaml.Start:yaml.End], 1)
	if err != nil {
		return ""
	}
	for _, f := range fields.Fields {
		if texts := f.Texts(); markdown.MatchesKey(f.Key, "title") && len(texts) > 0 {
			return texts[0]
		}
	}
	return ""
}

// section adds what stands between two headings: paragraphs, items, tables and code.
func section(b *Builder, src string) error {
	p := paragraphs{b: b}
	for line := range strings.Lines(src) {
		if err := p.line(line); err != nil {
			return err
		}
	}
	return p.end()
}

// paragraphs are read line by line.
type paragraphs struct {
	b     *Builder
	text  strings.Builder
	fence string // that ends the code, "" outside of one
	table *TableBuilder
	lined bool // the line of dashes of the table was seen
	rows  int
}

func (p *paragraphs) line(line string) error {
	mark := fenceOf(line)
	switch {
	case p.fence != "":
		if mark != "" && strings.HasPrefix(mark, p.fence) && strings.TrimSpace(line) == mark {
			p.fence = ""
			code := p.text.String()
			p.text.Reset()
			return p.b.Add(Block{Kind: CodeBlock, Text: code})
		}
		p.text.WriteString(line)
		return nil
	case mark != "":
		if err := p.end(); err != nil {
			return err
		}
		p.fence = mark
		return nil
	case strings.TrimSpace(line) == "":
		return p.end()
	case isRow(line):
		return p.row(line)
	}
	if p.table != nil || markdown.ListMark(strings.TrimLeft(line, " \t")) > 0 {
		if err := p.end(); err != nil {
			return err
		}
	}
	p.text.WriteString(line)
	return nil
}

// row adds a line of a table.
func (p *paragraphs) row(line string) error {
	if p.table == nil {
		if err := p.end(); err != nil {
			return err
		}
		p.table, p.rows, p.lined = p.b.Table(), 0, false
	}
	if strings.Count(line, "|") > 2*maxRowCells { // some may be escaped
		return tooWide()
	}
	cells := cellsOf(line)
	if p.rows == 1 && isRule(cells) {
		p.lined = true
		return nil
	}
	p.rows++
	return p.table.Row(cells, p.rows == 1, 0)
}

// end ends what is open.
func (p *paragraphs) end() error {
	if p.table != nil {
		t := p.table
		p.table = nil
		return t.Close()
	}
	text := p.text.String()
	p.text.Reset()
	if p.fence != "" {
		p.fence = ""
		return p.b.Add(Block{Kind: CodeBlock, Text: text})
	}
	return p.b.Add(Block{Text: text})
}

// fenceOf returns the mark of three or more that begins a line, "" for none.
func fenceOf(line string) string {
	line = strings.TrimLeft(line, " \t")
	for _, c := range [...]string{"`", "~"} {
		n := len(line) - len(strings.TrimLeft(line, c))
		if n >= 3 && (c == "~" || !strings.Contains(line[n:], c)) {
			return line[:n]
		}
	}
	return ""
}

// isRow reports a line that begins and ends with a bar.
func isRow(line string) bool {
	line = strings.TrimSpace(line)
	return len(line) > 2 && line[0] == '|' && line[len(line)-1] == '|'
}

func cellsOf(line string) []string {
	line = strings.TrimSpace(line)
	line = strings.ReplaceAll(line[1:len(line)-1], `\|`, "\x00")
	cells := strings.Split(line, "|")
	for i, c := range cells {
		cells[i] = strings.TrimSpace(strings.ReplaceAll(c, "\x00", "|"))
	}
	return cells
}

// isRule reports the line between the names of columns and the rows.
func isRule(cells []string) bool {
	for _, c := range cells {
		if strings.Trim(c, ":-") != "" || !strings.Contains(c, "-") {
			return false
		}
	}
	return true
}

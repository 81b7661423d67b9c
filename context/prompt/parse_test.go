package prompt_test

import (
	"fmt"
	"strings"

	"github.com/ctxd/ctxd/context/prompt"
)

// parsed is what a reader gets back out of a prompt.
type parsed struct {
	sections []string
	items    []parsedItem
}

type parsedItem struct {
	section string
	kind    string // note, entity, line
	id      string
	title   string
	typ     string
	via     string
	text    string // of a note
	fields  [][2]string
	partial bool // "(further references not expanded)"
}

// parse reads a prompt by its documented format and nothing else. It fails on
// any line that the format does not explain.
func parse(s string) (*parsed, error) {
	p := &parsed{}
	lines := strings.Split(s, "\n")
	section := ""
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		switch {
		case line == "":
		case strings.HasPrefix(line, "## "):
			section = line[3:]
			p.sections = append(p.sections, section)
			if section != "Calendar" && section != "Open action items" {
				i++ // the introduction
			}
		case strings.HasPrefix(line, "### [["):
			item, err := parseNoteHead(line)
			if err != nil {
				return nil, err
			}
			var body []string
			for i++; i < len(lines) && lines[i] != "---"; i++ {
				body = append(body, lines[i])
			}
			if i == len(lines) {
				return nil, fmt.Errorf("note %s has no end", item.id)
			}
			item.section, item.text = section, prompt.UnescapeText(strings.Join(body, "\n"))
			p.items = append(p.items, *item)
		case strings.HasPrefix(line, "### @"):
			item, err := parseEntityHead(line)
			if err != nil {
				return nil, err
			}
			for ; i+1 < len(lines) && strings.HasPrefix(lines[i+1], "  "); i++ {
				if lines[i+1] == "  (further references not expanded)" {
					item.partial = true
					continue
				}
				name, value, ok := strings.Cut(lines[i+1][2:], ": ")
				if !ok {
					return nil, fmt.Errorf("no field: %q", lines[i+1])
				}
				item.fields = append(item.fields, [2]string{prompt.UnescapeInline(name), prompt.UnescapeInline(value)})
			}
			item.section = section
			p.items = append(p.items, *item)
		case strings.HasPrefix(line, "- "):
			p.items = append(p.items, parsedItem{section: section, kind: "line", text: line[2:]})
		default:
			return nil, fmt.Errorf("line %d is no structure: %q", i+1, line)
		}
	}
	return p, nil
}

// bare returns the position of the first occurrence of mark whose first byte
// no backslash marks, from a position on.
func bare(s, mark string, from int) int {
	for i := from; i+len(mark) <= len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte(`\[]`, s[i+1]) >= 0 {
			i++
			continue
		}
		if strings.HasPrefix(s[i:], mark) {
			return i
		}
	}
	return -1
}

func parseNoteHead(line string) (*parsedItem, error) {
	inner := line[len("### [["):]
	end := bare(inner, "]] [id:", 0)
	if end < 0 || !strings.HasSuffix(inner, "]") {
		return nil, fmt.Errorf("no note heading: %q", line)
	}
	return &parsedItem{
		kind: "note", title: prompt.UnescapeInline(inner[:end]),
		id: strings.TrimSuffix(inner[end+len("]] [id:"):], "]"),
	}, nil
}

func parseEntityHead(line string) (*parsedItem, error) {
	rest := line[len("### @"):]
	at := bare(rest, ") [id:", 0)
	if at < 0 {
		return nil, fmt.Errorf("no entity heading: %q", line)
	}
	name, tail := rest[:at], rest[at+len(") [id:"):]
	open := strings.LastIndex(name, " (")
	id, via, _ := strings.Cut(tail, "]")
	if open < 0 {
		return nil, fmt.Errorf("no type: %q", line)
	}
	return &parsedItem{
		kind: "entity", title: prompt.UnescapeInline(name[:open]), typ: prompt.UnescapeInline(name[open+2:]), id: id,
		via: strings.TrimPrefix(via, "  ← "),
	}, nil
}

package prompt_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/text"
)

// parsed is what a reader gets back out of a prompt.
type parsed struct {
	sections []string
	items    []parsedItem
}

type parsedItem struct {
	section string // by the name that reports give it
	kind    string // note, entity, event, action, memory
	id      string
	title   string
	typ     string
	why     string
	vault   string // of a note, where its heading says it
	note    string // of an entity, where its heading says it
	text    string // of a note or memory
	fields  []parsedField
	partial bool // "(further references not expanded)"
	bound   string
}

// parsedField is a field of an entity, or a part of an event or action.
type parsedField struct {
	name  string
	parts []part
}

// part is a text, or a reference to a record.
type part struct{ kind, id, text string }

var markdownSections = map[string]string{
	"Notes pinned by user": "pinned", "Entity context": "entities", "Notes linked via entity fields": "linked",
	"Notes found by search": "search", "Calendar": "calendar", "Open action items": "actions",
	"What the user referred to": "referenced", "Memory": "memory", "Passages": "passages",
}

// parseMarkdown reads a prompt by its documented format and nothing else. It
// fails on any line that the format does not explain.
func parseMarkdown(s string) (*parsed, error) {
	p := &parsed{}
	lines := strings.Split(s, "\n")
	section := ""
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		switch {
		case line == "":
		case strings.HasPrefix(line, "## "):
			section = markdownSections[line[3:]]
			if section == "" {
				return nil, fmt.Errorf("no section: %q", line)
			}
			p.sections = append(p.sections, section)
			if section != "calendar" && section != "actions" && section != "referenced" {
				i++ // the introduction
			}
		case strings.HasPrefix(line, "### [["), strings.HasPrefix(line, "### Passage [") && section == "passages":
			read := parseNoteHead
			if section == "passages" {
				read = parsePassageHead
			}
			item, err := read(line)
			if err != nil {
				return nil, err
			}
			var body []string
			for i++; i < len(lines) && lines[i] != "---"; i++ {
				if strings.HasPrefix(lines[i], "## ") || strings.HasPrefix(lines[i], "### ") || strings.HasPrefix(lines[i], "---\r") {
					return nil, fmt.Errorf("note %s holds structure: %q", item.id, lines[i])
				}
				body = append(body, lines[i])
			}
			if i == len(lines) {
				return nil, fmt.Errorf("note %s has no end", item.id)
			}
			item.section, item.text = section, strings.Join(body, "\n")
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
				item.fields = append(item.fields, parsedField{prompt.UnescapeLine(name), parseValue(value)})
			}
			item.section = section
			p.items = append(p.items, *item)
		case strings.HasPrefix(line, "- ") && section == "calendar", strings.HasPrefix(line, "- ") && section == "actions":
			item, err := parseLine(section, line[2:])
			if err != nil {
				return nil, err
			}
			p.items = append(p.items, *item)
		case strings.HasPrefix(line, "### ") && section == "memory" && slices.Contains(parts, line[4:]):
		case strings.HasPrefix(line, "- [") && (section == "referenced" || section == "memory"):
			for ; i+1 < len(lines) && strings.HasPrefix(lines[i+1], "  "); i++ {
				line += "\n" + unstart(lines[i+1][2:])
			}
			found := memoryLine.FindStringSubmatch(line)
			if found == nil {
				return nil, fmt.Errorf("no memory: %q", line)
			}
			item := parsedItem{
				section: section, kind: "memory", title: unmarked(found[1]), typ: unmarked(found[2]), text: unmarked(found[3]),
				why: unmarked(found[5]), id: found[6],
			}
			for _, other := range contradicts.FindAllStringSubmatch(found[4], -1) {
				item.fields = append(item.fields, parsedField{"contradicts", []part{{text: unmarked(other[1])}}})
			}
			p.items = append(p.items, item)
		default:
			return nil, fmt.Errorf("line %d is no structure: %q", i+1, line)
		}
	}
	return p, nil
}

// parts are the headings in the section of what is remembered.
var parts = []string{"What is known about the user", "Pinned", "Facts", "Episodes", "Insight"}

// memoryLine is a memory: its label, kind, statement, what it contradicts, question and id. In the texts every
// bracket has a backslash.
var memoryLine = regexp.MustCompile(
	`(?s)^- (?:\[((?:[^\\\[\]]|\\.)*)\] )?\[((?:[^\\\[\]]|\\.)*)\] ((?:[^\\\[\]()]|\\.)*)((?: \(contradicts: (?:[^\\()]|\\.)*\))*)` +
		`(?: \(answers: ((?:[^\\()]|\\.)*)\))? \[id:([^\[\]]+)\]$`)

var contradicts = regexp.MustCompile(`(?s) \(contradicts: ((?:[^\\()]|\\.)*)\)`)

var marked = regexp.MustCompile(`(?s)\\(.)`)

func unmarked(s string) string { return marked.ReplaceAllString(s, "$1") }

// unstart takes the backslash away by which a line cannot be taken for a heading or a rule.
func unstart(s string) string {
	first := strings.IndexFunc(s, func(r rune) bool { return !text.IsIndent(r) })
	if first < 0 {
		return s
	}
	return s[:first] + strings.TrimPrefix(s[first:], `\`)
}

// parseValue reads a value: references, or a text.
func parseValue(s string) []part {
	if refs, ok := parseRefs(s); ok {
		return refs
	}
	return []part{{text: prompt.UnescapeInline(s)}}
}

var moreMark = regexp.MustCompile(`^ \(\+(\d+) more\)$`)

// unresolved is how a reference begins that leads nowhere.
const unresolved = "(unresolved) [["

func parseRefs(s string) (refs []part, ok bool) {
	for found := false; ; {
		switch {
		case strings.HasPrefix(s, "(deleted)"), strings.HasPrefix(s, "(archived)"), strings.HasPrefix(s, "(private)"):
			end := strings.IndexByte(s, ')')
			refs, s = append(refs, part{kind: s[1:end]}), s[end+1:]
		case strings.HasPrefix(s, unresolved):
			at := bare(s[len(unresolved):], "]]", 0)
			if at < 0 {
				return nil, false
			}
			name := s[len(unresolved) : len(unresolved)+at]
			refs, s = append(refs, part{kind: "unresolved", text: prompt.UnescapeInline(name)}), s[len(unresolved)+at+len("]]"):]
		case strings.HasPrefix(s, "@"), strings.HasPrefix(s, "[["):
			kind, open, mark := "entity", "@", " [id:"
			if s[0] == '[' {
				kind, open, mark = "note", "[[", "]] [id:"
			}
			at := bare(s[len(open):], mark, 0)
			if at < 0 {
				return nil, false
			}
			name, rest := s[len(open):len(open)+at], s[len(open)+at+len(mark):]
			end := strings.IndexByte(rest, ']')
			if end < 0 {
				return nil, false
			}
			refs, s, found = append(refs, part{kind, rest[:end], prompt.UnescapeInline(name)}), rest[end+1:], true
		default:
			return nil, false
		}
		if m := moreMark.FindStringSubmatch(s); m != nil {
			return append(refs, part{kind: "more", text: m[1]}), true
		}
		if s == "" {
			return refs, found || len(refs) > 0
		}
		if !strings.HasPrefix(s, ", ") {
			return nil, false
		}
		s = s[2:]
	}
}

// parseLine reads an event or an action.
func parseLine(section, line string) (*parsedItem, error) {
	item := &parsedItem{section: section, kind: "event"}
	if section == "actions" {
		at := bare(line, " [id:", 0)
		if at < 0 {
			return nil, fmt.Errorf("no id: %q", line)
		}
		item.kind, item.id, line = "action", strings.TrimSuffix(line[at+len(" [id:"):], "]"), line[:at]
	}
	for first := true; ; first = false {
		end := bare(line, " | ", 0)
		cell := line
		if end >= 0 {
			cell = line[:end]
		}
		if first {
			item.title = prompt.UnescapeCell(cell)
		} else if name, value, ok := strings.Cut(cell, ": "); ok {
			item.fields = append(item.fields, parsedField{name, []part{{text: prompt.UnescapeCell(value)}}})
		} else {
			return nil, fmt.Errorf("no part of a line: %q", cell)
		}
		if end < 0 {
			return item, nil
		}
		line = line[end+len(" | "):]
	}
}

// bare returns the position of the first occurrence of mark whose first byte
// no backslash marks, from a position on.
func bare(s, mark string, from int) int {
	for i := from; i+len(mark) <= len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte(`\[]|`, s[i+1]) >= 0 {
			i++
			continue
		}
		if strings.HasPrefix(s[i:], mark) {
			return i
		}
	}
	return -1
}

func parsePassageHead(line string) (*parsedItem, error) {
	inner, _ := strings.CutPrefix(line, "### Passage [")
	end := bare(inner, "] [id:", 0)
	if end < 0 || !strings.HasSuffix(inner, "]") {
		return nil, fmt.Errorf("no heading of a passage: %q", line)
	}
	return &parsedItem{kind: "passage", title: prompt.UnescapeInline(inner[:end]), id: inner[end+len("] [id:") : len(inner)-1]}, nil
}

func parseNoteHead(line string) (*parsedItem, error) {
	inner := line[len("### [["):]
	end := bare(inner, "]] [id:", 0)
	if end < 0 {
		return nil, fmt.Errorf("no note heading: %q", line)
	}
	id, vault, ok := strings.Cut(inner[end+len("]] [id:"):], "]")
	if vault != "" && ok {
		vault, ok = strings.CutPrefix(vault, " (vault ")
		ok = ok && strings.HasSuffix(vault, ")")
		vault = strings.TrimSuffix(vault, ")")
	}
	if !ok {
		return nil, fmt.Errorf("no note heading: %q", line)
	}
	return &parsedItem{
		kind: "note", title: prompt.UnescapeInline(inner[:end]), id: id, vault: prompt.UnescapeInline(vault),
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
	id, why, _ := strings.Cut(tail, "]")
	if open < 0 {
		return nil, fmt.Errorf("no type: %q", line)
	}
	note := ""
	if own, ok := strings.CutPrefix(why, " [["); ok {
		end := bare(own, "]]", 0)
		if end < 0 {
			return nil, fmt.Errorf("no note of an entity: %q", line)
		}
		note, why = own[:end], own[end+len("]]"):]
	}
	return &parsedItem{
		kind: "entity", title: prompt.UnescapeInline(name[:open]), typ: prompt.UnescapeInline(name[open+2:]), id: id, note: prompt.UnescapeInline(note),
		why: strings.TrimPrefix(why, "  ← "),
	}, nil
}

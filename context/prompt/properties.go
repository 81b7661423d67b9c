package prompt

// Properties are the frontmatter of a note in words: what a prompt, MCP and ctxd inspect note show of it as "key:
// value", and what a search finds.
//
// Making them is pure, and takes time linear in the length of the frontmatter. Private records are masked before, in
// the text (audience.View.Body).

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/notes/markdown"
)

// hidden are the keys that are said elsewhere, or only style a note.
var hidden = map[string]bool{
	"title": true, "alias": true, "aliases": true, "type": true, "private": true,
	"cssclass": true, "cssclasses": true,
}

// SplitProperties returns the properties of a whole note in the order of its frontmatter, without
// empty ones, and the text behind the frontmatter. Of frontmatter that can't be read
// there are none.
func SplitProperties(note string) (list []Property, text string) {
	fields, text, _ := PropertyFields(note)
	return inWords(fields), text
}

// AllProperties returns the properties of a whole note as SplitProperties does, and the inline fields of its text with them:
// for who does not show the text beside them.
func AllProperties(note string) []Property {
	fields, _, _ := PropertyFields(note)
	return inWords(markdown.MergeInline(fields, note))
}

func inWords(fields []markdown.FrontmatterField) (list []Property) {
	for _, f := range fields {
		key, value := strings.ToLower(f.Key), words(f)
		if key == "tag" || key == "tags" {
			key, value = "tags", tags(f)
		} else {
			key = f.Key
		}
		if strings.TrimSpace(value) != "" {
			list = append(list, Property{Key: key, Value: value})
		}
	}
	return list
}

// PropertyFields returns those fields of the frontmatter of a whole note that are properties, and
// the text behind the frontmatter. It reports whether the frontmatter could be read.
func PropertyFields(note string) (list []markdown.FrontmatterField, text string, ok bool) {
	block, start := markdown.SplitFrontmatter(note)
	text = note[start:]
	if !block.Found {
		return nil, text, true
	}
	front, err := markdown.ReadFrontmatter(note[block.Start:block.End], block.Line)
	if err != nil {
		return nil, text, false
	}
	list = slices.DeleteFunc(front.Fields, func(f markdown.FrontmatterField) bool { return hidden[strings.ToLower(f.Key)] })
	return list, text, true
}

// words returns a value as text.
func words(f markdown.FrontmatterField) string {
	if texts := f.Texts(); texts != nil || f.Value == nil {
		return strings.Join(texts, ", ")
	}
	var b strings.Builder
	write(&b, f.Value)
	return b.String()
}

// tags returns the value of tags, without their marks.
func tags(f markdown.FrontmatterField) string {
	var names []string
	for _, text := range f.Texts() {
		list := []string{text}
		if f.IsScalar() {
			list = markdown.SplitTags(text)
		}
		for _, name := range list {
			if name = strings.TrimLeft(strings.TrimSpace(name), "#"); name != "" {
				names = append(names, name)
			}
		}
	}
	return strings.Join(names, ", ")
}

// write writes a list or a map, its keys in order.
func write(b *strings.Builder, value any) {
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			if i > 0 {
				b.WriteString(", ")
			}
			write(b, item)
		}
	case map[string]any:
		b.WriteByte('{')
		for i, key := range slices.Sorted(maps.Keys(value)) {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(key + ": ")
			write(b, value[key])
		}
		b.WriteByte('}')
	case nil:
	default:
		fmt.Fprint(b, value)
	}
}

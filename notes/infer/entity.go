package infer

import (
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes/frontmatter"
	"github.com/ctxd/ctxd/notes/markdown"
)

// reserved are the keys of frontmatter that describe the note itself. A type
// may still declare a field of such a name; an inferred type does not.
var reserved = map[string]bool{
	"type": true, "title": true, "name": true, "alias": true, "aliases": true, "tag": true, "tags": true,
	"private": true, "archived": true, "created": true, "updated": true, "id": true, "createdat": true,
	"updatedat": true,
	"cssclass":  true, "cssclasses": true, "publish": true,
}

// Type returns the type of entity that a text says it describes, "" for
// none.
func Type(doc *markdown.Document) string {
	f, ok := doc.Frontmatter.Get("type")
	if !ok {
		return ""
	}
	texts := f.Texts()
	if len(texts) != 1 {
		return ""
	}
	text := strings.TrimSpace(texts[0])
	if inner, ok := record.LinkTarget(text); ok { // type: [[Person]]
		text = markdown.ParseTarget(inner).Target
	}
	name, err := entities.CheckTypeName("type", text)
	if err != nil {
		return ""
	}
	return name
}

// TypeIn is Type for a text of which only the frontmatter is read.
func TypeIn(text string) string {
	front, _ := frontmatter.Split(text)
	if !front.Found {
		return ""
	}
	fields, err := frontmatter.Read(text[front.Start:front.End], front.Line)
	if err != nil {
		return ""
	}
	return Type(&markdown.Document{Frontmatter: fields})
}

// Values takes the values of a type's fields from the frontmatter, as
// they were written: the type says how they are to be read.
func Values(t *entities.Type, doc *markdown.Document) entities.Values {
	values := make(entities.Values)
	for _, f := range t.Fields {
		field, ok := doc.Frontmatter.Get(f.Name)
		if !ok || f.Type.IsComputed() {
			continue
		}
		switch texts := field.Texts(); {
		case field.Value == nil:
		case texts == nil:
			values[f.Name] = field.Value // a map or a list of lists, which is refused by name
		default:
			if _, isList := field.Value.([]any); isList {
				values[f.Name] = texts
			} else {
				values[f.Name] = texts[0]
			}
		}
	}
	return values
}

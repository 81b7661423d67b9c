package notes

// infer_*.go read from the frontmatter of notes what it says of the entities that the notes
// describe: their type, the fields that a type gets which nobody has declared, and the values of
// its fields. What is inferred depends on texts and on a type alone, and on no other note; the
// store of notes asks when a note is written, and notes/vault when it imports a vault. Functions
// keep nothing and may be called concurrently.

import (
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
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

// InferredType is one of the types of entity that a text says it describes.
type InferredType struct {
	Name    string
	Written string // as it stands in the frontmatter: a name, or a link
}

// Tag returns the tag that stands for a type which the entity is not of.
func (t InferredType) Tag() string {
	return strings.Trim(strings.TrimSpace(strings.TrimLeft(t.Name, "#")), "/")
}

// Source returns what a tag refers to, nil for nothing: a link has lost its marks.
func (t InferredType) Source() *markdown.Source {
	if _, ok := record.LinkTarget(t.Written); !ok {
		return nil
	}
	source := markdown.LinkSource(t.Tag(), t.Name, t.Written)
	return &source
}

// InferTypes returns the types of entity that a text says it describes, each once, in its
// order, and how many others can be no names of types.
func InferTypes(doc *markdown.Document) (types []InferredType, refused int) {
	f, ok := doc.Frontmatter.Get("type")
	if !ok || f.Value == nil {
		return nil, 0
	}
	texts := f.Texts()
	if texts == nil {
		return nil, 1
	}
	seen := make(map[string]bool)
	for _, text := range texts {
		text = strings.TrimSpace(text)
		name := text
		if inner, ok := record.LinkTarget(text); ok { // type: [[Person]]
			name = markdown.ParseTarget(inner).Target
		}
		if name == "" {
			continue
		}
		name, err := entities.CheckTypeName("type", name)
		if err != nil {
			refused++
			continue
		}
		if key := entities.Fold(name); !seen[key] {
			seen[key] = true
			types = append(types, InferredType{name, text})
		}
	}
	return types, refused
}

// ChooseType returns which of the types the entity is of, "" for none, and the others: the
// first that is declared, or the first of all when none is.
func ChooseType(types []InferredType, declared func(name string) bool) (name string, others []InferredType) {
	if len(types) == 0 {
		return "", nil
	}
	at := 0
	if len(types) > 1 {
		at = max(0, slices.IndexFunc(types, func(t InferredType) bool { return declared(t.Name) }))
	}
	return types[at].Name, slices.Concat(types[:at], types[at+1:])
}

// hasType reports whether a text says that it describes an entity. Only its frontmatter is
// read.
func hasType(text string) bool {
	return len(typesIn(text)) > 0
}

// HasSeveralTypes reports whether a text names several types.
func HasSeveralTypes(text string) bool {
	return len(typesIn(text)) > 1
}

func typesIn(text string) []InferredType {
	front, _ := markdown.SplitFrontmatter(text)
	if !front.Found {
		return nil
	}
	fields, err := markdown.ReadFrontmatter(text[front.Start:front.End], front.Line)
	if err != nil {
		return nil
	}
	types, _ := InferTypes(&markdown.Document{Frontmatter: fields})
	return types
}

// InferValues takes the values of a type's fields from the frontmatter and from the inline fields of the body, as they were
// written: the type says how they are to be read.
func InferValues(t *entities.Type, doc *markdown.Document) entities.Values {
	values := make(entities.Values)
	fields := doc.Fields()
	for _, f := range t.Fields {
		field, ok := FieldSaid(doc, fields, f)
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

// FieldSaid returns what a text says of a field of a type. fields are doc.Fields(). A list has what the frontmatter and the body
// say; of a single value the frontmatter goes before.
func FieldSaid(
	doc *markdown.Document, fields []markdown.FrontmatterField, f entities.Field,
) (markdown.FrontmatterField, bool) {
	own, ok := doc.Frontmatter.Get(f.Name)
	if ok && own.Value != nil && f.Type.Info().Item == "" {
		return own, true
	}
	return (&markdown.Frontmatter{Fields: fields}).Get(f.Name)
}

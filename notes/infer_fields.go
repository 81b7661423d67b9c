package notes

import (
	"cmp"
	"slices"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes/markdown"
)

// inferFields returns the fields that frontmatter of one type suggests, in the
// order in which they first occur. A field has the narrowest type that holds
// every value seen: a boolean, number, date, link or e-mail address only when
// all of them are, else a text; a list as soon as one is a list. The inline fields of
// bodies add values, and no field: a body may say anything.
func inferFields(docs []*markdown.Document) []entities.Field {
	var order []string
	seen := make(map[string]*evidence)
	for _, doc := range docs {
		if doc.Frontmatter == nil {
			continue
		}
		for _, f := range doc.Frontmatter.Fields {
			if !givesField(f) {
				continue
			}
			key := entities.Fold(f.Key)
			if _, err := entities.CheckType(entities.Type{
				Name:   "T",
				Fields: []entities.Field{{Name: f.Key, Type: record.Text}},
			}, 1); err != nil {
				continue // a key that is no name of a field
			}
			if seen[key] == nil {
				seen[key] = &evidence{name: f.Key, fits: scalarTypes}
				order = append(order, key)
			}
		}
	}
	for _, doc := range docs {
		for _, f := range doc.Fields() {
			if e := seen[entities.Fold(f.Key)]; e != nil && givesField(f) {
				e.add(f)
			}
		}
	}
	fields := make([]entities.Field, 0, len(order))
	for _, key := range order {
		fields = append(fields, seen[key].field())
	}
	return fields
}

// givesField reports whether a type that is made from frontmatter has a field of that
// key: it says nothing about the note itself, and its value says what it holds.
func givesField(f markdown.FrontmatterField) bool {
	return !reserved[entities.Fold(f.Key)] && f.Value != nil && f.Texts() != nil
}

// scalarTypes are tried in this order; a text is what is left.
var scalarTypes = func() []entities.FieldType {
	list := slices.DeleteFunc(slices.Clone(record.FieldTypes),
		func(t entities.FieldType) bool { return t.Info().Inferred == 0 })
	slices.SortFunc(list, func(a, b entities.FieldType) int { return cmp.Compare(a.Info().Inferred, b.Info().Inferred) })
	return list
}()

// evidence is what the values of one key have in common.
type evidence struct {
	name string
	list bool
	fits []entities.FieldType
}

func (e *evidence) add(f markdown.FrontmatterField) {
	if _, ok := f.Value.([]any); ok {
		e.list = true
	}
	for _, text := range f.Texts() {
		var still []entities.FieldType
		for _, t := range e.fits {
			if fitsType(t, text) {
				still = append(still, t)
			}
		}
		e.fits = still
	}
}

func fitsType(t entities.FieldType, text string) bool {
	if written := t.Info().Written; written != nil {
		return written(text)
	}
	values := entities.Values{"f": text}
	_, problems := entities.ParseValues(&entities.Type{Fields: []entities.Field{{Name: "f", Type: t}}}, values,
		entities.MaxFieldBytes)
	return len(problems) == 0
}

func (e *evidence) field() entities.Field {
	f := entities.Field{Name: e.name, Type: record.Text}
	if len(e.fits) > 0 {
		f.Type = e.fits[0]
	}
	if e.list {
		f.Type = f.Type.List()
	}
	return f
}

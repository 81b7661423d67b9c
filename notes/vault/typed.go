package vault

import (
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

// A note may name several types: it is of one, the others become tags. Which it is of
// depends on which of them are declared.

// typeOf returns the type of entity that a text describes, "" for none.
func (r *run) typeOf(doc *markdown.Document) string {
	types, _ := notes.InferTypes(doc)
	name, _ := notes.ChooseType(types, func(name string) bool {
		t := r.typeNamed(name)
		return t != nil && !t.Inferred
	})
	return name
}

// typeNames returns the names of the types that a text names.
func typeNames(doc *markdown.Document) (names []string) {
	types, _ := notes.InferTypes(doc)
	for _, t := range types {
		names = append(names, t.Name)
	}
	return names
}

func (r *run) readBy(names []string) (types string, version int) { return readBy(names, r.typeNamed) }

// typeNamed returns the type of that name that notes of the vault have.
func (r *run) typeNamed(name string) *entities.Type { return r.ents.TypesNamed(name).Own(r.name) }

// readBy returns by which types the frontmatter of a note that names these is read, as it
// is kept in file.Type and file.TypeVersion. Of one type that is its name and version, of
// several all names, a line each, and a hash of what the choice between them depends on.
func readBy(names []string, get func(name string) *entities.Type) (types string, version int) {
	switch len(names) {
	case 0:
		return "", 0
	case 1:
		if t := get(names[0]); t != nil {
			return t.Name, t.Version
		}
		return "", 0
	}
	sum := fnv.New32a()
	for _, name := range names {
		t := get(name)
		if t == nil {
			t = &entities.Type{Inferred: true}
		}
		fmt.Fprintln(sum, t.Name, t.Version, t.Inferred)
	}
	return strings.Join(names, "\n"), int(sum.Sum32() >> 1)
}

// readBy reports whether the file was read by these types.
func (f *file) readBy(types string, version int) bool {
	return f.Type == types && f.TypeVersion == version
}

// typeWarnings says what of the types that a text names is not the type of its entity, a
// line each. It names none of them: a name may be a link to a private note.
func typeWarnings(doc *markdown.Document) (lines []string) {
	types, refused := notes.InferTypes(doc)
	if refused > 0 {
		lines = append(lines, "type left out: it is not a name of one line without backticks and brackets")
	}
	if len(types) > 1 {
		lines = append(lines, fmt.Sprintf(
			"several types: the first that is declared is the type of the entity, other types became tags: %d", len(types)-1))
	}
	return lines
}

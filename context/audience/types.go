package audience

import (
	"errors"
	"slices"
	"sort"
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/wql/syntax"
	"github.com/ctxd/ctxd/notes/markdown"
)

// A type is for a remote reader as public notes alone have made it. One of a vault
// does not exist for who sees no note of that vault: its name says that there is the vault.
// What else it says is masked as other texts are. Queries are answered by what it says of
// other types and in its own queries, though: that is masked where it is shown.

// TypesNamed returns the types of a name, nil for none.
func (v *View) TypesNamed(name string) *entities.NamedTypes { return v.typesNamed(name, v.shownType) }

func (v *View) typesNamed(name string, shown func(*entities.Type) *entities.Type) *entities.NamedTypes {
	named := v.entities.TypesNamed(name)
	if !v.hides || named == nil {
		return named
	}
	var out *entities.NamedTypes
	for _, t := range named.All() {
		if public := v.knownType(t); public != nil {
			out = out.With(shown(public))
		}
	}
	return out
}

// Type returns the type that entities of that name get which come from no vault, or nil.
func (v *View) Type(name string) *entities.Type { return v.TypesNamed(name).In("", false) }

// TypeOf returns the type of an entity that the reader sees, or nil.
func (v *View) TypeOf(e *entities.Entity) *entities.Type { return v.typeOf(e, v.shownType) }

func (v *View) typeOf(e *entities.Entity, shown func(*entities.Type) *entities.Type) *entities.Type {
	t := v.entities.TypeOf(e)
	if !v.hides || t == nil {
		return t
	}
	if t = v.notes.PublicType(t); t == nil {
		return nil
	}
	return shown(t)
}

// FindType returns the type of a vault, or for "" that of everybody or the only one. The
// error names the vaults that have one, and is one of a type that the reader may not know
// of as of one that there is not.
func (v *View) FindType(name, vault string) (*entities.Type, error) {
	return entities.FindType(v.TypesNamed(name), name, vault)
}

// Types returns the declared types by name, then by vault, each as Type does.
func (v *View) Types() []*entities.Type { return v.types(v.shownType) }

func (v *View) types(shown func(*entities.Type) *entities.Type) []*entities.Type {
	all := v.entities.Types()
	if !v.hides {
		return all
	}
	list := make([]*entities.Type, 0, len(all))
	for _, t := range all {
		if public := v.knownType(t); public != nil {
			list = append(list, shown(public))
		}
	}
	return list
}

// knownType returns a type of the store as public records have made it, nil for one that does
// not exist for a remote reader.
func (v *View) knownType(t *entities.Type) *entities.Type {
	if t.Vault != "" && !v.seen().sees(t.Vault, v.notes, v.SeesNote) {
		return nil
	}
	return v.notes.PublicType(t)
}

// shownType returns a type as the reader is shown it. The type is not to be changed.
func (v *View) shownType(t *entities.Type) *entities.Type {
	if !v.masks() {
		return t
	}
	kept := v.rooms.shown.Load() // before anything is looked at
	if shown, ok := kept.known.Load(t); ok {
		return shown.(*entities.Type)
	}
	shown := v.queriedType(t)
	for i, f := range shown.Fields {
		f.Query = v.shownQuery(f.Query)
		if v.namesHidden(f.TargetType) {
			f.TargetType = ""
		}
		if f.Query == shown.Fields[i].Query && f.TargetType == shown.Fields[i].TargetType {
			continue
		}
		if shown == t {
			shown = withFields(t, slices.Clone(t.Fields))
		}
		shown.Fields[i] = f
	}
	if !t.Inferred { // else it was made for this call
		kept.keep(t, shown, v.rooms)
	}
	return shown
}

// queriedType returns a type as queries of a remote reader see it: the type itself when nothing in it is hidden. A field
// whose name leads to a private record does not exist, nor does an option that is one or leads to one. Of a name no more
// than its links and mentions count: that a private note is called as a field says nothing of the field.
func (v *View) queriedType(t *entities.Type) *entities.Type {
	if !v.masks() {
		return t
	}
	fields, changed := make([]entities.Field, 0, len(t.Fields)), false
	for _, f := range t.Fields {
		if v.namesHidden(f.Name) {
			changed = true
			continue
		}
		hidden := func(option string) bool { return v.TextOf("", option) != option }
		if slices.ContainsFunc(f.Options, hidden) {
			f.Options, changed = slices.DeleteFunc(slices.Clone(f.Options), hidden), true
		}
		if label := v.TextOf("", f.Label); label != f.Label {
			f.Label, changed = label, true
		}
		fields = append(fields, f)
	}
	if !changed {
		return t
	}
	return withFields(t, fields)
}

func withFields(t *entities.Type, fields []entities.Field) *entities.Type {
	out := *t
	out.Fields = fields
	return &out
}

// namesHidden reports whether there is a link or mention in a name that leads to a private record.
func (v *View) namesHidden(name string) bool {
	if !v.masks() || !MarksOf(name).any {
		return false
	}
	shown, _ := v.withoutLinks("", name)
	return shown != name
}

// shownQuery returns the text of a query as the reader may see it: a text in it may be all that a private record is called,
// and be written with signs of escape.
func (v *View) shownQuery(query string) string {
	if !v.masks() || query == "" {
		return query
	}
	_, places := v.Masked(query)
	for at, text := range syntax.Texts(query) {
		if v.TextOf("", text) != text {
			places = append(places, markdown.Span(at))
		}
	}
	return markdown.Without(query, apart(places), withheld)
}

// shownDiagnostics returns what is to be said about a query, as the reader may see it. own is what the reader has written.
func (v *View) shownDiagnostics(list []entities.Diagnostic, own string) []entities.Diagnostic {
	if !v.masks() {
		return list
	}
	list = slices.Clone(list)
	for i := range list {
		d := &list[i]
		d.Message, d.Hint = v.shownReply(d.Message, own), v.shownReply(d.Hint, own)
	}
	return list
}

// ownWords are the words of a query, written by the reader.
func ownWords(query string) string { return strings.Join(append(syntax.Quoted(query), query), "\n") }

// replied stands for what a reader has written, while the rest of a reply is masked.
const replied = "\uFFFC"

// shownReply is withoutLinks of a text that repeats what the reader has written: that comes back as it was, whatever it leads
// to. A reader who names what is private would be told otherwise that it is there.
func (v *View) shownReply(text, own string) string {
	shown, _ := v.withoutLinks("", text)
	if shown == text || own == "" {
		return shown
	}
	var repeated []string
	var rest strings.Builder
	for at := 0; at < len(text); {
		most := sort.Search(len(text)-at, func(n int) bool { return !strings.Contains(own, text[at:at+n+1]) })
		part := text[at : at+most]
		if masked, _ := v.withoutLinks("", part); masked == part {
			rest.WriteByte(text[at])
			at++
			continue
		}
		repeated = append(repeated, part)
		rest.WriteString(replied)
		at += most
	}
	others, _ := v.withoutLinks("", rest.String())
	parts := strings.Split(others, replied)
	if len(parts) != len(repeated)+1 { // something of others leads there with the reader's words in it
		return shown
	}
	for i, part := range repeated {
		parts[i] += part
	}
	return strings.Join(parts, "")
}

// ShownTexts returns an error of a type, of what is written by one, or of a query, as the reader may see it. One that says what
// is not there has the reader's own words: they would come back otherwise where they name something private.
func (v *View) ShownTexts(err error) error { return v.shownTextsAbout(err, "") }

// shownTextsAbout is ShownTexts of an error about what the reader has written.
func (v *View) shownTextsAbout(err error, own string) error {
	var f *fault.Error
	if !v.masks() || !errors.As(err, &f) || f.Kind == fault.NotFound {
		return err
	}
	shown := *f
	shown.Field, shown.Msg, shown.Hint = v.shownReply(f.Field, own), v.shownReply(f.Msg, own), v.shownReply(f.Hint, own)
	if shown.Field == f.Field && shown.Msg == f.Msg && shown.Hint == f.Hint {
		return err
	}
	return &shown
}

// Count returns the number of live entities of a type.
func (v *View) Count(t *entities.Type) int {
	if !v.masks() {
		return v.entities.CountOf(t)
	}
	n := 0
	for _, e := range v.entities.OfType(t.Name) {
		if own := v.entities.TypeOf(e); own != nil && own.Vault == t.Vault && v.SeesEntity(e) {
			n++
		}
	}
	return n
}

package notedoc

import (
	"context"
	"path"
	"strings"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
	"github.com/ctxd/ctxd/notes/vault"
)

var (
	_ text.PropertySource = (*Source)(nil)
	_ text.ValueSource    = (*Source)(nil)
	_ text.ReasonSource   = (*Source)(nil)
)

// Filters returns the operators for notes: tag, path, type, vault and conflict.
func (*Source) Filters() []string { return []string{"tag", "path", "type", "vault", "conflict"} }

// Filter returns the test of an operator that has no Reasons.
func (s *Source) Filter(operator, value string) func(text.Doc) bool {
	fold := entities.Fold(value)
	switch operator {
	case "tag":
		fold = strings.Trim(strings.TrimPrefix(fold, "#"), "/")
		return Keep(func(n *notes.Note) bool { return n.HasTag(fold) })
	case "path":
		return Keep(func(n *notes.Note) bool {
			place := n.Path
			if place == "" {
				place = n.Folder
			}
			return strings.Contains(entities.Fold(place), fold)
		})
	case "type", "vault":
		return func(d text.Doc) bool { return entities.Fold(s.Value(operator, d)) == fold }
	}
	return nil
}

// Valued returns type and vault.
func (*Source) Valued() []string { return []string{"type", "vault"} }

// Value returns the type or the vault of a note.
func (s *Source) Value(operator string, d text.Doc) string {
	if operator == "vault" {
		return Note(d).Vault
	}
	return s.notes.EntityType(Note(d))
}

// Reasoned returns conflict.
func (*Source) Reasoned() []string { return []string{"conflict"} }

// Reasons returns what names the copies of a note that a synchroniser has left (SRCH-52): all for "", else those of
// which the file name, or the file name or the title of the note, has the value. A copy in a private place is one
// for nobody who may not see private notes.
func (s *Source) Reasons(ctx context.Context, _, value string, public bool) (func(text.Doc) string, error) {
	if s.opts.Copies == nil {
		return func(text.Doc) string { return "" }, nil
	}
	list, err := s.opts.Copies(ctx)
	if err != nil {
		return nil, err
	}
	type place struct{ vault, path string }
	copies := make(map[place][]vault.Copy)
	for _, c := range list {
		if !public || s.notes.PublicPlace(c.Vault, c.Path) {
			copies[place{c.Vault, c.Of}] = append(copies[place{c.Vault, c.Of}], c)
		}
	}
	value = entities.Fold(value)
	has := func(name string) bool { return strings.Contains(entities.Fold(name), value) }
	return func(d text.Doc) string {
		n := Note(d)
		var said []string
		for _, c := range copies[place{n.Vault, n.Path}] {
			if has(path.Base(c.Path)) || has(path.Base(n.Path)) || has(n.Title) {
				said = append(said, "copy "+path.Base(c.Path)+", left by "+c.By)
			}
		}
		if len(said) == 0 {
			return ""
		}
		return strings.Join(said, "; ") + ": compare them, and delete what is not needed"
	}, nil
}

// InVaults returns the test of a filter for notes of any of some vaults, nil for none.
func InVaults(vaults []string) func(*notes.Note) bool {
	if len(vaults) == 0 {
		return nil
	}
	folds := make(map[string]bool, len(vaults))
	for _, v := range vaults {
		folds[entities.Fold(v)] = true
	}
	return func(n *notes.Note) bool { return n.Vault != "" && folds[entities.Fold(n.Vault)] }
}

// Properties gives the properties of a note: those that the prompt shows, and the inline fields of its text. A list has its items for
// values, a link what it shows and what it names.
func (*Source) Properties(d text.Doc, visit func(name string, values []string) bool) {
	fields, _, _ := prompt.PropertyFields(Note(d).Body)
	for _, f := range markdown.MergeInline(fields, Note(d).Body) {
		if !visit(f.Key, valuesOf(f)) {
			return
		}
	}
}

func valuesOf(f markdown.FrontmatterField) (values []string) {
	for _, text := range f.Texts() {
		values = append(values, text)
		if key := strings.ToLower(f.Key); key == "tags" || key == "tag" {
			for _, tag := range markdown.SplitTags(text) {
				values = append(values, strings.TrimLeft(tag, "#"))
			}
		}
		if !strings.Contains(text, "[") {
			continue
		}
		values = append(values, markdown.PlainText(text))
		for _, l := range markdown.Links(text) {
			values = append(values, l.Target, path.Base(l.Target))
		}
	}
	return values
}

package lsp

import (
	"slices"
	"strings"

	rec "github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/entities/wql/syntax"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// noteKeys are the keys that every note may have.
var noteKeys = []string{"type", "title", "tags", "aliases", "private"}

// types returns the types that a document may have: of one name that of its vault.
func (a *asked) types() (map[string]*rec.Type, error) {
	var list protocol.TypeList
	if err := a.Daemon(a.ctx, "types.list", protocol.ReadAll{}, &list); err != nil {
		return nil, err
	}
	at, _, err := a.Place(a.ctx, a.doc.URI)
	if err != nil {
		return nil, err
	}
	byName := make(map[string]*rec.Type, len(list.Types))
	for i := range list.Types {
		t := &list.Types[i].Type
		if byName[text.Fold(t.Name)] == nil || t.Vault == at.Vault && at.Vault != "" {
			byName[text.Fold(t.Name)] = t
		}
	}
	return byName, nil
}

// noteType returns the type that the frontmatter says, nil for none.
func (a *asked) noteType() (*rec.Type, error) {
	for _, k := range a.doc.FrontKeys() {
		if strings.EqualFold(k.Key, "type") && k.Value != "" {
			byName, err := a.types()
			if err != nil {
				return nil, err
			}
			return byName[text.Fold(k.Value)], nil
		}
	}
	return nil, nil
}

// front completes a key or a value of the frontmatter.
func (a *asked) front(f FrontLine) (bool, error) {
	if !f.Value {
		return true, a.keys(f)
	}
	return true, a.values(f)
}

// keys completes the keys that a note has not yet: the fields of its type, and those of
// every note.
func (a *asked) keys(f FrontLine) error {
	t, err := a.noteType()
	if err != nil {
		return err
	}
	var names []string
	details := make(map[string]string)
	if t != nil {
		for _, field := range t.Fields {
			if field.Type != rec.Computed {
				names = append(names, field.Name)
				details[field.Name] = string(field.Type)
			}
		}
	}
	names = append(names, noteKeys...)
	line := a.doc.LineAt(a.at)
	for _, k := range a.doc.FrontKeys() {
		if k.Line != line {
			names = slices.DeleteFunc(names, func(n string) bool { return text.Fold(n) == text.Fold(k.Key) })
		}
	}
	_, end := a.doc.LineSpan(line)
	after := a.doc.Text[a.at:end]
	for _, i := range matching(names, f.Typed) {
		it := item{label: names[i], insert: names[i] + ": ", detail: details[names[i]], kind: CompletionKindField, from: f.Start, end: a.at, typed: f.Typed}
		if colon := strings.IndexByte(after, ':'); colon >= 0 {
			it.insert, it.end = names[i], a.at+colon
		}
		a.add(it)
	}
	return nil
}

// values completes a value.
func (a *asked) values(f FrontLine) error {
	switch key := strings.ToLower(f.Key); key {
	case "type":
		byName, err := a.types()
		if err != nil {
			return err
		}
		names := make([]string, 0, len(byName))
		for _, t := range byName {
			names = append(names, t.Name)
		}
		slices.Sort(names)
		a.choices(f, names, CompletionKindClass)
		return nil
	case "tags", "tag":
		return a.frontTags(f)
	case "private":
		a.choices(f, []string{"true", "false"}, CompletionKindValue)
		return nil
	}
	field, err := a.field(f.Key)
	if err != nil || field == nil {
		return err
	}
	switch field.Type {
	case rec.Select:
		a.choices(f, field.Options, CompletionKindEnumMember)
	case rec.Boolean:
		a.choices(f, []string{"true", "false"}, CompletionKindValue)
	case rec.EntityRef, rec.EntityRefList:
		return a.entityValues(f, field)
	case rec.NoteRef:
		return a.noteValues(f)
	}
	return nil
}

// field returns the field of the note's type, nil for none.
func (a *asked) field(key string) (*rec.Field, error) {
	t, err := a.noteType()
	if t == nil || err != nil {
		return nil, err
	}
	if field, ok := t.Field(key); ok {
		return &field, nil
	}
	return nil, nil
}

// valueEnd returns where the value ends that the cursor is in.
func (a *asked) valueEnd(f FrontLine) int {
	_, end := a.doc.LineSpan(a.doc.LineAt(a.at))
	stop := end
	if i := strings.IndexAny(a.doc.Text[a.at:end], ",]#"); f.List && i >= 0 {
		stop = a.at + i
	}
	return a.at + len(strings.TrimRight(a.doc.Text[a.at:stop], " \t"))
}

// choices completes one of several values.
func (a *asked) choices(f FrontLine, values []string, kind int) {
	for n, i := range matching(values, strings.Trim(f.Typed, `"'`)) {
		if n == max(a.limit, len(noteKeys)) {
			break
		}
		a.add(item{label: values[i], insert: scalar(values[i]), kind: kind, from: f.Start, end: a.valueEnd(f), typed: f.Typed})
	}
}

// scalar is a text as YAML writes it: in quotes where it would be read as something else.
func scalar(s string) string {
	plain := s != "" && strings.TrimSpace(s) == s && !strings.ContainsAny(s, ":#[]{},&*!|>'\"%@`\\\n") && !strings.HasPrefix(s, "-") && !strings.HasPrefix(s, "?")
	if plain {
		return s
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// frontTags completes a tag of the frontmatter, where it has no #.
func (a *asked) frontTags(f FrontLine) error {
	word := strings.TrimLeft(f.Typed, `"'#`)
	return a.tags(a.at-len(word), a.valueEnd(f), word)
}

// entityValues completes a reference to an entity.
func (a *asked) entityValues(f FrontLine, field *rec.Field) error {
	var types []string
	if field.TargetType != "" {
		types = []string{field.TargetType}
	}
	return a.entities(strings.Trim(f.Typed, `"'`), types, func(e protocol.EntityItem) {
		insert := scalar(e.Name)
		if e.Path != "" {
			insert = `"[[` + noteName(e) + `]]"`
		}
		a.add(item{
			label: e.Name, insert: insert, detail: e.Type, kind: CompletionKindVariable,
			from: f.Start, end: a.valueEnd(f), typed: f.Typed, of: completionRecord{"entity", e.ID},
		})
	})
}

// noteName is what a link writes for the note of an entity: the name of its file.
func noteName(e protocol.EntityItem) string {
	return strings.TrimSuffix(e.Path[strings.LastIndexByte(e.Path, '/')+1:], ".md")
}

// noteValues completes a reference to a note.
func (a *asked) noteValues(f FrontLine) error {
	from, err := a.NoteID(a.ctx, a.doc.URI)
	if err != nil {
		return err
	}
	var found protocol.NoteItems
	ask := protocol.NoteComplete{Prefix: strings.Trim(f.Typed, `"'`), From: from, Limit: a.limit}
	if err := a.Daemon(a.ctx, "notes.complete", ask, &found); err != nil {
		return err
	}
	for _, n := range found.Items {
		if target := written(n, a.Settings().Links); target != "" {
			a.add(item{
				label: n.Title, insert: `"[[` + target + `]]"`, detail: n.Path, kind: CompletionKindFile,
				from: f.Start, end: a.valueEnd(f), typed: f.Typed, of: completionRecord{"note", n.ID},
			})
		}
	}
	return nil
}

// entityLinks completes a link in a field that leads to entities of a type. It reports
// false in any other.
func (a *asked) entityLinks(l link, f FrontLine) (bool, error) {
	field, err := a.field(f.Key)
	if err != nil || field == nil || field.TargetType == "" {
		return false, err
	}
	typed := l.typed()
	err = a.entities(typed, []string{field.TargetType}, func(e protocol.EntityItem) {
		if e.Path == "" {
			return
		}
		a.add(item{
			label: e.Name, insert: l.written(noteName(e)), detail: e.Type, kind: CompletionKindVariable,
			from: l.inner, end: l.end, typed: typed, of: completionRecord{"entity", e.ID},
		})
	})
	return len(a.list.Items) > 0, err
}

// query completes WQL.
func (a *asked) query(q WQLQuery) error {
	byName, err := a.types()
	if err != nil {
		return err
	}
	c := &syntax.Completer{Types: byName, This: q.Type}
	c.Names = func(prefix string, types []string) (names []string) {
		err = a.entities(prefix, types, func(e protocol.EntityItem) { names = append(names, e.Name) })
		return names
	}
	out := c.At(q.Text, a.at-q.Start)
	from := q.Start + out.From
	for i, choice := range out.Choices {
		if i == maxWords {
			break
		}
		label := choice.Shown
		if label == "" {
			label = strings.TrimSpace(choice.Text)
		}
		a.add(item{label: label, insert: choice.Text, kind: CompletionKindKeyword, from: from, end: a.at, typed: a.doc.Text[from:a.at]})
	}
	return err
}

// maxWords is how many words of WQL are offered: all fields of a large type fit.
const maxWords = 200

// typeFile completes what a file that declares a type may say: the kind of a field, and
// the type that a reference leads to.
func (a *asked) typeFile() (bool, error) {
	start, _ := a.doc.LineSpan(a.doc.LineAt(a.at))
	before := a.doc.Text[start:max(start, a.at)]
	key, value, ok := strings.Cut(strings.TrimLeft(before, " -"), ":")
	value = strings.TrimLeft(value, " \t")
	f := FrontLine{Key: key, Value: true, Start: a.at - len(value), Typed: value}
	switch {
	case ok && key == "type":
		var names []string
		for _, t := range rec.FieldTypes {
			names = append(names, string(t))
		}
		a.choices(f, names, CompletionKindEnum)
		return true, nil
	case ok && key == "targetType":
		return true, a.values(FrontLine{Key: "type", Value: true, Start: f.Start, Typed: value})
	}
	return false, nil
}

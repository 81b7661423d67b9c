package lsp

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes/days"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// actions answers what can be done with a range: about the problems in it, and with the text that it selects.
func (more moreActions) actions(ctx context.Context, c *Call, p *CodeActionParams) ([]CodeAction, error) {
	list := []CodeAction{}
	if c.Document == nil || !c.Document.IsNote() {
		return list, nil
	}
	place, ok, err := c.Place(ctx, c.Document.URI)
	if !ok || err != nil {
		return list, err
	}
	start, end := c.Document.Span(p.Range, c.Encoding())
	a := &actor{ctx: ctx, c: c, place: place, start: start, end: end}
	if wants(p.Context.Only, ActionQuickFix) {
		if err := a.fixes(); err != nil {
			return nil, err
		}
	}
	if start < end && wants(p.Context.Only, ActionRefactor) {
		if err := a.selection(); err != nil {
			return nil, err
		}
	}
	if more != nil && wants(p.Context.Only, ActionSource) {
		a.list = append(a.list, more(c, p)...)
	}
	return append(list, a.list...), nil
}

// wants reports whether an editor asks for a kind of actions, or for one below it.
func wants(only []string, kind string) bool {
	return len(only) == 0 || slices.ContainsFunc(only, func(k string) bool {
		return k == kind || strings.HasPrefix(kind, k+".") || strings.HasPrefix(k, kind+".")
	})
}

// actor collects actions for a range.
type actor struct {
	ctx        context.Context
	c          *Call
	place      VaultPlace
	start, end int
	list       []CodeAction
}

func (a *actor) add(title, kind string, b *editBuilder, about ...Diagnostic) {
	a.list = append(a.list, CodeAction{Title: title, Kind: kind, Edit: b.Edit(), Diagnostics: about})
}

// replace returns an edit of the document alone.
func (a *actor) replace(start, end int, with string) *editBuilder {
	b := newEditBuilder(a.c)
	b.Text(a.c.Document, []TextEdit{{Range: a.c.Document.Range(start, end, a.c.Encoding()), NewText: with}})
	return b
}

// fixes adds what can be done about the problems in the range.
func (a *actor) fixes() error {
	problems, err := checkDocument(a.ctx, a.c, a.c.Document)
	if err != nil {
		return err
	}
	for i := range problems {
		p := &problems[i]
		if p.start > a.end || p.end < a.start {
			continue
		}
		about := p.diagnostic(a.c.Document, a.c.Encoding())
		for k, fix := range p.Fixes {
			a.add(fix.Title, ActionQuickFix, a.replace(p.start, p.end, fix.New), about)
			a.list[len(a.list)-1].IsPreferred = k == 0 && len(p.Fixes) == 1
		}
		if p.Create != "" {
			if err := a.create(p.Create, about); err != nil {
				return err
			}
		}
		if p.Code == "type.inferred" {
			if err := a.declare(p.Type, about); err != nil {
				return err
			}
		}
	}
	return nil
}

// create adds the note that a link waits for.
func (a *actor) create(at string, about Diagnostic) error {
	b := newEditBuilder(a.c)
	uri, ok, err := a.c.URI(a.ctx, a.place.Vault, at)
	if err != nil || !ok || !b.CanCreate() || b.Read(uri) != nil {
		return err
	}
	name := strings.TrimSuffix(path.Base(at), ".md")
	text := "# " + name + a.c.Document.LineEnd()
	root, ok, err := a.c.URI(a.ctx, a.place.Vault, ".")
	if err != nil {
		return err
	}
	if folder, _ := URIPath(root); ok {
		read := readFrom(folder)
		s, _, known := days.Read(read)
		if day, is := s.DayOf(name); known && is && s.Path(day) == at { // the note of a day begins as its template
			hour, minute, second := time.Now().Clock()
			text, _ = s.Content(read, time.Date(day.Year(), day.Month(), day.Day(), hour, minute, second, 0, time.Local))
		}
	}
	b.Create(uri, text)
	a.add("Create the note "+at, ActionQuickFix, b, about)
	return nil
}

// declare adds the declaration of a type as it was inferred.
func (a *actor) declare(name string, about Diagnostic) error {
	var t record.Type
	if err := a.c.Daemon(a.ctx, "types.get", protocol.TypeGet{Ref: name, Vault: a.place.Vault}, &t); err != nil {
		return err
	}
	b := newEditBuilder(a.c)
	uri, ok, err := a.c.URI(a.ctx, a.place.Vault, ".ctxd/types/"+fileName(t.Name)+".yaml")
	if err != nil || !ok || !b.CanCreate() || b.Read(uri) != nil {
		return err
	}
	b.Create(uri, declared(&t))
	a.add("Declare the type "+t.Name, ActionQuickFix, b, about)
	return nil
}

// declared is the declaration of a type as vaults have it.
func declared(t *record.Type) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name: %s\nfields:\n", yamlQuoted(t.Name))
	if len(t.Fields) == 0 {
		return fmt.Sprintf("name: %s\nfields: []\n", yamlQuoted(t.Name))
	}
	for _, f := range t.Fields {
		fmt.Fprintf(&b, "  - name: %s\n    type: %s\n", yamlQuoted(f.Name), f.Type)
		if f.TargetType != "" {
			fmt.Fprintf(&b, "    targetType: %s\n", yamlQuoted(f.TargetType))
		}
		if len(f.Options) > 0 {
			options := make([]string, len(f.Options))
			for i, o := range f.Options {
				options[i] = yamlQuoted(o)
			}
			fmt.Fprintf(&b, "    options: [%s]\n", strings.Join(options, ", "))
		}
	}
	return b.String()
}

// yamlQuoted writes a text as YAML reads it: without quotes where it is one plain word.
func yamlQuoted(s string) string {
	plain := s != "" && !slices.Contains([]string{"true", "false", "yes", "no", "on", "off", "null", "y", "n"}, strings.ToLower(s))
	for i, r := range s {
		letter := r >= utf8.RuneSelf || 'a' <= r|0x20 && r|0x20 <= 'z' || r == '_'
		if !letter && (i == 0 || r != '-' && (r < '0' || r > '9')) {
			plain = false
		}
	}
	if plain {
		return s
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// fileName is a text as the name of a file has it.
func fileName(s string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune("\\/:*?\"<>|#^[]", r) {
			return '-'
		}
		return r
	}, strings.TrimSpace(s)), ". ")
}

// maxName is how long a selection may be that is the name of a note.
const maxName = 120

// selection adds what can be done with a selected text: a link to the note of that name, and a note made of it.
func (a *actor) selection() error {
	said := a.c.Document.Text[a.start:a.end]
	name := strings.TrimSpace(said)
	if _, inLink := a.c.Document.LinkAt(a.start); name == "" || inLink {
		return nil
	}
	if !strings.ContainsAny(name, "\n\r[]|#^") && len(name) <= maxName {
		from, err := a.c.NoteID(a.ctx, a.c.Document.URI)
		if err != nil {
			return err
		}
		var found protocol.NoteResolved
		if err := a.c.Daemon(a.ctx, "notes.resolve", protocol.NoteResolve{Link: name, From: from}, &found); err != nil {
			return err
		}
		if found.ID != "" {
			at := a.start + strings.Index(said, name)
			a.add("Link to "+found.Path, ActionRefactorRewrite, a.replace(at, at+len(name), "[["+name+"]]"))
		}
	}
	return a.extract(said)
}

// extract adds a note that the selection moves into; a link stands in its place.
func (a *actor) extract(said string) error {
	title, rest, _ := strings.Cut(strings.TrimLeft(said, " \t\r\n"), "\n")
	title = strings.TrimRight(title, "\r")
	heading := strings.HasPrefix(title, "#")
	name := fileName(strings.TrimLeft(title, "#-*> \t"))
	if len(name) > maxName {
		name = strings.TrimSpace(strings.ToValidUTF8(name[:maxName], ""))
	}
	if name == "" {
		return nil
	}
	b := newEditBuilder(a.c)
	if !b.CanCreate() {
		return nil
	}
	uri, at := "", ""
	for n := 1; n < 100; n++ {
		at = path.Join(path.Dir(a.place.Path), name+".md")
		if n > 1 {
			at = path.Join(path.Dir(a.place.Path), fmt.Sprintf("%s %d.md", name, n))
		}
		u, ok, err := a.c.URI(a.ctx, a.place.Vault, at)
		if err != nil || !ok {
			return err
		}
		if b.Read(u) == nil {
			uri = u
			break
		}
	}
	if uri == "" {
		return nil
	}
	eol := a.c.Document.LineEnd()
	content := "# " + name + eol + eol + strings.TrimRight(said, " \t\r\n") + eol
	if heading {
		content = "# " + strings.TrimSpace(strings.TrimLeft(title, "#")) + eol + strings.TrimRight(rest, " \t\r\n") + eol
	}
	b.Create(uri, content)
	link := "[[" + strings.TrimSuffix(path.Base(at), ".md") + "]]"
	if trimmed := strings.TrimRight(said, "\r\n"); len(trimmed) < len(said) {
		link += said[len(trimmed):]
	}
	b.Text(a.c.Document, []TextEdit{{Range: a.c.Document.Range(a.start, a.end, a.c.Encoding()), NewText: link}})
	a.add("Move the selection into the note "+at, ActionRefactorExtract, b)
	return nil
}

package lsp

// This file shows a record to somebody who reads in an editor: the first paragraphs of a note, the section of a
// heading, an entity as a card with its computed fields, the rows of a query, what a memory says. Hover and the items
// of a completion show it.
//
// Each function asks the daemon, and a note that is open in the editor is shown as it is there. Texts are Markdown of
// at most [maxPreviewBytes] bytes, cut at the end of a line. Errors are those of the daemon; a record that is not
// there gives "". Any goroutine may call.

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql/columns"
	"github.com/ctxd/ctxd/notes/markdown"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// maxPreviewBytes is how long a preview is at most.
const maxPreviewBytes = 1500

// maxRows is how many rows of a query are shown.
const maxRows = 15

// ignoreAbsent turns the error of a record that is not there into none.
func ignoreAbsent(err error) error {
	if err != nil && fault.KindOf(err) == fault.NotFound {
		return nil
	}
	return err
}

// noteSource is the text of a note: that of the editor where it is open, else that of the daemon.
func noteSource(ctx context.Context, s *Session, n *protocol.NoteFull) *Document {
	uri, ok, err := s.URI(ctx, n.Vault, n.Path)
	if ok && err == nil {
		if d := s.Opened(uri); d != nil {
			return d
		}
	}
	return NewDocument(uri, "markdown", n.Body)
}

// previewNote shows a note: a section of it, a block, or its beginning.
func previewNote(ctx context.Context, s *Session, id, heading, block string) (string, error) {
	var n protocol.NoteFull
	if err := s.Daemon(ctx, "notes.get", protocol.NoteGet{Ref: id}, &n); err != nil {
		return "", ignoreAbsent(err)
	}
	d := noteSource(ctx, s, &n)
	head := "**" + n.Title + "**"
	if n.Path != "" {
		head += " · " + n.Path
	}
	part := noteBeginning(d)
	if start, end, ok := notePart(d, heading, block); ok {
		part = d.Text[start:end]
	} else if n.EntityID != "" {
		card, err := previewEntity(ctx, s, n.EntityID)
		if err != nil {
			return "", err
		}
		_, fields, _ := strings.Cut(card, "\n\n") // its name is that of the note
		part = strings.TrimSpace(fields) + "\n\n" + part
	}
	return clipPreview(head + "\n\n" + strings.TrimSpace(part)), nil
}

// notePart returns where the section of a heading lies, or a block.
func notePart(d *Document, heading, block string) (start, end int, ok bool) {
	part, ok := markdown.PartOfLink(markdown.Link{Heading: heading, Block: block})
	if !ok {
		return 0, 0, false
	}
	body := d.Note().BodyStart
	spans, _ := markdown.FindParts(d.Text[body:], []markdown.Part{part})
	if len(spans) == 0 {
		return 0, 0, false
	}
	return body + spans[0].Start, body + spans[0].End, true
}

// noteBeginning is the first paragraphs of a note, without frontmatter and title.
func noteBeginning(d *Document) string {
	start := d.Note().BodyStart
	body := strings.TrimSpace(d.Text[start:])
	if h := d.Headings(); len(h) > 0 && h[0].Level == 1 && strings.TrimSpace(d.Text[start:h[0].Start]) == "" {
		body = strings.TrimSpace(d.Text[h[0].End:])
	}
	return body
}

// clipPreview cuts a text at the end of a line.
func clipPreview(s string) string {
	if len(s) <= maxPreviewBytes {
		return s
	}
	cut := strings.LastIndexByte(s[:maxPreviewBytes], '\n')
	if cut <= 0 {
		cut = strings.LastIndexByte(s[:maxPreviewBytes], ' ')
	}
	if cut <= 0 {
		cut = maxPreviewBytes
	}
	s = strings.TrimRight(strings.ToValidUTF8(s[:cut], ""), " \r\n")
	if strings.Count(s, "```")%2 == 1 {
		s += "\n```"
	}
	return s + "\n\n…"
}

// previewEntity shows an entity as a card.
func previewEntity(ctx context.Context, s *Session, id string) (string, error) {
	var e protocol.EntityFull
	if err := s.Daemon(ctx, "entities.get", protocol.EntityGet{Ref: id, Resolve: 1}, &e); err != nil {
		return "", ignoreAbsent(err)
	}
	var t record.Type
	if err := s.Daemon(ctx, "types.get", protocol.TypeGet{Ref: e.Type, Vault: e.TypeVault}, &t); err != nil {
		t = record.Type{}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** · %s\n\n", escape(e.Name), escape(e.Type))
	if len(e.Aliases) > 0 {
		fmt.Fprintf(&b, "*%s*\n\n", escape(strings.Join(e.Aliases, ", ")))
	}
	shown := make(map[string]bool)
	for _, f := range t.Fields {
		shown[f.Name] = true
		field(&b, f.Name, e.Fields[f.Name])
	}
	for name, v := range e.Fields {
		if !shown[name] {
			field(&b, name, v)
		}
	}
	return clipPreview(b.String()), nil
}

func field(b *strings.Builder, name string, v any) {
	if s := previewValue(v); s != "" {
		fmt.Fprintf(b, "- %s: %s\n", escape(name), escape(s))
	}
}

// previewValue is the value of a field on one line, as entities.get gives it.
func previewValue(v any) string {
	if m, ok := v.(map[string]any); ok {
		if rows, ok := m["rows"].([]any); ok {
			return columns.Text(rows, day)
		}
		if value, ok := m["value"]; ok {
			return columns.Text(value, day)
		}
	}
	return strings.Join(strings.Fields(columns.Text(v, day)), " ")
}

func day(t time.Time) string { return t.Format(time.DateOnly) }

// previewMemory shows what a memory says. ref is its id, handle or number.
func previewMemory(ctx context.Context, s *Session, ref string) (string, error) {
	var m record.Memory
	if err := s.Daemon(ctx, "memory.get", protocol.MemoryRef{Ref: ref}, &m); err != nil {
		return "", ignoreAbsent(err)
	}
	head := fmt.Sprintf("**#%d**", m.Number)
	if m.Handle != "" {
		head += " · @" + escape(m.Handle)
	}
	return clipPreview(head + " · " + m.Kind + ", " + m.Status + "\n\n" + escape(cmp.Or(m.Summary, m.Statement))), nil
}

// previewQuery shows the answer of a query, or what is wrong with it.
func previewQuery(ctx context.Context, s *Session, q WQLQuery) (string, error) {
	if q.Type != "" {
		return previewProblems(ctx, s, q) // {this} is nobody in particular
	}
	var r protocol.WQLResult
	err := s.Daemon(ctx, "wql.query", protocol.WQLQuery{Query: q.Text, Limit: maxRows}, &r)
	switch {
	case err != nil && fault.KindOf(err) == fault.Unavailable:
		return "", err
	case err != nil:
		return previewProblems(ctx, s, q)
	}
	if len(r.Rows) == 0 && r.Value.Set {
		return "**" + escape(columns.Text(r.Value.Value, day)) + "**", nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**%d rows**\n\n", r.Total)
	for _, row := range r.Rows {
		if row.Task != nil {
			fmt.Fprintf(&b, "- %s · %s, line %d\n", escape(row.Name), escape(row.Task.Note), row.Task.Line)
			continue
		}
		fmt.Fprintf(&b, "- %s · %s\n", escape(row.Name), escape(row.Type))
	}
	if r.Total > len(r.Rows) {
		fmt.Fprintf(&b, "- … %d more\n", r.Total-len(r.Rows))
	}
	return clipPreview(b.String()), nil
}

func previewProblems(ctx context.Context, s *Session, q WQLQuery) (string, error) {
	var r protocol.WQLChecked
	if err := s.Daemon(ctx, "wql.check", protocol.WQLCheck{Query: q.Text, Type: q.Type}, &r); err != nil {
		return "", err
	}
	if len(r.Diagnostics) == 0 {
		return "A query of " + escape(q.Type) + "." + escape(q.Field) + ", without errors.", nil
	}
	var b strings.Builder
	for _, found := range r.Diagnostics {
		fmt.Fprintf(&b, "- %s, line %d, column %d: %s\n", found.Severity, found.Line, found.Column, escape(found.Message))
	}
	return clipPreview(b.String()), nil
}

// escape keeps a name from being read as Markdown.
var escape = strings.NewReplacer("\\", "\\\\", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[", "]", "\\]", "<", "\\<").Replace

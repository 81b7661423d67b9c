package preview

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
	"github.com/ctxd/ctxd/rpc/lsp/server"
	"github.com/ctxd/ctxd/rpc/lsp/text"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// MaxBytes is how long a preview is at most.
const MaxBytes = 1500

// maxRows is how many rows of a query are shown.
const maxRows = 15

// Absent turns the error of a record that is not there into none.
func Absent(err error) error {
	if err != nil && fault.KindOf(err) == fault.NotFound {
		return nil
	}
	return err
}

// Source is the text of a note: that of the editor where it is open, else that of the daemon.
func Source(ctx context.Context, s *server.Session, n *protocol.NoteFull) *text.Document {
	uri, ok, err := s.URI(ctx, n.Vault, n.Path)
	if ok && err == nil {
		if d := s.Opened(uri); d != nil {
			return d
		}
	}
	return text.New(uri, "markdown", n.Body)
}

// Note shows a note: a section of it, a block, or its beginning.
func Note(ctx context.Context, s *server.Session, id, heading, block string) (string, error) {
	var n protocol.NoteFull
	if err := s.Daemon(ctx, "notes.get", protocol.NoteGet{ID: id}, &n); err != nil {
		return "", Absent(err)
	}
	d := Source(ctx, s, &n)
	head := "**" + n.Title + "**"
	if n.Path != "" {
		head += " · " + n.Path
	}
	part := Beginning(d)
	if start, end, ok := Part(d, heading, block); ok {
		part = d.Text[start:end]
	} else if n.EntityID != "" {
		card, err := Entity(ctx, s, n.EntityID)
		if err != nil {
			return "", err
		}
		_, fields, _ := strings.Cut(card, "\n\n") // its name is that of the note
		part = strings.TrimSpace(fields) + "\n\n" + part
	}
	return clip(head + "\n\n" + strings.TrimSpace(part)), nil
}

// Part returns where the section of a heading lies, or a block.
func Part(d *text.Document, heading, block string) (start, end int, ok bool) {
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

// Beginning is the first paragraphs of a note, without frontmatter and title.
func Beginning(d *text.Document) string {
	start := d.Note().BodyStart
	body := strings.TrimSpace(d.Text[start:])
	if h := d.Headings(); len(h) > 0 && h[0].Level == 1 && strings.TrimSpace(d.Text[start:h[0].Start]) == "" {
		body = strings.TrimSpace(d.Text[h[0].End:])
	}
	return body
}

// clip cuts a text at the end of a line.
func clip(s string) string {
	if len(s) <= MaxBytes {
		return s
	}
	cut := strings.LastIndexByte(s[:MaxBytes], '\n')
	if cut <= 0 {
		cut = strings.LastIndexByte(s[:MaxBytes], ' ')
	}
	if cut <= 0 {
		cut = MaxBytes
	}
	s = strings.TrimRight(strings.ToValidUTF8(s[:cut], ""), " \r\n")
	if strings.Count(s, "```")%2 == 1 {
		s += "\n```"
	}
	return s + "\n\n…"
}

// Entity shows an entity as a card.
func Entity(ctx context.Context, s *server.Session, id string) (string, error) {
	var e protocol.EntityFull
	if err := s.Daemon(ctx, "entities.get", protocol.EntityGet{ID: id, Resolve: 1}, &e); err != nil {
		return "", Absent(err)
	}
	var t record.Type
	if err := s.Daemon(ctx, "types.get", protocol.TypeGet{Name: e.Type, Vault: e.TypeVault}, &t); err != nil {
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
	return clip(b.String()), nil
}

func field(b *strings.Builder, name string, v any) {
	if s := Value(v); s != "" {
		fmt.Fprintf(b, "- %s: %s\n", escape(name), escape(s))
	}
}

// Value is the value of a field on one line, as entities.get gives it.
func Value(v any) string {
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

// Memory shows what a memory says. ref is its id, handle or number.
func Memory(ctx context.Context, s *server.Session, ref string) (string, error) {
	var m record.Memory
	if err := s.Daemon(ctx, "memory.get", protocol.MemoryRef{Ref: ref}, &m); err != nil {
		return "", Absent(err)
	}
	head := fmt.Sprintf("**#%d**", m.Number)
	if m.Handle != "" {
		head += " · @" + escape(m.Handle)
	}
	return clip(head + " · " + m.Kind + ", " + m.Status + "\n\n" + escape(cmp.Or(m.Summary, m.Statement))), nil
}

// Query shows the answer of a query, or what is wrong with it.
func Query(ctx context.Context, s *server.Session, q text.Query) (string, error) {
	if q.Type != "" {
		return check(ctx, s, q) // {this} is nobody in particular
	}
	var r protocol.WQLResult
	err := s.Daemon(ctx, "wql.query", protocol.WQLQuery{Query: q.Text, Limit: maxRows}, &r)
	switch {
	case err != nil && fault.KindOf(err) == fault.Unavailable:
		return "", err
	case err != nil:
		return check(ctx, s, q)
	}
	if len(r.Rows) == 0 && r.Value.Set {
		return "**" + escape(columns.Text(r.Value.Value, day)) + "**", nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**%d rows**\n\n", r.Total)
	for _, row := range r.Rows {
		fmt.Fprintf(&b, "- %s · %s\n", escape(row.Name), escape(row.Type))
	}
	if r.Total > len(r.Rows) {
		fmt.Fprintf(&b, "- … %d more\n", r.Total-len(r.Rows))
	}
	return clip(b.String()), nil
}

func check(ctx context.Context, s *server.Session, q text.Query) (string, error) {
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
	return clip(b.String()), nil
}

// escape keeps a name from being read as Markdown.
var escape = strings.NewReplacer("\\", "\\\\", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[", "]", "\\]", "<", "\\<").Replace

package transfer

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/record"
)

// readableHead begins an export for people.
const readableHead = "<!-- ctxd conversation -->"

// readable writes for people to read. What was said is quoted, line by line: it can't end its quote, so it is never
// taken for a heading or a list of the export.
func (e *Exporter) readable(ctx context.Context, v *audience.View, ref string, p *piece) error {
	c, err := e.pages(ctx, v, ref, p, func(m *record.ChatMessage) error {
		refs, err := e.references(ctx, v, ref, m)
		if err != nil {
			return err
		}
		about := []string{m.Role, stamp(m.CreatedAt)}
		if m.Private {
			about = append(about, "private")
		}
		if m.Finish != record.FinishComplete {
			about = append(about, m.Finish)
		}
		fmt.Fprintf(&p.body, "\n## %d. %s\n\n%s\n", m.Index, strings.Join(about, ", "), quoted(m.Content))
		if len(refs) > 0 {
			fmt.Fprintf(&p.body, "\nReferences:\n\n- %s\n", strings.Join(refs, "\n- "))
		}
		if proposed := proposals(m.Actions); len(proposed) > 0 {
			fmt.Fprintf(&p.body, "\nProposals:\n\n- %s\n", strings.Join(proposed, "\n- "))
		}
		p.took(m.Index)
		return nil
	})
	if err != nil || !p.first {
		return err
	}
	title := oneLine(c.Title)
	if title == "" {
		title = "Untitled"
	}
	fmt.Fprintf(&p.head, "%s\n# %s\n\n", readableHead, title)
	if c.Handle != "" {
		fmt.Fprintf(&p.head, "- Handle: @%s\n", c.Handle)
	}
	fmt.Fprintf(&p.head, "- Begun: %s\n- Changed: %s\n", stamp(c.CreatedAt), stamp(c.UpdatedAt))
	if c.ArchivedAt != nil {
		fmt.Fprintf(&p.head, "- Archived: %s\n", stamp(*c.ArchivedAt))
	}
	if c.Private {
		p.head.WriteString("- Private\n")
	}
	fmt.Fprintf(&p.head, "- Messages: %d\n", c.Messages-c.Lost)
	return nil
}

// proposals returns a line for each action, with what has become of it.
func proposals(list []record.ChatAction) (lines []string) {
	for i := range list {
		a := &list[i]
		args, err := marshal(a.Args)
		if err != nil || a.Type == "" { // another program has written it
			continue
		}
		line := a.Status + ": " + oneLine(a.Type+" "+string(args))
		if a.Failure != "" {
			line += ": " + oneLine(a.Failure)
		}
		lines = append(lines, line)
	}
	return lines
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// lineEnds makes all ends of lines those of Markdown.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// quoted is a text as a quote of Markdown.
func quoted(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(lineEnds.Replace(text), "\n") {
		b.WriteString("\n>")
		if line != "" {
			b.WriteString(" " + line)
		}
	}
	return b.String()[len("\n"):]
}

// oneLine is a text that stands within a line of the export.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}

// reference has the members of a reference of a message that are shown.
type reference struct {
	Wikilink string `json:"wikilink"`
	Path     string `json:"relativePath"`
	Type     string `json:"referenceType"`
	Summary  string `json:"summary"`
	Status   string `json:"status"`
	MemoryID string `json:"memoryId"`
	EntityID string `json:"entityId"`
	Passage  string `json:"passageId"`
	Kind     string `json:"kind"`
	Ref      string `json:"ref"`
	Used     bool   `json:"used"`
}

// references returns a line for each record that a message stands on. For a reader who sees everything they are
// those that are stored, also those of kinds that this program does not know otherwise.
func (e *Exporter) references(ctx context.Context, v *audience.View, ref string, m *record.ChatMessage) (lines []string, err error) {
	stored, err := marshal(m.References)
	if err != nil {
		return nil, err
	}
	if !v.Hides() {
		_, err = e.chats.Whole(ctx, v, ref, m.Index, m.Index, func(m *chat.Message) (bool, error) {
			stored = m.References()
			return false, nil
		})
		if err != nil {
			return nil, err
		}
	}
	var list []json.RawMessage
	if json.Unmarshal(stored, &list) != nil {
		list = nil // another program has written it
	}
	for _, one := range list {
		var r reference
		if json.Unmarshal(one, &r) != nil {
			continue
		}
		if line := e.referenceLine(v, &r); line != "" {
			lines = append(lines, line)
		}
	}
	return lines, nil
}

// referenceLine is empty where nothing is to be shown.
func (e *Exporter) referenceLine(v *audience.View, r *reference) string {
	switch {
	case !r.Used && (r.MemoryID != "" || r.Passage != "" || r.Type == record.ReferSearch): // nothing stands on what was only found
		return ""
	case r.Passage != "":
		return "[" + oneLine(r.Ref) + "], book"
	case r.EntityID != "" && r.Ref != "":
		line := oneLine(r.Ref) + ", entity"
		if path := oneLine(r.Path); path != "" {
			line += " (" + path + ")"
		}
		return line
	case r.MemoryID != "":
		m, err := e.memory.Get(v, r.MemoryID)
		if err != nil {
			return ""
		}
		statement, _, _ := strings.Cut(strings.TrimSpace(m.Statement), "\n")
		line := fmt.Sprintf("#%d", m.Number)
		if m.Handle != "" {
			line += " @" + m.Handle
		}
		return line + ", memory: " + oneLine(statement)
	}
	link, path := oneLine(strings.Trim(r.Wikilink, "![] \t\r\n")), oneLine(r.Path)
	line := "[[" + link + "]]"
	switch {
	case link == "" && path == "":
		return ""
	case link == "": // no link can be written to the note
		line = path
	case path != "":
		line += " (" + path + ")"
	}
	if kind := oneLine(r.Kind); kind != "" {
		line += ", " + kind
	} else if kind := oneLine(r.Type); kind != "" {
		line += ", " + kind
	}
	if status := oneLine(r.Status); status != "" && status != "ok" {
		line += ", " + status
	}
	if summary := oneLine(r.Summary); summary != "" {
		line += ": " + summary
	}
	return line
}

package exchange

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
)

// readableHead begins an export for people, so that nobody takes it for a list of memories.
const readableHead = "<!-- ctxd memories -->"

// section is a part of an export for people.
type section struct {
	title string
	has   func(*memory.Record) bool
}

func sections() []section {
	out := []section{}
	for _, tier := range []string{record.TierBank, record.TierPatterns, record.TierHistory, record.TierWorking} {
		out = append(out, section{tier, func(m *memory.Record) bool { return m.Tier == tier && m.Current() }})
	}
	return append(out, section{"No longer relied on", func(m *memory.Record) bool { return !m.Current() }})
}

// writeReadable writes all memories for people, a section for each tier. It looks at all of them for each: what
// is written is not kept.
func writeReadable(ctx context.Context, w io.Writer, from *memory.Store, v *audience.View, each func(memory.Row, int, int)) error {
	if _, err := fmt.Fprintf(w, "%s\n# Memories\n", readableHead); err != nil {
		return err
	}
	names := make(map[string]string) // of contexts
	var sets []*memory.Synonyms
	for i, s := range sections() {
		begun, inside := false, false
		err := from.Rows(ctx, v, func(r memory.Row, done, total int) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			var text string
			switch {
			case r.Synonyms != nil && i == 0:
				sets = append(sets, r.Synonyms)
				each(r, done, total)
			case r.Context != nil:
				names[r.Context.ID] = r.Context.Name
				if i == 0 {
					each(r, done, total)
				}
			case r.Memory != nil:
				if inside = s.has(&r.Memory.Record); inside {
					text = readable(r.Memory, names)
				}
			case r.Version != nil && inside:
				text = fmt.Sprintf("  - Before %s: %s\n", day(r.Version.UpdatedAt), indented(r.Version.Statement, "    "))
			}
			if text == "" {
				return nil
			}
			each(r, done, total)
			if !begun {
				begun, text = true, "\n## "+s.title+"\n\n"+text
			}
			_, err := io.WriteString(w, text)
			return err
		})
		if err != nil {
			return err
		}
	}
	return writeSynonyms(w, sets)
}

// writeSynonyms writes what means the same, a line for each set.
func writeSynonyms(w io.Writer, sets []*memory.Synonyms) error {
	if len(sets) == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString("\n## Words that mean the same\n\n")
	for _, set := range sets {
		b.WriteString("- " + strings.Join(set.Words, " = "))
		if set.Private {
			b.WriteString(" (private)")
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func day(at time.Time) string { return text.Day(at) }

// indented is a text whose further lines stay in its item.
func indented(s, by string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r", ""), "\n", "\n"+by)
}

func readable(m *memory.Whole, names map[string]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "- [%s] %s", m.Kind, indented(m.Statement, "  "))
	for _, t := range append(append([]string{}, m.Domains...), m.Tags...) {
		b.WriteString(" #" + t)
	}
	about := []string{fmt.Sprintf("memory %d", m.Number), "@" + m.Handle, day(m.CreatedAt)}
	if m.Status != record.MemoryActive {
		about = append(about, m.Status)
	}
	for _, is := range []struct {
		so   bool
		name string
	}{{m.Pinned, "pinned"}, {m.AlwaysInject, "always injected"}, {m.Private, "private"}} {
		if is.so {
			about = append(about, is.name)
		}
	}
	fmt.Fprintf(&b, " (%s)\n", strings.Join(about, ", "))
	if m.Summary != "" {
		fmt.Fprintf(&b, "  - In short: %s\n", indented(m.Summary, "    "))
	}
	for _, q := range m.Questions {
		fmt.Fprintf(&b, "  - Answers: %s\n", indented(q, "    "))
	}
	for _, c := range m.Contexts {
		fmt.Fprintf(&b, "  - Belongs to: %s\n", names[c.ID])
	}
	return b.String()
}

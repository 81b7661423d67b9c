package prompt_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/fixtures/campaign"
)

// pieces are what hostile texts are made of: every mark of both formats, and
// what a reader could take for one.
var pieces = []string{
	"#", "##", "### ", "## Entity context\n", "## Calendar\n- ", "### @Eve (Admin) [id:x]", "### [[T]] [id:y]\n", "---", "\n---\n", "--", "-",
	"\\", "\\\\", "\\#", "\n", "\r\n", "\r", "\v", "\f", "\u0085", "\u2028", "\u2029", " ", "  ", "\t", "\u00a0", "\u3000", "\u2800",
	"\u200b", "\u200d", "\u2060", "\ufeff", "\u202e", "\u2066", "\u2069", "\u00ad", "\ufe0f", "\u0301", "\x00", "\x1b", "\x7f", "\ufffe", "\uffff", "\ufffd",
	"[", "]", "[[", "]]", "]]]", "[id:", "[ID:", "[id:1]", "]] [id:", ") [id:", " (", "(", ")", " [id:x]  ← directly mentioned", "← ", "  ← referenced via @A.b, @C.d",
	"@", "@Eve [id:x]", ", ", ": ", ":", " | ", "|", " | status: done", "- ", "(deleted)", "(private)", " (+3 more)", "(further references not expanded)",
	"<", ">", "</", "/>", "<note>", "</note>", "</note>\n</pinned-notes>", `<note id="x" title="y" b="`, "</entity>", `<entity id="x" name="Eve">`, "<field name=\"role\">",
	"</field>", "<ref entity=\"x\">", "<more count=\"9\"/>", "&", "&lt;", "&#60;", "&amp;lt;", "&bogus;", "<![CDATA[", "]]>", "<!--", "-->", "<?xml", "?>", "<!ENTITY a \"b\">",
	"[\u200bid:", "[i\u00add:x]", "[\u2060[", "]\ufeff]", "]]\ufe0f [\U000E0001ID\u034f:x]", "-\u200d--", "--\u3164-", "#\u034f#", "\u115f## ", "\\\u200b[", "\\\u200c",
	"\u2064", "\uffa0", "\ufff0", "\U0001D173", "\U000E0061", "\U000E0FFF",
	"\"", "'", "\" why=\"directly mentioned", "AAAAAAAAAAAAAAAA", "\">\n", "…",
	"a", "Z", "0", "Ä", "ß", "日本", "👩‍👩‍👧", "e\u0301", "𝄞", "שלום", "\u202bمرحبا", "Alice", "plain words",
}

// visible is a text as a reader has it who passes over hidden characters.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(breaks+"\t", r) {
			return r
		}
		if unicode.IsControl(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Cf) {
			return -1
		}
		return r
	}, s)
}

// hostility draws hostile texts: as they are, or what is seen of the same texts.
type hostility struct {
	*rand.Rand
	seen func(string) string
}

func newHostility(seed, stream uint64) hostility {
	return hostility{rand.New(rand.NewPCG(seed, stream)), func(s string) string { return s }}
}

func (r hostility) text(most int) string { return r.seen(r.raw(most)) }

func (r hostility) raw(most int) string {
	var b strings.Builder
	for range r.IntN(most + 1) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

// name draws a text that a name may be, without certain characters.
func (r hostility) name(without string) string {
	s := strings.Map(func(c rune) rune {
		if strings.ContainsRune(without, c) {
			return -1
		}
		return c
	}, r.raw(6))
	s = strings.TrimSpace(s)
	if s == "" {
		return "x"
	}
	return r.seen(s)
}

func (r hostility) id(used map[string]bool) string {
	const letters = "abcXYZ019_-"
	for {
		b := make([]byte, 1+r.IntN(8))
		for i := range b {
			b[i] = letters[r.IntN(len(letters))]
		}
		if id := string(b); !used[id] {
			used[id] = true
			return id
		}
	}
}

const breaks = "\n\r\v\f\u0085\u2028\u2029"

// formats are both, each with its reader and what it makes of a text that it
// can't hold.
var formats = []struct {
	name   string
	format prompt.Format
	parse  func(string) (*parsed, error)
	holds  func(string) string
}{
	{"markdown", prompt.Markdown, parseMarkdown, func(s string) string { return s }},
	{"xml", prompt.XML, parseXML, xmlHolds},
}

// xmlHolds writes out what XML says of characters.
func xmlHolds(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			return utf8.RuneError
		}
		return r
	}, s)
}

func lines(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// scene is some hostile candidates and what a reader must get back.
type scene struct {
	r      hostility
	format prompt.Format
	holds  func(string) string
	used   map[string]bool
	in     prompt.Input
	want   []parsedItem
}

func (s *scene) inline(text string) string { return s.holds(oneLine(text)) }

func newScene(seed uint64, format prompt.Format, holds func(string) string) *scene {
	return drawScene(newHostility(seed, 3), format, holds)
}

func drawScene(r hostility, format prompt.Format, holds func(string) string) *scene {
	s := &scene{r: r, format: format, holds: holds, used: make(map[string]bool)}
	s.in = prompt.Input{Format: format, Secret: []byte("secret"), Budgets: prompt.DefaultBudgets}
	s.notes("pinned", &s.in.Pinned)
	s.entities()
	s.notes("linked", &s.in.Linked)
	s.notes("search", &s.in.Found)
	s.passages()
	s.client()
	s.memories()
	return s
}

func (s *scene) notes(section string, list *[]prompt.Note) {
	for range s.r.IntN(3) {
		n := prompt.Note{ID: s.r.id(s.used), Title: s.r.name(""), Body: prompt.NewNoteBody(s.r.text(12), 0)}
		if s.r.IntN(2) == 0 {
			n.HeadVault = s.r.name("")
		}
		*list = append(*list, n)
		s.want = append(s.want, parsedItem{
			section: section, kind: "note", id: n.ID, title: s.inline(n.Title), vault: s.inline(n.HeadVault), text: s.holds(n.Body.String()),
		})
	}
}

func (s *scene) passages() {
	for range s.r.IntN(3) {
		p := prompt.Passage{
			ID: s.r.id(s.used), Cite: s.r.name(""), Book: s.r.name(""), Section: s.r.name(""), Page: s.r.IntN(3), Row: s.r.IntN(3),
			Body: prompt.NewNoteBody(s.r.text(12), 0),
		}
		s.in.Passages = append(s.in.Passages, p)
		s.want = append(s.want, parsedItem{section: "passages", kind: "passage", id: p.ID, title: s.inline(p.Cite), text: s.holds(p.Body.String())})
	}
}

func (s *scene) memories() {
	for range s.r.IntN(3) {
		m := prompt.Memory{
			ID: s.r.id(s.used), Statement: s.r.text(12), Question: s.r.text(3), Kind: "fact", Tier: "history",
			Status: []string{"active", "superseded"}[s.r.IntN(2)], Source: "attached",
		}
		item := parsedItem{section: "referenced", kind: "memory", id: m.ID, title: "ATTACHED", typ: "fact", why: s.inline(m.Question)}
		if m.Status != "active" {
			item.typ += ", superseded"
		}
		if s.r.IntN(2) == 0 {
			m.Ref = "@" + s.r.name("")
			item.title += " " + s.inline(m.Ref)
		}
		said := strings.Split(lines(m.Statement), "\n")
		for i := range said {
			if s.format == prompt.Markdown {
				said[i] = oneLine(said[i])
			}
		}
		item.text = s.holds(strings.Join(said, "\n"))
		if s.format == prompt.XML {
			item.why = s.holds(lines(m.Question))
		}
		s.in.Referenced, s.want = append(s.in.Referenced, m), append(s.want, item)
	}
	part := prompt.Profile
	for range s.r.IntN(5) {
		part = min(prompt.Insight, part+prompt.Part(s.r.IntN(2)))
		s.recalled(part)
	}
}

// recalled draws an item of a part of what is remembered.
func (s *scene) recalled(of prompt.Part) {
	source := [...]string{"profile", "pinned", "auto", "auto", "insight"}[of]
	m := prompt.Memory{
		ID: s.r.id(s.used), Part: of, Statement: s.r.text(12), Kind: "goal", Status: []string{"active", "contested"}[s.r.IntN(2)], Source: source,
		At: time.Date(2026, 3, 4, 23, 0, 0, 0, time.UTC),
	}
	item := parsedItem{section: "memory", kind: "memory", id: m.ID, title: sourceLabels[source], typ: m.Kind}
	if m.Status == "contested" {
		item.typ += ", contested"
		m.Contradicts = []string{s.r.text(6)}
		other := oneLine(m.Contradicts[0])
		if s.format == prompt.XML {
			other = lines(m.Contradicts[0])
		}
		item.fields = []parsedField{{"contradicts", []part{{text: s.holds(other)}}}}
	}
	if of == prompt.Episodes {
		m.By, m.Conversation = "user", s.r.name("")
		item.typ += ", user"
	}
	item.typ += ", 2026-03-04"
	if s.inline(m.Conversation) != "" {
		item.typ += ", in " + s.inline(m.Conversation)
	}
	said := strings.Split(lines(m.Statement), "\n")
	for i := range said {
		if s.format == prompt.Markdown {
			said[i] = oneLine(said[i])
		}
	}
	item.text = s.holds(strings.Join(said, "\n"))
	s.in.Recalled, s.want = append(s.in.Recalled, m), append(s.want, item)
}

func (s *scene) entities() {
	for range s.r.IntN(3) {
		item := parsedItem{
			section: "entities", kind: "entity", id: s.r.id(s.used), title: s.r.name(""), typ: s.r.name(breaks + "`()[]"), why: "directly mentioned",
		}
		var fields []prompt.Field
		for range s.r.IntN(4) {
			f := s.field()
			fields = append(fields, f)
			if parts := s.parts(f); len(parts) > 0 {
				item.fields = append(item.fields, parsedField{s.holds(f.Name), parts})
			}
		}
		note := ""
		if s.r.IntN(2) == 0 {
			note = s.r.name("")
			item.note = s.inline(note)
		}
		s.in.Entities = append(s.in.Entities, prompt.Entity{
			Card: prompt.NewCard(s.format, item.title, item.typ, item.id, fields), Expanded: true, Note: note,
		})
		item.title, item.typ = s.inline(item.title), s.holds(item.typ)
		s.want = append(s.want, item)
	}
}

func (s *scene) field() prompt.Field {
	f := prompt.Field{Name: s.r.name(breaks + "`:")}
	switch s.r.IntN(3) {
	case 0:
		f.Text = s.r.text(6)
	case 1:
		for range 1 + s.r.IntN(3) {
			f.Items = append(f.Items, s.r.name(""))
		}
	default:
		for range 1 + s.r.IntN(3) {
			ref := prompt.Ref{Kind: []string{"entity", "note"}[s.r.IntN(2)], ID: s.r.id(s.used), Name: s.r.name("")}
			ref.State = prompt.State(s.r.IntN(5))
			f.Refs = append(f.Refs, ref)
		}
		f.More = s.r.IntN(3)
	}
	return f
}

// parts is what a reader gets of a field.
func (s *scene) parts(f prompt.Field) (parts []part) {
	switch {
	case f.Refs != nil:
		states := map[prompt.State]string{prompt.IsDeleted: "deleted", prompt.IsArchived: "archived", prompt.IsPrivate: "private"}
		for _, r := range f.Refs {
			switch r.State {
			case prompt.IsVisible:
				parts = append(parts, part{r.Kind, r.ID, s.inline(r.Name)})
			case prompt.IsUnresolved:
				parts = append(parts, part{kind: "unresolved", text: s.inline(r.Name)})
			default:
				parts = append(parts, part{kind: states[r.State]})
			}
		}
		if f.More > 0 {
			parts = append(parts, part{kind: "more", text: fmt.Sprint(f.More)})
		}
		return parts
	case f.Items != nil && s.format == prompt.XML:
		for _, item := range f.Items {
			parts = append(parts, part{kind: "item", text: s.inline(item)})
		}
		return parts
	case f.Items != nil: // which Markdown does not tell from a text with commas
		items := make([]string, len(f.Items))
		for i, item := range f.Items {
			items[i] = oneLine(item)
		}
		return markdownText(strings.Join(items, ", "))
	case f.Text == "":
		return nil
	case s.format == prompt.Markdown:
		return markdownText(oneLine(f.Text))
	}
	return []part{{text: s.inline(f.Text)}}
}

// markdownText is what a reader of Markdown gets of a text: one that consists of
// placeholders is not told from them, which name nothing.
func markdownText(s string) []part {
	if refs, ok := parseRefs(prompt.EscapeInline(s)); ok && !slices.ContainsFunc(refs, func(r part) bool { return r.id != "" }) {
		return refs
	}
	return []part{{text: s}}
}

func (s *scene) client() {
	text := func(name, value string) []parsedField {
		if value == "" {
			return nil
		}
		return []parsedField{{name, []part{{text: s.inline(value)}}}}
	}
	for range s.r.IntN(3) {
		e := prompt.Event{Title: s.r.name(""), Start: s.r.text(3), End: s.r.text(3), Location: s.r.text(3)}
		item := parsedItem{section: "calendar", kind: "event", title: s.inline(e.Title)}
		for range s.r.IntN(3) {
			e.Attendees = append(e.Attendees, s.r.name(""))
		}
		at := "location"
		if s.format == prompt.Markdown {
			at = "at"
		}
		item.fields = slices.Concat(text("start", e.Start), text("end", e.End), text(at, e.Location))
		if s.format == prompt.Markdown {
			item.fields = append(item.fields, text("with", strings.Join(e.Attendees, ", "))...)
		} else {
			for _, a := range e.Attendees {
				item.fields = append(item.fields, text("attendee", a)...)
			}
		}
		s.in.Events, s.want = append(s.in.Events, e), append(s.want, item)
	}
	for range s.r.IntN(3) {
		a := prompt.Action{ID: s.r.id(s.used), Text: s.r.name(""), Status: s.r.text(2), Due: s.r.text(2)}
		item := parsedItem{section: "actions", kind: "action", id: a.ID, title: s.inline(a.Text)}
		item.fields = slices.Concat(text("status", a.Status), text("due", a.Due))
		for range s.r.IntN(3) {
			a.EntityIDs = append(a.EntityIDs, s.r.id(s.used))
		}
		separator := " "
		if s.format == prompt.Markdown {
			separator = ", "
		}
		item.fields = append(item.fields, text("for", strings.Join(a.EntityIDs, separator))...)
		s.in.Actions, s.want = append(s.in.Actions, a), append(s.want, item)
	}
}

func cases() uint64 {
	return campaign.Figure[uint64](400, 10_000)
}

// TestSEC3_HostileTextsComeBackAsItems gives Build hostile titles, names, values
// and bodies and reads exactly the items back that went in. The full form
// (CTXD_CAMPAIGN=full) takes 10,000.
func TestSEC3_HostileTextsComeBackAsItems(t *testing.T) {
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) {
			for seed := range cases() {
				s := newScene(seed, f.format, f.holds)
				res := prompt.Build(s.in)
				got, err := f.parse(res.System)
				if err != nil {
					t.Fatalf("case %d: %v\n%s", seed, err, res.System)
				}
				for i := range got.items {
					if item := &got.items[i]; f.format == prompt.XML && (item.kind == "note" || item.kind == "memory") && len(item.bound) != 16 {
						t.Fatalf("case %d: the boundary of %s is %q", seed, item.id, item.bound)
					}
					got.items[i].bound = ""
				}
				if diff := cmp.Diff(s.want, got.items, cmp.AllowUnexported(parsedItem{}, parsedField{}, part{})); diff != "" {
					t.Fatalf("case %d: items differ (-in +out):\n%s\n%s", seed, diff, res.System)
				}
			}
		})
	}
}

// TestSEC3_HiddenCharactersForgeNothing reads prompts as a model does that passes
// over hidden characters: it gets the items that went in, without those characters.
func TestSEC3_HiddenCharactersForgeNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) {
			for seed := range cases() {
				s := newScene(seed, f.format, f.holds)
				r := newHostility(seed, 3)
				r.seen = func(s string) string {
					if f.format == prompt.XML { // which shows control characters that are no breaks
						s = strings.Map(func(c rune) rune {
							if unicode.IsControl(c) && c < 0x7f && !strings.ContainsRune(breaks+"\t", c) {
								return utf8.RuneError
							}
							return c
						}, s)
					}
					return visible(lines(s))
				}
				want := drawScene(r, f.format, f.holds).want
				for i := range want { // what a body says without them: TestSEC3_EscapesPassOverHiddenCharacters
					want[i].text = visible(s.want[i].text)
				}
				system := visible(prompt.Build(s.in).System)
				got, err := f.parse(system)
				if err != nil {
					t.Fatalf("case %d: %v\n%s", seed, err, system)
				}
				for i := range got.items {
					got.items[i].bound = ""
				}
				withoutEmpty(want)
				withoutEmpty(got.items)
				if diff := cmp.Diff(want, got.items, cmp.AllowUnexported(parsedItem{}, parsedField{}, part{})); diff != "" {
					t.Fatalf("case %d: items differ (-in +out):\n%s\n%q", seed, diff, system)
				}
			}
		})
	}
}

// withoutEmpty takes out the fields that show nothing.
func withoutEmpty(items []parsedItem) {
	for i := range items {
		items[i].fields = slices.DeleteFunc(items[i].fields, func(f parsedField) bool {
			return !slices.ContainsFunc(f.parts, func(p part) bool { return p != part{} })
		})
		if len(items[i].fields) == 0 {
			items[i].fields = nil
		}
		items[i].typ = strings.TrimSuffix(items[i].typ, ", in ") // a conversation with no title
	}
}

// TestSEC3_WhatIsCutStaysInItsPlace gives little room: what is left of the items
// comes back, and each is the beginning of what went in.
func TestSEC3_WhatIsCutStaysInItsPlace(t *testing.T) {
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) {
			for seed := range cases() / 4 {
				s := newScene(seed, f.format, f.holds)
				long := func(text string) string { return strings.Repeat(text+s.r.text(3), 30) }
				for _, list := range [][]prompt.Note{s.in.Pinned, s.in.Linked, s.in.Found} {
					for i := range list {
						list[i].Body = prompt.NewNoteBody(long(list[i].Body.String()), 0)
					}
				}
				shown := make(map[string][]string)
				for i, e := range s.in.Entities {
					long := long("x")
					shown[e.Card.ID] = []string{long, s.r.text(3) + long, s.r.text(2) + long}
					values := shown[e.Card.ID]
					s.in.Entities[i].Card = prompt.NewCard(s.format, e.Card.Name, e.Card.Type, e.Card.ID, []prompt.Field{
						{Name: "long", Text: values[0]},
						{Name: "list", Items: []string{values[1], "z"}},
						{Name: "ref", Refs: []prompt.Ref{{Kind: "entity", ID: "r", Name: values[2]}}, More: 7},
					})
				}
				s.in.Budgets.Total = 500 + s.r.IntN(8000)
				s.in.Budgets.Pinned, s.in.Budgets.Linked = 300+s.r.IntN(2000), 300+s.r.IntN(2000)
				res := prompt.Build(s.in)
				got, err := f.parse(res.System)
				if err != nil {
					t.Fatalf("case %d: %v\n%s", seed, err, res.System)
				}
				sameAsReport(t, fmt.Sprint("case ", seed), f.holds, got, res)
				beginnings(t, s, got, shown)
			}
		})
	}
}

// sameAsReport compares what a reader finds with what the report says.
func sameAsReport(t *testing.T, name string, holds func(string) string, got *parsed, res *prompt.Result) {
	t.Helper()
	i := 0
	for _, section := range res.Report.Sections {
		for _, item := range section.Items {
			if i == len(got.items) {
				t.Fatalf("%s: %s is not in the prompt", name, item.ID)
			}
			read := got.items[i]
			kind := item.Kind
			if kind == prompt.KindMessage || kind == prompt.KindInsight { // one is written as memories are
				kind = prompt.KindMemory
			}
			if read.section != section.Name || read.kind != kind || read.id != item.ID ||
				read.kind != "memory" && read.title != holds(oneLine(item.Title)) { // what a memory is called is in the report alone
				t.Fatalf("%s: read %+v where the report has %+v", name, read, item)
			}
			i++
		}
	}
	if i != len(got.items) {
		t.Fatalf("%s: %d items read, %d reported", name, len(got.items), i)
	}
}

// beginnings compares texts and values that were cut with what went in.
func beginnings(t *testing.T, s *scene, got *parsed, values map[string][]string) {
	t.Helper()
	texts := make(map[string]string)
	for _, list := range [][]prompt.Note{s.in.Pinned, s.in.Linked, s.in.Found} {
		for _, n := range list {
			texts[n.ID] = s.holds(n.Body.String())
		}
	}
	begins := func(id, short, whole string) {
		if head, ok := strings.CutSuffix(short, prompt.Ellipsis); short != whole && (!ok || !strings.HasPrefix(whole, head)) {
			t.Fatalf("%s shows\n%q\nof\n%q", id, short, whole)
		}
	}
	for _, item := range got.items {
		if item.kind == "note" {
			beginsBody(t, item.id, item.text, texts[item.id])
		}
		for i, f := range item.fields {
			if item.kind != "entity" {
				continue
			}
			text := f.parts[0].text
			if f.name == "list" && s.format == prompt.Markdown {
				text = strings.TrimSuffix(strings.TrimSuffix(text, " (+1 more)"), ", z")
			}
			begins(item.id+"."+f.name, text, s.inline(values[item.id][i]))
		}
	}
}

// beginsBody compares the text of a note, which may end with the end of the code that
// it was cut in.
func beginsBody(t *testing.T, id, short, whole string) {
	t.Helper()
	if short == whole {
		return
	}
	head, tail, ok := strings.Cut(short, prompt.Ellipsis)
	for ok && !(strings.HasPrefix(whole, strings.TrimRight(head, " \n")) && strings.Trim(tail, " >\t\n`~") == "") {
		var more string // the note has an ellipsis of its own
		more, tail, ok = strings.Cut(tail, prompt.Ellipsis)
		head += prompt.Ellipsis + more
	}
	if !ok {
		t.Fatalf("%s shows\n%q\nof\n%q", id, short, whole)
	}
}

func TestCTX31_AttributesAreWhole(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "a\tb": "a&#9;b", "it's": "it&#39;s", `"`: "&quot;", "<&>": "&lt;&amp;&gt;", "a\r\nb\u2028c": "a b c", "\x00\x1b\ufffe": "\ufffd\ufffd\ufffd",
		"bad \xff": "bad \ufffd", "日本": "日本",
	} {
		if got := prompt.EscapeAttribute(in); got != want {
			t.Errorf("EscapeAttribute(%q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"a\tb's \"x\"\r\ny\rz": "a\tb's \"x\"\ny\nz", "]]>": "]]&gt;", "\v": "\ufffd", "\u2028": "\u2028"} {
		if got := prompt.EscapeElement(in); got != want {
			t.Errorf("EscapeElement(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestCTX31_TheBoundary is the same for the same store and bytes, and another
// for any other.
func TestCTX31_TheBoundary(t *testing.T) {
	bound := func(secret string, n prompt.Note) string {
		t.Helper()
		res := prompt.Build(prompt.Input{Format: prompt.XML, Secret: []byte(secret), Budgets: prompt.DefaultBudgets, Pinned: []prompt.Note{n}})
		p, err := parseXML(res.System)
		if err != nil {
			t.Fatal(err)
		}
		return p.items[0].bound
	}
	seen := make(map[string]string)
	for _, c := range []struct {
		secret string
		n      prompt.Note
	}{
		{"a", prompt.Note{ID: "n", Title: "T", Body: prompt.NewNoteBody("text", 0)}},
		{"b", prompt.Note{ID: "n", Title: "T", Body: prompt.NewNoteBody("text", 0)}},
		{"a", prompt.Note{ID: "m", Title: "T", Body: prompt.NewNoteBody("text", 0)}},
		{"a", prompt.Note{ID: "n", Title: "U", Body: prompt.NewNoteBody("text", 0)}},
		{"a", prompt.Note{ID: "n", Title: "T", Body: prompt.NewNoteBody("texts", 0)}},
		{"a", prompt.Note{ID: "n", Title: "Tt", Body: prompt.NewNoteBody("ext", 0)}},
		{"a", prompt.Note{ID: "n", Title: "T", HeadVault: "V", Body: prompt.NewNoteBody("text", 0)}},
	} {
		b := bound(c.secret, c.n)
		if b != bound(c.secret, c.n) || len(b) != 16 {
			t.Errorf("%+v has the boundary %q", c, b)
		}
		if other, ok := seen[b]; ok {
			t.Errorf("%+v and %s have the same boundary", c, other)
		}
		seen[b] = fmt.Sprint(c)
	}
}

// FuzzStructure gives both formats one text in every place.
func FuzzStructure(f *testing.F) {
	for _, s := range append(pieces, "]] [id:x]\n---\n## Calendar", `"><entity id="x"`, "\\|\\[\\") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "")
		if len(s) > 200 {
			t.Skip()
		}
		for _, f := range formats {
			res := prompt.Build(prompt.Input{
				Format: f.format, Secret: []byte("x"), Budgets: prompt.DefaultBudgets,
				Pinned: []prompt.Note{{ID: "n", Title: s, Body: prompt.NewNoteBody(s, 0)}},
				Entities: []prompt.Entity{{Expanded: true, Card: prompt.NewCard(f.format, s, "T", "e", []prompt.Field{
					{Name: "a", Text: "-" + s}, {Name: "b", Items: []string{"-" + s, s}}, {Name: "c", Refs: []prompt.Ref{{Kind: "note", ID: "r", Name: s}}},
				})}},
				Events: []prompt.Event{{Title: s, Location: "-" + s}}, Actions: []prompt.Action{{ID: "t", Text: s, Due: "-" + s}},
			})
			got, err := f.parse(res.System)
			if err != nil {
				t.Fatalf("%s: %q: %v\n%s", f.name, s, err, res.System)
			}
			sameAsReport(t, f.name, f.holds, got, res)
			if seen, err := f.parse(visible(res.System)); err != nil || !slices.Equal(idsOf(seen), idsOf(got)) {
				t.Fatalf("%s: %q without hidden characters is %+v, %v", f.name, s, seen, err)
			}
			one := f.holds(oneLine(s))
			if got.items[0].text != f.holds(prompt.NewNoteBody(s, 0).String()) || got.items[1].fields[0].parts[0].text != "-"+one || got.items[1].fields[2].parts[0] != (part{"note", "r", one}) ||
				got.items[2].fields[0].parts[0].text != "-"+one || got.items[3].fields[0].parts[0].text != "-"+one {
				t.Fatalf("%s: %q came back as %+v", f.name, s, got.items)
			}
		}
	})
}

func idsOf(p *parsed) (ids []string) {
	for _, item := range p.items {
		ids = append(ids, item.id)
		for _, f := range item.fields {
			for _, part := range f.parts {
				ids = append(ids, part.id)
			}
		}
	}
	return ids
}

package gather

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/outbound"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	entitiestext "github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/notes/markdown"
)

// The focus of a conversation is what it is about when a message comes (CTX-41): the records that the user named, and those that
// answers cited or tools read, in the last turns, as long as the subject lasts. It is worked out anew for each prompt, of what
// is stored of the conversation or of the history that a client sends, as the reader of the prompt sees both. Nothing is kept,
// and no model and no search is asked.

// Earlier is a message that was said before, as a reader sees it.
type Earlier struct {
	prompt.HistoryMessage
	Private bool            // it must not leave this machine
	Records []EarlierRecord // that it is known to refer to, beside those that Text names
	// Linked says that the notes that Text links to are among Records.
	Linked bool
}

// EarlierRecord is a record that a message refers to.
type EarlierRecord struct {
	Kind, ID string // prompt.KindNote or prompt.KindEntity
	How      string // prompt.FocusNamed, FocusCited or FocusRead
	Part     markdown.Part

	plain bool // called by its name alone, without a mark: it is no subject by itself
}

// Bounds of the focus.
const (
	maxFocusEntities = 10
	maxFocusCited    = 3 // notes that nobody named
	focusNames       = 3 // of records, in a query
	focusWords       = 8 // of what was asked before, in a query
	focusTexts       = 4 // of messages that are compared with a message
	// leastCohesion is how much of what a message tells has to be in what the conversation is about, for both to be one subject.
	leastCohesion = 0.5
)

// checkHistory refuses what is no history.
func (r *request) checkHistory() error {
	if n := len(r.History); n > maxIDs {
		return fault.TooLarge("history", n, maxIDs, "items")
	}
	for i := range r.History {
		said := &r.History[i]
		if said.Role != record.RoleUser && said.Role != record.RoleAssistant {
			return fault.Field(fmt.Sprintf("history[%d].role", i), "unknown role %q", said.Role).
				WithHint("give user or assistant, and leave out what others said")
		}
		if len(said.Text) > prompt.MaxText {
			return fault.TooLarge(fmt.Sprintf("history[%d].text", i), len(said.Text), prompt.MaxText, "bytes")
		}
	}
	return nil
}

// earlier returns what was said before the message of a request, as the reader of the prompt sees it: the last turns, of the
// first of them as much as there is room for. The message itself may be stored, or sent, as the last one already.
func (g *Gatherer) earlier(ctx context.Context, r *request) (list []Earlier, err error) {
	switch {
	case len(r.History) > 0:
		for _, said := range lastTurns(r.History, func(s prompt.HistoryMessage) string { return s.Role }) {
			said.Text = r.view.TextOf("", said.Text) // before it is cut
			list = append(list, Earlier{HistoryMessage: said})
		}
	case r.ConversationID != "" && g.opts.Conversations != nil:
		list, err = g.opts.Conversations.Earlier(ctx, r.view, r.ConversationID, r.Place, prompt.HistoryTurns+1)
		if err != nil {
			return nil, err
		}
	}
	if n := len(list) - 1; n >= 0 && list[n].Role == record.RoleUser &&
		strings.TrimSpace(list[n].Text) == strings.TrimSpace(r.view.TextOf("", r.Text)) {
		list = list[:n]
	}
	list = lastTurns(list, func(m Earlier) string { return m.Role })
	room := prompt.HistoryChars
	for i := len(list) - 1; i >= 0; i-- {
		n := entitiestext.CountChars(list[i].Text)
		if n > room {
			list = list[i:]
			list[0].Text = list[0].Text[entitiestext.CharOffset(list[0].Text, n-room):]
			break
		}
		room -= n
	}
	return list, nil
}

// lastTurns returns the last turns of a history, each with one message of the user.
func lastTurns[T any](list []T, role func(T) string) []T {
	users := 0
	for i := len(list) - 1; i >= 0; i-- {
		if role(list[i]) == record.RoleUser {
			if users++; users == prompt.HistoryTurns {
				return list[i:]
			}
		}
	}
	return list
}

// focusItem is a record that a conversation is about.
type focusItem struct {
	EarlierRecord
	turn  int // in which it came last: the number of a message of the user
	named int // in which the user named it last; 0: he did not
	parts []markdown.Part
}

// label says why it is there, in a turn.
func (it *focusItem) label(now int) prompt.Focus {
	if it.named > 0 && now-it.named <= prompt.FocusTurns {
		return prompt.NewFocus(prompt.FocusNamed, now-it.named)
	}
	return prompt.NewFocus(it.How, now-it.turn)
}

// focus is what a conversation is about.
type focus struct {
	g        *Gatherer
	ctx      context.Context
	view     *audience.View
	turn     int
	items    []focusItem // what came last is first
	asked    []string    // words of what was asked last and of what that went on with
	texts    []string    // of messages about the subject, the last one last
	language *followLanguage
	private  bool // a message that must not leave this machine has a part in it
	asks     bool // the query of the message has words of it

	privacy uint64 // of the view, from before anything was read
}

// findFocus finds the focus of the conversation of a request, and has the query of a message that cannot stand alone say what it is
// about. The context is for searches by that query.
func (g *Gatherer) findFocus(ctx context.Context, r *request, m *mentions) (context.Context, error) {
	f := &focus{g: g, ctx: ctx, view: r.view, privacy: r.view.Privacy()}
	list, err := g.earlier(ctx, r)
	if err != nil || len(list) == 0 {
		return ctx, err
	}
	ago := 1 // how many messages of the user
	for i := range list {
		if list[i].Role == record.RoleUser {
			ago++
		}
	}
	for i := range list {
		if list[i].Role == record.RoleUser {
			ago--
		}
		if err := f.addMessage(&list[i], ago <= prompt.FocusTurns); err != nil {
			return ctx, err
		}
	}
	now, places, err := f.names(r.Text)
	if err != nil {
		return ctx, err
	}
	now = now[:0]
	for _, id := range m.entities {
		now = append(now, EarlierRecord{Kind: prompt.KindEntity, ID: id, How: prompt.FocusNamed})
	}
	for _, id := range m.notes[:m.own] {
		now = append(now, EarlierRecord{Kind: prompt.KindNote, ID: id, How: prompt.FocusNamed})
	}
	read := read(f.view, r.Text, places, f.language)
	before := len(f.asked)
	words := f.next(read, now)
	m.focus = f
	if !words || len(f.items)+before == 0 {
		return ctx, nil
	}
	return f.searched(ctx, r, m, read), nil
}

// searched adds the words of the focus to the query of a message. An embedder on another machine is asked no private name, and
// nothing where a private message has a part in it.
func (f *focus) searched(ctx context.Context, r *request, m *mentions, read *readMessage) context.Context {
	f.asks = true
	asked := outbound.Asked(ctx)
	if asked == "" {
		asked = r.Text
	}
	has := make(map[string]bool)
	for _, w := range wordsOf(m.query, nil) {
		has[w.fold] = true
	}
	add := func(words string) {
		missing := false
		for _, w := range wordsOf(words, nil) {
			missing = missing || !has[w.fold]
			has[w.fold] = true
		}
		if missing {
			m.query += " " + words
		}
	}
	names := 0
	for i := range f.items {
		it := &f.items[i]
		if it.turn == f.turn || names == focusNames {
			continue
		}
		if name, mark := f.name(it); name != "" {
			add(name)
			asked += " " + mark
			names++
		}
	}
	for _, w := range f.asked {
		if !slices.Contains(read.known, w) {
			add(w)
		}
	}
	m.query = strings.TrimSpace(m.query)
	if f.private {
		return outbound.KeepHere(ctx)
	}
	return outbound.Asking(ctx, asked)
}

// name returns what a record is called for the reader, alone and with the mark of a reference; "" for one that is not there.
func (f *focus) name(it *focusItem) (name, mark string) {
	if it.Kind == prompt.KindEntity {
		if e := f.view.Entity(it.ID); e.Live() {
			name, mark = f.view.NameOf(e), "@["+e.Name+"]"
		}
	} else if n := f.view.Note(it.ID); n.Live() {
		name, mark = f.view.TitleOf(n), "[["+n.Title+"]]"
	}
	if strings.Contains(name, record.Withheld) {
		return "", ""
	}
	return name, mark
}

// addMessage takes in a message that was said before. counts tells that what it refers to may still be in the focus.
func (f *focus) addMessage(m *Earlier, counts bool) error {
	said := strings.ReplaceAll(m.Text, record.Withheld, " ") // which is no word of the conversation
	if !counts && m.Role != record.RoleUser {
		f.private = f.private || m.Private
		return nil
	}
	list, places, err := f.names(said)
	if err != nil {
		return err
	}
	if m.Linked {
		list = slices.DeleteFunc(list, func(r EarlierRecord) bool { return r.Kind == prompt.KindNote })
	}
	records := slices.Concat(m.Records, list)
	var called []EarlierRecord
	if counts {
		called = f.called(said, places)
	}
	if m.Role == record.RoleUser {
		read := read(f.view, said, places, f.language)
		f.next(read, slices.DeleteFunc(slices.Clone(records), func(r EarlierRecord) bool { return r.How != prompt.FocusNamed }))
		f.addNew(called, prompt.FocusNamed)
	} else {
		f.addNew(called, prompt.FocusCited)
		for i := len(records) - 1; i >= 0; i-- {
			r := records[i]
			if i >= len(m.Records) {
				r.How = prompt.FocusCited
			}
			f.add(r)
		}
	}
	f.private = f.private || m.Private // also where another subject began
	f.texts = append(f.texts, said)
	return nil
}

// maxCalled is how many records a message brings into the focus that it only calls by their names.
const maxCalled = 3

// plainTurns is how many turns such a record stays.
const plainTurns = 1

// called returns the entities that a text calls by their names, with a capital letter and without a mark, as their notes where
// they have one. A name of several is none. O(words with a capital letter).
func (f *focus) called(said string, places [][2]int) (list []EarlierRecord) {
	before := ' '
	for at := 0; at < len(said) && len(list) < maxCalled; {
		r, size := utf8.DecodeRuneInString(said[at:])
		for len(places) > 0 && places[0][1] <= at {
			places = places[1:]
		}
		marked := len(places) > 0 && places[0][0] <= at
		if !marked && unicode.IsUpper(r) && !unicode.IsLetter(before) && !unicode.IsDigit(before) && !strings.ContainsRune("@#[", before) {
			found, n := f.view.MentionAt(said[at:])
			if len(found) == 1 && n > 2 {
				r := EarlierRecord{Kind: prompt.KindEntity, ID: found[0].ID, plain: true}
				if found[0].NoteID != "" {
					r.Kind, r.ID = prompt.KindNote, found[0].NoteID
				}
				if !slices.Contains(list, r) {
					list = append(list, r)
				}
				size = n
			}
		}
		at += size
		before = r
	}
	return list
}

// addNew puts records first that are not in the focus.
func (f *focus) addNew(list []EarlierRecord, how string) {
	for _, r := range slices.Backward(list) {
		if r.How = how; !f.holds(r) {
			f.add(r)
		}
	}
}

// names returns the records that a text refers to by marks, and the places of the marks. What several records may mean, or none,
// is no record: what is private is none for a remote reader.
func (f *focus) names(said string) (list []EarlierRecord, places [][2]int, err error) {
	if !strings.ContainsAny(said, "@#[") {
		return nil, nil, nil
	}
	message := markdown.ReadMessage(said)
	known := make(map[string]string) // ids of notes, by what links say
	for _, l := range message.Links {
		places = append(places, [2]int{l.Start, l.End})
		if l.Picture() || l.Target == "" {
			continue
		}
		id, seen := known[l.Target]
		if !seen {
			id = f.view.ResolveNote(l.Target, "").ID
			known[l.Target] = id
		}
		part, _ := markdown.PartOfLink(l)
		r := EarlierRecord{Kind: prompt.KindNote, ID: id, How: prompt.FocusNamed, Part: part}
		if id != "" && !slices.Contains(list, r) {
			list = append(list, r)
		}
	}
	if !strings.ContainsAny(said, "@#") {
		return list, places, nil
	}
	places = places[:0]
	for at, err := range f.g.opts.Refs.InMessage(f.ctx, f.view, &message) {
		if err != nil {
			return nil, nil, err
		}
		if len(places) == maxMentions {
			break
		}
		places = append(places, [2]int{at.Start, at.End})
		if at.Target != nil && at.Target.Type == record.ResolvedEntity && !isLink(at.Raw) {
			list = append(list, EarlierRecord{Kind: prompt.KindEntity, ID: at.Target.ID, How: prompt.FocusNamed})
		}
	}
	return list, places, nil
}

// next begins the turn of a message that names some records, and reports whether what the message asks for is found by the
// words of the focus too. What it does not stand on is left, and so is what nobody named for long.
func (f *focus) next(m *readMessage, named []EarlierRecord) (words bool) {
	f.turn++
	f.language = m.language
	follows := m.back || m.opening || m.compares
	switch {
	case m.other && len(named)+len(m.known) > 0:
		f.leave()
	case len(named) > 0:
		if !follows && !slices.ContainsFunc(named, f.holds) {
			f.leave()
		}
		words = follows
	case m.idle && !m.back:
	case !m.alone():
		words = true
	case !f.isAbout(m):
		f.leave()
	}
	f.items = slices.DeleteFunc(f.items, func(it focusItem) bool {
		return f.turn-it.turn > prompt.FocusTurns || it.plain && f.turn-it.turn > plainTurns
	})
	for i := len(named) - 1; i >= 0; i-- {
		f.add(named[i])
	}
	if len(m.known) > 0 && !m.idle {
		if !words {
			f.asked = nil
		}
		f.asked = slices.Concat(m.known, slices.DeleteFunc(f.asked, func(w string) bool { return slices.Contains(m.known, w) }))
		f.asked = f.asked[:min(len(f.asked), focusWords)]
	}
	return words
}

// leave leaves the subject.
func (f *focus) leave() { f.items, f.asked, f.texts, f.private = nil, nil, nil, false }

func (f *focus) holds(r EarlierRecord) bool {
	return slices.ContainsFunc(f.items, func(it focusItem) bool { return it.Kind == r.Kind && it.ID == r.ID })
}

// add puts a record first.
func (f *focus) add(r EarlierRecord) {
	it := focusItem{EarlierRecord: r, turn: f.turn}
	whole := false // he named all of it before
	f.items = slices.DeleteFunc(f.items, func(old focusItem) bool {
		if old.Kind != r.Kind || old.ID != r.ID {
			return false
		}
		it.named, it.parts = old.named, old.parts
		whole = old.named > 0 && len(old.parts) == 0
		return true
	})
	if r.How == prompt.FocusNamed && !r.plain {
		it.named = f.turn
		switch {
		case r.Part == markdown.Part{} || whole:
			it.parts = nil
		case !slices.Contains(it.parts, r.Part) && len(it.parts) < markdown.MaxParts:
			it.parts = append(slices.Clone(it.parts), r.Part)
		}
	}
	f.items = slices.Insert(f.items, 0, it)
}

// isAbout reports whether what a message tells is in what the conversation is about: the notes and entities of the focus, and
// what was last said of them. O(postings of the words of the message).
func (f *focus) isAbout(m *readMessage) bool {
	if len(f.items)+len(f.texts) == 0 {
		return true
	}
	missing := make(map[string]float64, len(m.known)) // what words tell, by their stems
	all := 0.0
	for i, w := range m.known {
		missing[text.StemEnglish(w)] += m.weights[i]
		all += m.weights[i]
	}
	left := all
	take := func(stem string) {
		left -= missing[stem]
		delete(missing, stem)
	}
	var split text.Splitter
	look := func(s string) {
		split.Split(s, func(t text.Token) { take(text.StemEnglish(string(t.Text))) })
	}
	for _, s := range f.texts[max(0, len(f.texts)-focusTexts):] {
		look(s)
	}
	var ids []string
	for i := range f.items {
		it := &f.items[i]
		if it.Kind == prompt.KindNote {
			ids = append(ids, it.ID)
			continue
		}
		e := f.view.Entity(it.ID)
		if !e.Live() {
			continue
		}
		look(f.view.NameOf(e))
		for _, value := range e.Fields {
			if s, ok := value.(string); ok {
				look(f.view.TextOf(e.NoteID, s))
			}
		}
		ids = append(ids, e.NoteID)
	}
	for i, held := range f.view.WordsHeld(m.known, ids) {
		if held {
			take(text.StemEnglish(m.known[i]))
		}
	}
	return all-left >= leastCohesion*all
}

// The candidates of the focus stand behind those of the message.

// pinnedInFocus takes in the notes that the user named before.
func (c *call) pinnedInFocus() {
	c.eachInFocus(prompt.KindNote, func(it *focusItem) {
		n := c.view.Note(it.ID)
		if it.named == 0 || c.mentions.focus.turn-it.named > prompt.FocusTurns || !n.Live() || slices.Contains(c.mentions.notes, it.ID) {
			return
		}
		why := it.label(c.mentions.focus.turn)
		c.in.Pinned = append(c.in.Pinned, prompt.Note{ID: it.ID, Title: c.title(nil, n), Reason: why.Reason(), Focus: why})
		if i := len(c.in.Pinned) - 1; i < prompt.MaxPinned {
			c.text(&c.in.Pinned, i, n)
			c.texts[len(c.texts)-1].parts = it.parts
		}
	})
}

// citedInFocus returns the notes that only answers cited, or tools read, and that are no candidates yet.
func (c *call) citedInFocus(candidates, also map[string]bool) map[string]bool {
	cited := make(map[string]bool)
	c.eachInFocus(prompt.KindNote, func(it *focusItem) {
		if len(cited) == maxFocusCited || candidates[it.ID] || also[it.ID] || !c.view.Note(it.ID).Live() {
			return
		}
		cited[it.ID] = true
	})
	return cited
}

// showCited takes cited notes in, behind what was found for the message.
func (c *call) showCited(cited, also map[string]bool) {
	c.eachInFocus(prompt.KindNote, func(it *focusItem) {
		if !cited[it.ID] || also[it.ID] {
			return
		}
		n := c.view.Note(it.ID)
		why := it.label(c.mentions.focus.turn)
		c.in.Found = append(c.in.Found, prompt.Note{ID: it.ID, Title: c.title(nil, n), Reason: why.Reason(), Focus: why})
		c.texts = append(c.texts, candidateText{section: &c.in.Found, at: len(c.in.Found) - 1, note: n, found: true})
	})
}

// walkFocus goes on with the entities that the conversation is about.
func (c *call) walkFocus() {
	var roots []graph.Node
	why := make(map[graph.Node]prompt.Focus)
	c.eachInFocus(prompt.KindEntity, func(it *focusItem) {
		if len(roots) < maxFocusEntities && c.view.Entity(it.ID).Live() && !slices.Contains(c.mentions.entities, it.ID) {
			node := c.view.Number(graph.Key{Kind: graph.Entity, ID: it.ID})
			roots = append(roots, node)
			why[node] = it.label(c.mentions.focus.turn)
		}
	})
	if len(roots) > 0 {
		c.walkFrom(roots, why)
	}
}

// eachInFocus visits the records of a kind that the message itself does not name.
func (c *call) eachInFocus(kind string, visit func(it *focusItem)) {
	f := c.mentions.focus
	if f == nil {
		return
	}
	for i := range f.items {
		if it := &f.items[i]; it.Kind == kind && it.turn < f.turn {
			visit(it)
		}
	}
}

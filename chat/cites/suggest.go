package cites

// A NoteSuggester names notes that are related to a conversation and that it does not refer to yet (CHAT-31).
//
// [NoteSuggester.Of] joins three lists of notes: those that are linked with notes of the conversation, those that other
// conversations stood on together with them (together.go), and those that the last messages find by their words. A note
// gets 1 / (60 + place) of each list that it is in, and the best sums come first; each note says by which of the lists
// it came. README.md has the order of each list.
//
// All three are made of what the View shows, so neither order nor reasons tell a remote reader of private records. The
// error is NotFound under "conversationId". Asking takes O(links and references of the notes of the conversation) and
// one search by words.

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/notedoc"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/yield"
	"github.com/ctxd/ctxd/notes"
)

const (
	maxSeeds    = 24   // notes of the conversation that are started from, those of its last messages
	maxLinks    = 1000 // links and as many backlinks of a note that are looked at
	maxList     = 50   // notes of each list
	lastTurns   = 8    // messages that are looked at for those of the user
	maxAsked    = 2    // messages of the user whose words are looked for
	maxWords    = 12   // different words of them
	rankedBelow = 60   // of the reciprocal ranks: how little the first places differ
)

// NoteSuggester suggests notes. New makes one.
type NoteSuggester struct {
	chats *chat.Store
	cites *Index
}

// NewSuggester returns the Suggester of a store of conversations and of what their messages refer to.
func NewSuggester(chats *chat.Store, cites *Index) *NoteSuggester {
	return &NoteSuggester{chats, cites}
}

// near is a note with its places in the lists, from 1; 0: it is not in one.
type near struct {
	note   *notes.Note
	title  string
	places [len(reasons)]int
	why    [len(reasons)]string
}

// reasons are the lists, in the order in which they are told where several have a note at the same place.
var reasons = [...]string{turn.SuggestLink, turn.SuggestTogether, turn.SuggestSearch}

// asking is one question for suggestions.
type asking struct {
	*NoteSuggester
	ctx   context.Context
	view  *audience.View
	id    string          // of the conversation
	seeds []string        // ids of notes that it stood on, those of the last messages first
	known map[string]bool // notes that it refers to
	found map[string]*near
}

// Of returns up to limit notes for a conversation, which is named by its id or handle, the best first.
func (s *NoteSuggester) Of(ctx context.Context, v *audience.View, conversation string, limit int) (*turn.ChatSuggestions, error) {
	c, err := s.chats.Get(ctx, v, conversation)
	if err != nil {
		return nil, fault.Under("conversationId", err)
	}
	a := &asking{NoteSuggester: s, ctx: ctx, view: v, id: c.ID, known: make(map[string]bool), found: make(map[string]*near)}
	a.start(c.PinnedNoteIDs)
	if err := a.linked(); err != nil {
		return nil, err
	}
	if err := a.together(); err != nil {
		return nil, err
	}
	if err := a.said(c.Messages); err != nil {
		return nil, err
	}
	return &turn.ChatSuggestions{Items: a.best(limit)}, nil
}

// start finds out what the conversation refers to. What stands in every prompt of it belongs to that.
func (a *asking) start(pinned []string) {
	var found []string
	for _, r := range a.cites.In(a.view, a.id) {
		a.known[r.NoteID] = true
		switch {
		case a.view.Note(r.NoteID) == nil: // it is gone
		case r.Stood:
			a.seeds = append(a.seeds, r.NoteID)
		default:
			found = append(found, r.NoteID)
		}
	}
	for _, id := range pinned {
		if a.known[id] = true; !slices.Contains(a.seeds, id) {
			a.seeds = append(a.seeds, id)
		}
	}
	if len(a.seeds) == 0 {
		a.seeds = found
	}
	a.seeds = a.seeds[:min(len(a.seeds), maxSeeds)]
}

// may returns a note that may be suggested, nil for one that may not.
func (a *asking) may(id string) *notes.Note {
	if a.known[id] {
		return nil
	}
	if n := a.view.Note(id); n.Live() {
		return n
	}
	return nil
}

// take puts a note at the end of a list.
func (a *asking) take(list, place int, n *notes.Note, why string) {
	c := a.found[n.ID]
	if c == nil {
		c = &near{note: n, title: a.view.TitleOf(n)}
		a.found[n.ID] = c
	}
	c.places[list], c.why[list] = place, why
}

// suggestedLink is how a note is linked with notes of the conversation.
type suggestedLink struct {
	note     *notes.Note
	title    string
	seeds    int  // with how many
	first    int  // the place of the first of them
	from, to bool // it is linked from one of them, and links to one
}

// linked finds the notes that link to notes of the conversation or are linked from them: those that are linked with
// most of them first, then those that are linked both ways, then those that are linked from them, then in the order of
// the notes of the conversation.
func (a *asking) linked() error {
	all := make(map[string]*suggestedLink)
	for i, seed := range a.seeds {
		if err := yield.Point(a.ctx); err != nil {
			return err
		}
		met := make(map[string]bool)
		meet := func(id string) *suggestedLink {
			l := all[id]
			if l == nil {
				n := a.may(id)
				if n == nil {
					return &suggestedLink{}
				}
				l = &suggestedLink{note: n, title: a.view.TitleOf(n), first: i}
				all[id] = l
			}
			if !met[id] {
				met[id] = true
				l.seeds++
			}
			return l
		}
		out, _ := a.view.Links(seed)
		for _, o := range out[:min(len(out), maxLinks)] {
			if o.Kind != notes.LinkToAttachment {
				meet(o.ID).from = true
			}
		}
		in := a.view.Backlinks(seed)
		for i := range in[:min(len(in), maxLinks)] {
			meet(in[i].ID).to = true
		}
	}
	list := make([]*suggestedLink, 0, len(all))
	for _, l := range all {
		list = append(list, l)
	}
	slices.SortFunc(list, func(x, y *suggestedLink) int {
		return cmp.Or(y.seeds-x.seeds, first(x.from && x.to, y.from && y.to), first(x.from, y.from), x.first-y.first,
			entities.CompareNatural(x.title, y.title), strings.Compare(x.note.ID, y.note.ID))
	})
	for i, l := range list[:min(len(list), maxList)] {
		a.take(0, i+1, l.note, a.whyLinked(l))
	}
	return nil
}

// first puts what is true before what is not.
func first(x, y bool) int {
	switch {
	case x == y:
		return 0
	case x:
		return -1
	}
	return 1
}

func (a *asking) whyLinked(l *suggestedLink) string {
	seed := a.titleOf(l.first)
	switch {
	case l.seeds > 1:
		return fmt.Sprintf("It is linked with %s and %s of the conversation", seed, countedNoun(l.seeds-1, "other note"))
	case l.from && l.to:
		return "It is linked with " + seed + " both ways"
	case l.from:
		return seed + " links to it"
	}
	return "It links to " + seed
}

// titleOf is what the reader knows a note of the conversation by, by its place.
func (a *asking) titleOf(seed int) string {
	n := a.view.Note(a.seeds[seed])
	if n == nil { // it was deleted meanwhile
		return "a note"
	}
	return a.view.TitleOf(n)
}

// together finds the notes that other conversations stood on together with notes of this one.
func (a *asking) together() error {
	list, err := a.cites.Together(a.ctx, a.view, a.id, a.seeds, maxList, func(id string) bool { return a.may(id) == nil })
	if err != nil {
		return err
	}
	for i, t := range list {
		n := a.may(t.NoteID)
		if n == nil {
			continue
		}
		verb := "have"
		if t.Conversations == 1 {
			verb = "has"
		}
		a.take(1, i+1, n, fmt.Sprintf("%s %s used it and %s", countedNoun(t.Conversations, "other conversation"), verb, a.titleOf(t.With)))
	}
	return nil
}

// said finds the notes that the last messages of the user are about, by their words.
func (a *asking) said(messages int) error {
	if !a.view.CanSearch() {
		return nil
	}
	page, err := a.chats.Messages(a.ctx, a.view, a.id, "", max(0, messages-lastTurns), lastTurns)
	if err != nil {
		return fault.Under("conversationId", err)
	}
	var asked []string
	for _, m := range slices.Backward(page.Messages) {
		if m.Role == record.RoleUser && len(asked) < maxAsked {
			asked = append(asked, m.Content)
		}
	}
	query := wordsOf(strings.Join(asked, "\n"))
	if query == "" {
		return nil
	}
	res, err := a.view.Search(a.ctx, search.Request{
		Query: query, Mode: search.Lexical, Plain: true, Limit: maxList,
		Keep: func(d text.Doc) bool { n := notedoc.Note(d); return n.Live() && !a.known[n.ID] },
	})
	if err != nil {
		return err
	}
	for i := range res.Hits {
		if n := a.may(res.Hits[i].Doc.ID()); n != nil {
			a.take(2, i+1, n, "It has words of what was said last")
		}
	}
	return nil
}

// wordsOf returns the first words of a text that say something, each once.
func wordsOf(text string) string {
	text = strings.ReplaceAll(text, record.Withheld, " ")
	var words []string
	for word := range strings.FieldsFuncSeq(text, func(c rune) bool { return strings.ContainsRune(" \t\r\n[]|#^()<>{}\"`*_,;:!?", c) }) {
		word = strings.Trim(word, ".'-/\\")
		if folded := entities.Fold(word); folded == "" || len(word) > 64 || !search.IsInformative(folded) || slices.Contains(words, folded) {
			continue
		} else if words = append(words, folded); len(words) == maxWords {
			break
		}
	}
	return strings.Join(words, " ")
}

// best returns the best notes.
func (a *asking) best(limit int) []turn.ChatSuggestion {
	list := make([]*near, 0, len(a.found))
	for _, n := range a.found {
		list = append(list, n)
	}
	slices.SortFunc(list, func(x, y *near) int {
		return cmp.Or(cmp.Compare(y.score(), x.score()), entities.CompareNatural(x.title, y.title), strings.Compare(x.note.ID, y.note.ID))
	})
	out := make([]turn.ChatSuggestion, 0, limit)
	for _, n := range list[:min(len(list), limit)] {
		by := n.by()
		out = append(out, turn.ChatSuggestion{
			NoteID: n.note.ID, Title: n.title, Vault: a.view.VaultOf(n.note), Path: n.note.Path, Reason: reasons[by], Why: n.why[by],
		})
	}
	return out
}

// score is the sum of the reciprocal ranks (Cormack, Clarke, Büttcher, Reciprocal Rank Fusion, 2009). The lists are
// summed in the same order each time, so equal places give equal sums.
func (n *near) score() (sum float64) {
	for _, place := range n.places {
		if place > 0 {
			sum += 1 / float64(rankedBelow+place)
		}
	}
	return sum
}

// by returns the list in which a note is best.
func (n *near) by() (best int) {
	for i, place := range n.places {
		if place > 0 && (n.places[best] == 0 || place < n.places[best]) {
			best = i
		}
	}
	return best
}

func countedNoun(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprint(n, " ", what, "s")
}

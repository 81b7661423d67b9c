package audience

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/clipperhouse/uax29/v2/words"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/yield"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

// Prose returns the places where public records spell out what private ones are called
// without marking it: what a remote reader is shown of private names (PRIV-10). of
// names the private record that is looked for, "" for all of them. It returns limit
// places at most, by title and line, those behind after; next is where more follow, nil
// when none do. A remote reader has none.
//
// Names and texts are compared word by word (UAX 29, folded), of a name the first
// maxPhrase words. Each text is read once: O(text), for any number of names. What
// also a public record is called names nothing private. ctx ends it between words.
func (v *View) Prose(ctx context.Context, of string, after *ProsePlace,
	limit int,
) (places []record.PrivacyPlace, next *ProsePlace, err error) {
	if v.hides {
		return nil, nil, nil
	}
	p := &proseSearch{remote: &v.rooms.remote, names: v.phrases(ctx, of), ctx: ctx}
	if len(p.names.next) == 0 {
		return nil, nil, ctx.Err()
	}
	for _, r := range p.publicRecords(after) {
		skipped := 0 // places of the record that stand before after
		if after != nil && r.compare(after) == 0 {
			skipped = after.Places
		}
		from := len(p.found)
		p.most = limit + skipped + 1
		err := p.record(r)
		if err != nil {
			return nil, nil, err
		}
		p.found = slices.Delete(p.found, from, min(from+skipped, len(p.found)))
		if len(p.found) > limit {
			end := ProsePlace{Title: r.title, Kind: r.kind, ID: r.id, Places: skipped + limit - from}
			return p.found[:limit], &end, nil
		}
	}
	return p.found, nil, ctx.Err() // a text that was not read whole may hide less
}

// ProsePlace is behind so many places of prose of a public record. The record may be gone.
type ProsePlace struct {
	Title, Kind, ID string
	Places          int
}

// maxPhrase is how many words of a name are compared. It bounds what one word of a text
// costs.
const maxPhrase = 32

// phrase is a place in the trie of names: what may come next, and the private record
// that is called by the words so far, if there is one.
type phrase struct {
	next map[string]*phrase
	of   *record.PrivacyNaming
}

// phrases returns the names of private records, of those with that id if it is not "".
func (v *View) phrases(ctx context.Context, of string) *phrase {
	root := new(phrase)
	for _, r := range v.PrivateRecords() {
		if yield.Point(ctx) != nil {
			break
		}
		if of != "" && r.ID != of {
			continue
		}
		naming := &record.PrivacyNaming{Kind: r.Kind, ID: r.ID, Title: r.Title}
		for _, name := range append([]string{r.Title}, v.aliases(r)...) {
			if v.rooms.remote.namesNoPublic(name) {
				root.add(name, naming)
			}
		}
	}
	return root
}

func (v *View) aliases(r record.PrivacyRecord) []string {
	if r.Kind == record.KindNote {
		n := v.Note(r.ID)
		if n != nil {
			return n.Aliases
		}
		return nil
	}
	e := v.Entity(r.ID)
	if e != nil {
		return e.Aliases
	}
	return nil
}

// namesNoPublic reports whether what a private record is called means no public one: as
// a link it would lead to the private one, or no public record has that name.
func (v *View) namesNoPublic(name string) bool {
	look := linkLook{v: v}
	private, public := look.called(look.leadsTo(name), name)
	if private || public {
		return private
	}
	return v.notes.CalledPrivate(name) || !v.calledPublic(name)
}

// add enters a name. The first record of a name keeps it.
func (p *phrase) add(name string, of *record.PrivacyNaming) {
	at, n := p, 0
	for w := range wordsOf(name) {
		if n == maxPhrase {
			break
		}
		key := entities.Fold(name[w.Start:w.End])
		if at.next == nil {
			at.next = make(map[string]*phrase)
		}
		if at.next[key] == nil {
			at.next[key] = new(phrase)
		}
		at = at.next[key]
		n++
	}
	if n > 0 && at.of == nil {
		at.of = of
	}
}

// wordsOf yields the words of a text: runs of letters, digits and marks within the words
// of UAX 29, which keeps "Alice's" whole.
func wordsOf(text string) iter.Seq[markdown.Span] {
	return func(yield func(markdown.Span) bool) {
		for w := words.FromString(text); w.Next(); {
			start, value := -1, w.Value()
			for i, r := range value {
				if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
					if start < 0 {
						start = i
					}
					continue
				}
				if start >= 0 && !yield(markdown.Span{Start: w.Start() + start, End: w.Start() + i}) {
					return
				}
				start = -1
			}
			if start >= 0 && !yield(markdown.Span{Start: w.Start() + start, End: w.End()}) {
				return
			}
		}
	}
}

// proseSearch looks for names in texts.
type proseSearch struct {
	remote *View
	names  *phrase
	ctx    context.Context // of the one call that the search serves
	most   int             // places to look for
	found  []record.PrivacyPlace
	told   map[record.PrivacyNaming]bool // in the line of the last of them
	steps  int                           // words read and compared
}

// checkEach is how many steps are taken between two looks at whether the call goes on.
const checkEach = 256

// step counts work, and looks now and then whether the call goes on.
func (p *proseSearch) step(work int) error {
	before := p.steps
	p.steps += work
	if before/checkEach == p.steps/checkEach {
		return nil
	}
	return yield.Point(p.ctx)
}

// publicRecord is a note or an entity.
type publicRecord struct {
	note        *notes.Note
	entity      *entities.Entity
	title, kind string
	id          string
}

// compare orders a record against the one of a place.
func (r *publicRecord) compare(at *ProsePlace) int {
	return cmp.Or(entities.CompareNatural(r.title, at.Title), strings.Compare(r.kind, at.Kind),
		strings.Compare(r.id, at.ID))
}

// publicRecords lists what a remote reader sees, by title, from the record of after on,
// or all of it for nil. An entity that was made from a note says what the note says, and
// is left out.
func (p *proseSearch) publicRecords(after *ProsePlace) []publicRecord {
	var list []publicRecord
	add := func(r publicRecord) {
		if after == nil || r.compare(after) >= 0 {
			list = append(list, r)
		}
	}
	for n := range p.remote.notes.All() {
		if p.remote.SeesNote(n) {
			add(publicRecord{note: n, title: n.Title, kind: record.KindNote, id: n.ID})
		}
	}
	for e := range p.remote.entities.All() {
		if p.remote.SeesEntity(e) && !e.VaultBacked {
			add(publicRecord{entity: e, title: e.Name, kind: record.KindEntity, id: e.ID})
		}
	}
	slices.SortFunc(list, func(a, b publicRecord) int {
		return a.compare(&ProsePlace{Title: b.title, Kind: b.kind, ID: b.id})
	})
	return list
}

// record looks through one record.
func (p *proseSearch) record(r publicRecord) error {
	err := yield.Point(p.ctx)
	switch {
	case err != nil:
		return err
	case r.note != nil:
		return p.note(r.note)
	}
	return p.entity(r.entity)
}

// note looks through the text of a note, and through the names that its text does not
// give it.
func (p *proseSearch) note(n *notes.Note) error {
	at := record.PrivacyPlace{Kind: record.KindNote, ID: n.ID, Title: n.Title, Path: n.Path}
	look := linkLook{v: p.remote, ctx: p.ctx, from: n.ID}
	ended := func() bool { return p.ctx.Err() != nil }
	hidden := look.spans(n.Body, markdown.ReferencesUntil(n.Body, ended))
	block, _ := markdown.SplitFrontmatter(n.Body)
	if block.Found {
		for _, f := range p.remote.maskedFields(p.ctx, n.ID, n.Body[block.Start:block.End]) {
			hidden = append(hidden, markdown.Span{Start: block.Start + f.Start, End: block.Start + f.End})
		}
	}
	hidden = append(hidden, p.remote.maskedInline(p.ctx, n.ID, n.Body)...)
	inText := len(p.found)
	err := p.text(n.Body, hidden, at)
	if err != nil {
		return err
	}
	told := make(map[string]bool)
	for _, place := range p.found[inText:] {
		told[place.Names.ID] = true
	}
	given := len(p.found)
	err = p.values(n.ID, at, map[string][]string{"title": {n.Title}, "aliases": n.Aliases, "tags": n.Tags},
		p.remote.noteSource(n))
	p.found = append(p.found[:given], slices.DeleteFunc(p.found[given:], func(place record.PrivacyPlace) bool {
		return told[place.Names.ID]
	})...)
	return err
}

// entity looks through the names and values of an entity.
func (p *proseSearch) entity(e *entities.Entity) error {
	texts := map[string][]string{"name": {e.Name}, "aliases": e.Aliases}
	kind := p.remote.entities.TypeOf(e)
	for name := range e.Fields {
		if kind == nil {
			break // none of its values is shown
		}
		field, known := kind.Field(name)
		if known && !field.Type.IsRef() {
			texts[name] = append(texts[name], e.Strings(name)...)
		}
	}
	at := record.PrivacyPlace{Kind: record.KindEntity, ID: e.ID, Title: e.Name}
	return p.values(e.NoteID, at, texts, p.remote.entitySource(e))
}

// values looks through short texts by the field in which they stand. What is as a whole
// the name of a private record is masked, and is no prose.
func (p *proseSearch) values(from string, at record.PrivacyPlace, texts map[string][]string,
	source func(text string) []markdown.Reference,
) error {
	for _, field := range slices.Sorted(maps.Keys(texts)) {
		at.Field = field
		for _, text := range texts[field] {
			if p.remote.calledPrivate(text) {
				continue
			}
			look := linkLook{v: p.remote, ctx: p.ctx, from: from}
			hidden := look.spans(text, slices.Values(source(text)))
			hidden = append(hidden, look.spans(text, markdown.References(text))...)
			err := p.text(text, hidden, at)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// word is a word of a text; its key is "" where it is not shown to a remote reader.
type word struct {
	markdown.Span
	key string
}

// text looks for names in a text, of which some places are masked. Of several names at
// one place the longest counts, and of several places in one line the first of each
// record.
func (p *proseSearch) text(text string, hidden []markdown.Span, at record.PrivacyPlace) error {
	slices.SortFunc(hidden, func(a, b markdown.Span) int { return a.Start - b.Start })
	next, stop := iter.Pull(wordsOf(text))
	defer stop()
	lines := lineCounter{text: text, line: 1}
	covered := 0 // the end of the masked places that begin before the word
	var ahead []word
	for {
		for len(ahead) < maxPhrase {
			span, ok := next()
			if !ok {
				break
			}
			for len(hidden) > 0 && hidden[0].Start < span.End {
				covered = max(covered, hidden[0].End)
				hidden = hidden[1:]
			}
			w := word{Span: span}
			if span.Start >= covered {
				w.key = entities.Fold(text[span.Start:span.End])
			}
			ahead = append(ahead, w)
		}
		if len(ahead) == 0 || len(p.found) >= p.most {
			return nil
		}
		n, of, looked := p.names.longest(ahead)
		err := p.step(max(1, n) + looked)
		if err != nil {
			return err
		}
		if of != nil {
			at.Text, at.Names = text[ahead[0].Start:ahead[n-1].End], *of
			if at.Field == "" {
				at.Line = lines.of(ahead[0].Start)
			}
			p.add(at)
		}
		ahead = ahead[max(1, n):]
	}
}

// add enters a place unless the record is named in the same line before.
func (p *proseSearch) add(place record.PrivacyPlace) {
	if !p.inLine(place) {
		p.told = make(map[record.PrivacyNaming]bool)
	}
	if !p.told[place.Names] {
		p.told[place.Names] = true
		p.found = append(p.found, place)
	}
}

// inLine reports whether a place stands in the line or field of the one that was found last.
func (p *proseSearch) inLine(place record.PrivacyPlace) bool {
	if len(p.found) == 0 {
		return false
	}
	before := &p.found[len(p.found)-1]
	return before.Kind == place.Kind && before.ID == place.ID && before.Line == place.Line &&
		before.Field == place.Field
}

// longest returns the longest name that words begin with, in words, and whose it is. It
// looked at so many words.
func (p *phrase) longest(ahead []word) (n int, of *record.PrivacyNaming, looked int) {
	for _, w := range ahead {
		p = p.next[w.key]
		looked++
		if p == nil {
			break
		}
		if p.of != nil {
			n, of = looked, p.of
		}
	}
	return n, of, looked
}

// lineCounter tells the lines of places that come one after the other.
type lineCounter struct {
	text string
	at   int
	line int // of at
}

func (c *lineCounter) of(place int) int {
	c.line += strings.Count(c.text[c.at:place], "\n")
	c.at = place
	return c.line
}

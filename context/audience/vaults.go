package audience

import (
	"cmp"
	"iter"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/names"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

// VaultOf returns the name of the vault of a note: "" for none, and where the reader sees
// notes of no more than one vault.
func (v *View) VaultOf(n *notes.Note) string {
	if n == nil || n.Vault == "" || !v.severalVaults() {
		return ""
	}
	return n.Vault
}

// placeOf returns the vault of the note that an entity was made from, as VaultOf does, and
// its path: what tells entities of one name apart.
func (v *View) placeOf(e *entities.Entity) (vault, path string) {
	n := v.Note(e.NoteID)
	if n == nil {
		return "", ""
	}
	return v.VaultOf(n), n.Path
}

// PlaceOf is placeOf for the entity of an id.
func (v *View) PlaceOf(id string) (vault, path string) {
	e := v.Entity(id)
	if e == nil {
		return "", ""
	}
	return v.placeOf(e)
}

// LikeliestFirst orders entities that a name may mean, each by the note that it was made
// from, as notes are ordered that a link may mean: the shortest path first.
func (v *View) LikeliestFirst(list []*entities.Entity) {
	slices.SortStableFunc(list, func(a, b *entities.Entity) int {
		vaultA, pathA := v.placeOf(a)
		vaultB, pathB := v.placeOf(b)
		return cmp.Or(cmp.Compare(len(pathA), len(pathB)), strings.Compare(pathA, pathB), strings.Compare(vaultA, vaultB))
	})
}

// inVaults gives notes that something may mean the names of their vaults.
func (v *View) inVaults(list []fault.Candidate) []fault.Candidate {
	if len(list) == 0 || !v.severalVaults() {
		return list
	}
	for i := range list {
		list[i].Vault = v.VaultOf(v.Note(list[i].ID))
	}
	return list
}

// severalVaults reports whether the reader sees notes of two vaults or more.
func (v *View) severalVaults() bool {
	return v.seen().several(v.notes, v.SeesNote)
}

// linksInVaults gives links the vaults of the notes that they lead to.
func (v *View) linksInVaults(list []notes.Link) {
	if len(list) == 0 || !v.severalVaults() {
		return
	}
	for i := range list {
		list[i].Vault = v.VaultOf(v.Note(list[i].ID))
	}
}

// backlinksInVaults gives notes that link to another the names of their vaults.
func (v *View) backlinksInVaults(list []notes.Backlink) {
	if len(list) == 0 || !v.severalVaults() {
		return
	}
	for i := range list {
		list[i].Vault = v.VaultOf(v.Note(list[i].ID))
	}
}

func (v *View) seen() *vaultsSeen {
	if v.hides {
		return &v.rooms.vaults.remote
	}
	return &v.rooms.vaults.local
}

// vaultsSeen knows whether a reader sees notes of several vaults. It knows two notes that
// show it, or that all notes lie in one vault: so it looks at all of them only once, and
// when one of the two goes or a note of another vault comes.
type vaultsSeen struct {
	mu    sync.Mutex // guards what follows; held while notes are looked at
	known bool
	two   [2]string // ids of notes in different vaults; "": there is one vault at most
	one   string    // that vault

	witness map[string]string // by vault, the id of a note that shows that the reader sees it
}

// sees reports whether the reader sees a note of a vault. O(1) while the note that showed it
// is there, else it looks for another.
func (s *vaultsSeen) sees(vault string, store *notes.Store, sees func(*notes.Note) bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := store.Get(s.witness[vault]); n != nil && n.Vault == vault && sees(n) {
		return true
	}
	for n := range store.All() {
		if n.Vault == vault && sees(n) {
			if s.witness == nil {
				s.witness = make(map[string]string)
			}
			s.witness[strings.Clone(vault)] = strings.Clone(n.ID)
			return true
		}
	}
	return false
}

func (s *vaultsSeen) several(store *notes.Store, sees func(*notes.Note) bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known && s.two[0] == "" {
		return false
	}
	if s.known {
		a, b := store.Get(s.two[0]), store.Get(s.two[1])
		if sees(a) && sees(b) && a.Vault != "" && b.Vault != "" && a.Vault != b.Vault {
			return true
		}
	}
	s.known, s.two, s.one = true, [2]string{}, ""
	first := ""
	for n := range store.All() {
		switch {
		case n.Vault == "" || n.Vault == s.one || !sees(n):
		case s.one == "":
			s.one, first = strings.Clone(n.Vault), strings.Clone(n.ID) // they may be parts of a record
		default:
			s.two = [2]string{first, strings.Clone(n.ID)}
			return true
		}
	}
	return false
}

// commit forgets that there is one vault when a note of another comes, or becomes one that
// the reader sees.
func (s *vaultsSeen) commit(cs *kv.ChangeSet, sees func(*notes.Note) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.known || s.two[0] != "" {
		return
	}
	s.known = !slices.ContainsFunc(cs.Changes, func(ch kv.Change) bool {
		_, n, ok := notes.Records.Of(ch)
		return ok && n != nil && n.Vault != "" && n.Vault != s.one && sees(n)
	})
}

// Links says what to write between [[ and ]] in a note so that it leads to another note. It
// is made for one call and remembers what names lead to: of many notes with one name each
// would else ask for all of them.
type Links struct {
	view *View
	from string
	led  map[string]notes.Resolution
}

// LinksFrom returns Links for the note of an id, or for a text that is no note, as a
// message, for "".
func (v *View) LinksFrom(id string) Links { return Links{view: v, from: id} }

// fewNames is up to how many files of one name a short path is looked for; above it the
// whole path is written, which is found at once.
const fewNames = 64

// To returns what to write for a note so that it leads there: the first of the texts of
// texts that no other note answers to, or else the first by which the rules of links choose
// it. It returns "" when none leads there: other notes have the same names.
func (l *Links) To(n *notes.Note, called string) string {
	if res := l.resolve(called, n); res.ID == n.ID && res.Among == 1 {
		return called // of most notes: no key waits for more (BenchmarkComplete)
	}
	chosen := ""
	for text := range l.texts(n, called) {
		res := l.resolve(text, n)
		switch {
		case res.ID != n.ID:
		case res.Among == 1:
			return text
		case chosen == "":
			chosen = text
		}
	}
	return chosen
}

// texts are what links may call a note: what it was called by, its file name, the tails of
// its path, the shortest first, its path, its title, its aliases.
func (l *Links) texts(n *notes.Note, called string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !yield(called) {
			return
		}
		if n.Path != "" {
			for text := range l.paths(n.Path) {
				if !yield(text) {
					return
				}
			}
		}
		if l.view.TitleOf(n) == n.Title && !yield(n.Title) {
			return
		}
		for _, alias := range n.Aliases {
			if l.view.TextOf(n.ID, alias) == alias && !yield(alias) {
				return
			}
		}
	}
}

func (l *Links) paths(file string) iter.Seq[string] {
	return func(yield func(string) bool) {
		whole := file
		if ext := path.Ext(file); strings.EqualFold(ext, ".md") || strings.EqualFold(ext, ".markdown") {
			whole = file[:len(file)-len(ext)]
		}
		at := strings.LastIndexByte(whole, '/')
		name := whole[at+1:]
		if !yield(name) {
			return
		}
		for at > 0 && l.led[name].Among <= fewNames {
			at = strings.LastIndexByte(whole[:at], '/')
			if !yield(whole[at+1:]) {
				return
			}
		}
		for _, text := range []string{whole, "/" + whole, file, "/" + file} {
			if !yield(text) {
				return
			}
		}
	}
}

// resolve returns what a text between [[ and ]] leads to, looked for on behalf of a note.
func (l *Links) resolve(text string, n *notes.Note) notes.Resolution {
	res, known := l.led[text]
	if known || !linkable(text) {
		return res
	}
	res = l.view.ResolveNote(text, l.from)
	if res.ID != n.ID || res.Among > 1 { // else no other note asks for it
		if l.led == nil {
			l.led = make(map[string]notes.Resolution)
		}
		l.led[text] = res
	}
	return res
}

// linkable reports whether a text can stand between [[ and ]] and is read as it is, in a note
// and in a message.
func linkable(text string) bool {
	if text == "" || strings.TrimSpace(text) != text {
		return false
	}
	if !strings.ContainsFunc(text, isMark) {
		return true
	}
	if l, ok := markdown.ParseLink("[[" + text + "]]"); !ok || l.Target != text || l.Alias+l.Heading+l.Block != "" {
		return false
	}
	found := 0
	for ref := range markdown.Mentions("[[" + text + "]]") {
		if ref.Kind != markdown.WikilinkRef || ref.Target != text {
			return false
		}
		found++
	}
	return found == 1
}

// isMark reports whether a character may be read otherwise than as it is.
func isMark(r rune) bool {
	return r != ' ' && r != '-' && r != '/' && r != '_' && r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// CitedAs is Links.Cited for one note.
func (v *View) CitedAs(n *notes.Note) string {
	links := v.LinksFrom("")
	return links.Cited(n)
}

// CiteLinks has links and backlinks say what leads to their notes where others are called so too.
func (v *View) CiteLinks(out []notes.Link, in []notes.Backlink) {
	links := v.LinksFrom("")
	for i := range out {
		out[i].Link = links.Instead(v.Note(out[i].ID))
	}
	for i := range in {
		in[i].Link = links.Instead(v.Note(in[i].ID))
	}
}

// Cited returns what a text calls a note so that it can be cited: its title as the reader is shown it, and where other
// notes that he sees answer to that the shortest path that leads to it alone (CTX-43). Where no link leads to it alone, the
// title stays. Notes are looked up by their names; O(notes of that name) for the first of a name.
func (l *Links) Cited(n *notes.Note) string {
	if n == nil {
		return ""
	}
	return cmp.Or(l.Instead(n), l.view.TitleOf(n))
}

// Instead is Cited where that is not the title, else "".
func (l *Links) Instead(n *notes.Note) string {
	if n == nil || l.onlyNamed(n) || l.view.TitleOf(n) != n.Title {
		return ""
	}
	chosen := ""
	for text := range l.texts(n, n.Title) {
		res := l.resolve(text, n)
		if res.ID != n.ID || l.view.TextOf("", "[["+text+"]]") != "[["+text+"]]" {
			continue
		}
		if res.Among == 1 {
			chosen = text
			break
		}
		chosen = cmp.Or(chosen, text)
	}
	if chosen == n.Title {
		return ""
	}
	return chosen
}

// onlyNamed reports whether the title of a note leads to it alone. A title that no link can have is looked up as it is.
func (l *Links) onlyNamed(n *notes.Note) bool {
	if linkable(n.Title) {
		res := l.resolve(n.Title, n)
		return res.ID == n.ID && res.Among == 1
	}
	found, err := l.view.NoteByTitle(n.Title)
	return fault.IsMissing(err) || found != nil && found.ID == n.ID
}

// MentionOf says what to write behind an @ so that it means one entity and no other: what it
// was called by, its name or an alias, in brackets where it could be read as a part of more,
// or its handle. It returns "" when none does: others have the same names.
func (v *View) MentionOf(e *entities.Entity, called string) string {
	if text := v.mentionBy(e, called); text != "" {
		return text
	}
	if text := v.mentionBy(e, e.Name); e.Name != called && text != "" && v.NameOf(e) == e.Name {
		return text
	}
	for _, alias := range e.Aliases {
		if text := v.mentionBy(e, alias); text != "" && slices.Contains(v.shownAliases(e), alias) {
			return text
		}
	}
	if v.NameOf(e) != e.Name {
		return ""
	}
	handle := names.Handle(e.Name, e.Type)
	found, size := v.MentionAt(handle + " ")
	if size == len(handle) && len(found) == 1 && found[0].ID == e.ID {
		return handle
	}
	return ""
}

func (v *View) mentionBy(e *entities.Entity, name string) string {
	if found := v.Named(name); len(found) != 1 || found[0].ID != e.ID {
		return ""
	}
	_, longer := v.entities.MatchName(entities.Fold(name)+" ", v.skipEntity())
	if !longer {
		found, size := v.MentionAt(name + " ")
		if size == len(name) && len(found) == 1 && found[0].ID == e.ID {
			return name
		}
	}
	bracketed := "[" + name + "]"
	if inner, size, ok := markdown.BracketedName(bracketed); ok && size == len(bracketed) && inner == name {
		return bracketed
	}
	return ""
}

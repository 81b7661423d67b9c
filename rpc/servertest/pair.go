package servertest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// PairWords begin the words that stand in private records alone, by store: of their names, which a reader may guess, and of
// their texts, which nobody asks for.
var (
	PairNames = [2]string{"Zqcanary", "Xvfinch"}
	pairTexts = [2]string{"Zqhidden", "Xvcloak"}
)

// PairCall is a call of a method.
type PairCall struct{ Method, Params string }

// PairStep is what a local reader does in each of two stores.
type PairStep [2][]PairCall

// Pair draws what happens in two stores that are alike for a remote reader: records are made, changed, hidden, shown and
// deleted in both, and private ones have other names, texts and ids in the second one, or are not there. The zero value is
// no Pair; it is for one goroutine.
type Pair struct {
	rng     *rand.Rand
	absent  bool // the second store has no records but public ones, and nothing public refers to others
	made    int
	last    *pairRecord // that the last change makes; nil if it makes none
	records []*pairRecord
	seen    bool // most of those that are drawn
}

// pairRecord is a record of both stores.
type pairRecord struct {
	kind    pairKind
	n       int
	ids     [2]string
	names   [2]string
	secret  bool // private for as long as it is there
	private bool // now
	gone    bool
	stays   bool // it is hidden at no time
	ended   bool // something has superseded it
}

type pairKind string

// The kinds of records.
const (
	pairNote         pairKind = "note"
	pairEntity       pairKind = "entity"
	pairMemory       pairKind = "memory"
	pairContext      pairKind = "context"
	pairConversation pairKind = "conversation"
	pairBook         pairKind = "book"
	pairSynonyms     pairKind = "synonyms"
)

var pairKinds = []pairKind{pairNote, pairNote, pairEntity, pairEntity, pairMemory, pairMemory, pairMemory, pairContext, pairConversation, pairConversation, pairBook, pairSynonyms}

// NewPair returns a Pair. absent: the second store has no private records where the first one has some.
func NewPair(seed uint64, absent bool) *Pair {
	return &Pair{rng: rand.New(rand.NewPCG(seed, 17)), absent: absent} //nolint:gosec // a test is to be repeated
}

// Chance is true once in n times.
func (p *Pair) Chance(n int) bool { return p.rng.IntN(n) == 0 }

// Knows lets the Pair draw a record that both stores have from elsewhere. kind is the word of its protocol.
func (p *Pair) Knows(kind, id, name string, secret bool) {
	p.records = append(p.records, &pairRecord{
		kind: pairKind(kind), ids: [2]string{id, id}, names: [2]string{name, name}, secret: secret, private: secret, stays: true,
	})
}

// Below draws a number from 0 to n-1.
func (p *Pair) Below(n int) int { return p.rng.IntN(n) }

func choose[T any](p *Pair, list ...T) T { return list[p.rng.IntN(len(list))] }

// Kinds counts the records that were made, by kind.
func (p *Pair) Kinds() map[string]int {
	count := make(map[string]int)
	for _, r := range p.records {
		count[string(r.kind)]++
	}
	return count
}

// Begin makes a type, and some records of each kind.
func (p *Pair) Begin() (steps []PairStep) {
	steps = append(steps, p.both("types.put", func(int) any {
		return map[string]any{"name": "Person", "fields": []any{
			map[string]any{"name": "pay", "type": "number"},
			map[string]any{"name": "boss", "type": "entity_ref"},
			map[string]any{"name": "about", "type": "text"},
			map[string]any{"name": "met", "type": "text_list"},
			map[string]any{"name": "file", "type": "note_ref"},
			map[string]any{"name": "friend", "type": "entity_ref"},
			map[string]any{"name": "top", "type": "computed", "query": "SELECT MAX(p.pay) FROM Person p"},
			map[string]any{"name": "same", "type": "computed", "query": "SELECT p FROM Person WHERE p.friend = {this}"},
		}}
	}))
	for _, kind := range pairKinds {
		steps = append(steps, p.make(kind, false), p.make(kind, true))
	}
	return steps
}

// Refused tells the Pair that a store has refused what Change drew last: a record that it would have made is not there, and
// what would lead to it is a text like others.
func (p *Pair) Refused() {
	p.records = slices.DeleteFunc(p.records, func(r *pairRecord) bool { return r == p.last })
}

// Change draws what happens next.
func (p *Pair) Change() PairStep {
	p.last = nil
	var some []*pairRecord // that can change
	for _, r := range p.records {
		if !r.gone && r.n > 0 {
			some = append(some, r)
		}
	}
	if len(some) == 0 || len(some) < 60 && p.Chance(3) {
		return p.make(choose(p, pairKinds...), p.Chance(2))
	}
	r := choose(p, some...)
	switch p.rng.IntN(12) {
	case 0:
		return p.remove(r)
	case 1, 2:
		return p.use(r)
	case 3, 4, 5:
		return p.edit(r)
	}
	if r.secret || r.stays {
		return p.edit(r)
	}
	return p.toggle(r)
}

// both is one call in each store; of a record that the second one has not, in the first one alone.
func (p *Pair) both(method string, params func(store int) any) (s PairStep) {
	for store := range s {
		s[store] = []PairCall{{method, asJSON(params(store))}}
	}
	return s
}

func (p *Pair) of(r *pairRecord, method string, params func(store int) any) PairStep {
	s := p.both(method, params)
	if r.secret && p.absent {
		s[1] = nil
	}
	return s
}

func asJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // it is made of texts and numbers
	}
	return string(data)
}

// then joins steps into one.
func then(steps ...PairStep) (all PairStep) {
	for _, s := range steps {
		for store := range all {
			all[store] = append(all[store], s[store]...)
		}
	}
	return all
}

var pairWords = []string{
	"scales", "hive", "winter", "harbour", "granite", "the roof", "weighs 12 kilograms", "on Monday", "in May", "plans", "about", "likes", "never", "I decided", "cello",
}

// make makes a record.
func (p *Pair) make(kind pairKind, secret bool) PairStep {
	p.made++
	n := p.made
	r := &pairRecord{kind: kind, n: n, secret: secret, private: secret || p.Chance(4), stays: !secret && (kind == pairBook || p.Chance(4))}
	if r.stays {
		r.private = false
	}
	for store := range r.ids {
		r.ids[store], r.names[store] = fmt.Sprintf("%s%d", kind[:1], n), fmt.Sprintf("%s%d", choose(p, "Willow", "Amber", "Open", "Zebra"), n)
		if secret {
			r.ids[store], r.names[store] = fmt.Sprintf("%s%s%d", strings.ToLower(PairNames[store][:2]), kind[:1], n), fmt.Sprintf("%s%d", PairNames[store], n)
		}
	}
	if !secret {
		r.names[1] = r.names[0]
	}
	if kind == pairSynonyms {
		r.secret, r.private = true, true
	}
	step := p.put(r, true)
	p.records, p.last = append(p.records, r), r
	return step
}

// put writes all of a record, which says the same in both stores if it is public.
func (p *Pair) put(r *pairRecord, fresh bool) PairStep {
	id := func(store int) string { return r.ids[store] }
	name := func(store int) string { return r.names[store] }
	switch r.kind {
	case pairNote:
		text, alias, path, tag := p.text(r), p.mention(r), r.filed(), p.tag(r)
		typed, tasks := p.Chance(4), p.Chance(3)
		return p.of(r, choose(p, "notes.put", "notes.put", "notes.putMany"), func(store int) any {
			body := text[store]
			if tasks && body != "" {
				body = "## Of " + alias[store] + "\n- [ ] " + body + " 📅 2026-03-04 #" + tag[store]
			}
			if typed {
				body = fmt.Sprintf("---\ntype: Person\nlead: '%s'\n---\n# %s\n\n%s", alias[store], name(store), body)
			}
			note := map[string]any{"id": id(store), "title": name(store), "aliases": []string{name(store) + " more"}, "body": body, "tags": []string{tag[store], "hive"}, "private": r.private}
			if path {
				note["path"] = "folder/" + name(store) + ".md"
			}
			return note
		}).many("notes.putMany", "notes")
	case pairEntity:
		text, boss, file, noted := p.text(r), p.other(r, pairEntity), p.other(r, pairNote), p.Chance(4)
		pay := p.rng.IntN(100)
		return p.of(r, choose(p, "entities.put", "entities.put", "entities.putMany"), func(store int) any {
			entity := map[string]any{
				"id": id(store), "type": "Person", "name": name(store), "aliases": []string{name(store) + " Long"}, "private": r.private,
				"fields": map[string]any{"pay": pay, "about": text[store], "boss": boss[store], "friend": boss[store], "file": file[store], "met": []string{text[store], "Bob"}},
			}
			if noted {
				entity["noteId"] = file[store]
			}
			return entity
		}).many("entities.putMany", "entities")
	case pairMemory:
		return p.putMemory(r, fresh)
	case pairContext:
		text, parent := p.text(r), p.other(r, pairContext)
		within := p.Chance(3)
		return p.of(r, "contexts.put", func(store int) any {
			c := map[string]any{"id": id(store), "name": name(store), "description": text[store], "private": r.private}
			if within {
				c["parentId"] = parent[store]
			}
			if fresh {
				c["handle"] = strings.ToLower(name(store)) + "_context"
			}
			return c
		})
	case pairConversation:
		text, notes, memories := p.text(r), p.other(r, pairNote), p.other(r, pairMemory)
		method := "chat.patch"
		if fresh {
			method = "chat.put"
		}
		set := p.of(r, method, func(store int) any {
			c := map[string]any{"id": id(store), "title": name(store), "systemPrompt": text[store], "private": r.private}
			if !fresh {
				c["pinnedNoteIds"], c["pinnedMemoryIds"] = []string{notes[store]}, []string{memories[store]}
			}
			return c
		})
		if !fresh {
			return set
		}
		named := p.of(r, "refs.rename", func(store int) any {
			return map[string]any{"ref": id(store), "handle": strings.ToLower(name(store)) + "_talk"}
		})
		return then(set, named, p.say(r), p.say(r))
	case pairBook:
		text, more := p.text(r), p.text(r)
		return p.of(r, "books.add", func(store int) any {
			return map[string]any{
				"id": id(store), "mimeType": "md", "title": name(store), "author": "Ann", "name": name(store) + ".md", "private": r.private,
				"text": fmt.Sprintf("# %s\n\n%s\n\n## Hive\n\n%s", name(store), text[store], more[store]),
			}
		})
	}
	return p.of(r, "synonyms.put", func(store int) any {
		return map[string]any{"words": []string{strings.ToLower(name(store)), "scales"}, "private": true}
	})
}

// filed reports whether a note has a path.
func (r *pairRecord) filed() bool { return r.kind == pairNote && r.n%3 == 0 }

// many makes a call of the method that takes a list one.
func (s PairStep) many(method, list string) PairStep {
	for store := range s {
		for i, c := range s[store] {
			if c.Method == method {
				s[store][i].Params = `{"` + list + `":[` + c.Params + `]}`
			}
		}
	}
	return s
}

func (p *Pair) putMemory(r *pairRecord, fresh bool) PairStep {
	text, summary, notes, ents, ctx, tag := p.text(r), p.text(r), p.other(r, pairNote), p.other(r, pairEntity), p.other(r, pairContext), p.tag(r)
	source, from := p.rng.IntN(4), p.other(r, choose(p, pairNote, pairConversation))
	older := p.older(r)
	kind, tier, importance := choose(p, "fact", "goal", "preference", "identity", "decision"), choose(p, "", "working", "history"), p.rng.Float64()
	method := "memory.patch"
	if fresh {
		method = "memory.add"
	}
	return p.of(r, method, func(store int) any {
		m := map[string]any{
			"id": r.ids[store], "statement": r.names[store] + " " + text[store], "kind": kind, "tags": []string{tag[store], "hive"}, "importance": importance,
			"private": r.private, "noteIds": []string{notes[store]}, "entityIds": []string{ents[store]}, "contexts": []string{ctx[store]},
		}
		if source == 0 || !fresh {
			m["summary"], m["questions"] = summary[store], []string{"What is " + summary[store] + "?"}
		}
		if fresh {
			m["handle"] = strings.ToLower(r.names[store]) + "_claim"
			if tier != "" {
				m["tier"] = tier
			}
			switch {
			case source == 1 && strings.HasPrefix(strings.TrimLeft(from[store], "zqxv"), "n"):
				m["source"] = map[string]any{"kind": "extraction", "noteId": from[store]}
			case source == 1 && from[store] != "":
				m["source"] = map[string]any{"kind": "user", "conversationId": from[store]}
			case source == 2 && older[store] != "":
				m["supersedes"] = []string{older[store]}
			}
		}
		for _, list := range []string{"noteIds", "entityIds", "contexts"} {
			if m[list].([]string)[0] == "" {
				delete(m, list)
			}
		}
		return m
	})
}

// older draws a memory that another one supersedes, which is in both stores where the other one is. One that was superseded is
// not once more: that is refused, in the first store alone where a secret one did it.
func (p *Pair) older(by *pairRecord) (ids [2]string) {
	var some []*pairRecord
	for _, r := range p.records {
		if r.kind == pairMemory && r.n > 0 && !r.gone && !r.ended && r != by && (by.secret || !r.secret) {
			some = append(some, r)
		}
	}
	if len(some) > 0 {
		r := choose(p, some...)
		r.ended, ids = true, r.ids
	}
	return ids
}

// say adds messages to a conversation. A private message of one that may become public is marked.
func (p *Pair) say(r *pairRecord) PairStep {
	hidden := r.private && !r.secret || p.Chance(4)
	said := &pairRecord{secret: r.secret, private: r.private || hidden}
	text, answer := p.text(said), p.text(said)
	return p.of(r, "chat.append", func(store int) any {
		return map[string]any{"conversationId": r.ids[store], "messages": []any{
			map[string]any{"role": "user", "content": text[store], "private": hidden}, map[string]any{"role": "assistant", "content": answer[store], "private": hidden},
		}}
	})
}

// edit changes what a record says.
func (p *Pair) edit(r *pairRecord) PairStep {
	switch {
	case r.kind == pairConversation && p.Chance(2):
		return p.say(r)
	case r.kind == pairBook:
		return p.use(r)
	case r.kind == pairMemory && p.Chance(4) && !(r.ended && p.absent): // what a private one has superseded is not archived
		return p.of(r, choose(p, "memory.archive", "memory.restore", "memory.retract"), func(store int) any { return map[string]any{"id": r.ids[store]} })
	case r.kind == pairNote && p.Chance(4), r.kind == pairEntity && p.Chance(4), r.kind == pairConversation && p.Chance(3):
		group := map[pairKind]string{pairNote: "notes.", pairEntity: "entities.", pairConversation: "chat."}[r.kind]
		return p.of(r, group+choose(p, "archive", "restore", "restore"), func(store int) any { return map[string]any{"id": r.ids[store]} })
	}
	return p.put(r, false)
}

// toggle hides a record, or shows it again with what both stores have of it.
func (p *Pair) toggle(r *pairRecord) PairStep {
	if r.private = !r.private; !r.private || p.Chance(2) && r.kind != pairConversation {
		return p.put(r, false)
	}
	method := map[pairKind]string{pairNote: "notes.patch", pairEntity: "entities.patch", pairMemory: "memory.patch", pairConversation: "chat.patch"}[r.kind]
	if method == "" {
		return p.put(r, false)
	}
	return p.of(r, method, func(store int) any { return map[string]any{"id": r.ids[store], "private": true} })
}

// use is what else happens to a record.
func (p *Pair) use(r *pairRecord) PairStep {
	switch r.kind {
	case pairMemory:
		outcome, ctx := choose(p, "worked", "failed"), p.other(r, pairContext)
		if p.Chance(3) && ctx[0] != "" {
			return p.of(r, "contexts.link", func(store int) any {
				return map[string]any{"id": ctx[store], "memoryIds": []string{r.ids[store]}}
			})
		}
		return p.of(r, choose(p, "memory.outcome", "memory.use"), func(store int) any {
			return map[string]any{"ids": []string{r.ids[store]}, "outcome": outcome}
		}).fit()
	case pairConversation:
		return p.say(r)
	case pairBook, pairSynonyms:
		return p.make(r.kind, p.Chance(2))
	}
	return p.edit(r)
}

// fit leaves out what memory.use does not take.
func (s PairStep) fit() PairStep {
	for store := range s {
		for i, c := range s[store] {
			if c.Method == "memory.use" {
				kept, _, _ := strings.Cut(c.Params, `,"outcome"`)
				s[store][i].Params = kept + "}"
			}
		}
	}
	return s
}

// remove deletes a record.
func (p *Pair) remove(r *pairRecord) PairStep {
	r.gone = true
	switch r.kind {
	case pairSynonyms:
		return p.of(r, "synonyms.delete", func(store int) any { return map[string]any{"words": []string{strings.ToLower(r.names[store])}} })
	case pairMemory:
		return p.of(r, "memory.delete", func(store int) any { return map[string]any{"id": r.ids[store], "force": true} })
	}
	method := map[pairKind]string{pairNote: "notes", pairEntity: "entities", pairContext: "contexts", pairConversation: "chat", pairBook: "books"}[r.kind] + ".delete"
	return p.of(r, method, func(store int) any { return map[string]any{"id": r.ids[store]} })
}

// refers reports whether a record may name another one: what is public names private ones only where both stores have them.
func (p *Pair) refers(from, to *pairRecord) bool {
	return to.n > 0 && to != from && (!to.secret || !p.absent || from.secret)
}

// other draws the ids of another record of a kind; "" for none.
func (p *Pair) other(from *pairRecord, kind pairKind) (ids [2]string) {
	var some []*pairRecord
	for _, r := range p.records {
		if r.kind == kind && !r.gone && p.refers(from, r) {
			some = append(some, r)
		}
	}
	if len(some) > 0 {
		ids = choose(p, some...).ids
	}
	return ids
}

// tag is that of a record, which may be a private one's alone.
func (p *Pair) tag(r *pairRecord) [2]string {
	if r.secret {
		return [2]string{strings.ToLower(PairNames[0]) + "tag", strings.ToLower(PairNames[1]) + "tag"}
	}
	tag := choose(p, "plan", "bees")
	return [2]string{tag, tag}
}

// mention draws a link to another record, in any form.
func (p *Pair) mention(from *pairRecord) (text [2]string) {
	var some []*pairRecord
	for _, r := range p.records {
		if p.refers(from, r) && r.kind != pairSynonyms && r.kind != pairBook {
			some = append(some, r)
		}
	}
	if len(some) == 0 {
		return [2]string{"nobody", "nobody"}
	}
	to := choose(p, some...)
	form := choose(p, linkForms[to.kind]...)
	for strings.Contains(string(form), "folder/") && !to.filed() {
		form = choose(p, linkForms[to.kind]...)
	}
	for store := range text {
		text[store] = form.fill(to.ids[store], to.names[store])
	}
	return text
}

// linkForm is how a record is referred to: ID, NAME and LOWER stand for what it is called.
type linkForm string

func (f linkForm) fill(id, name string) string {
	return strings.NewReplacer("ID", id, "NAME", name, "LOWER", strings.ToLower(name)).Replace(string(f))
}

// linkForms are the forms of links, by what they lead to.
var linkForms = map[pairKind][]linkForm{
	pairNote: {
		"[[NAME]]", "[[NAME|of NAME]]", "![[NAME]]", "[[NAME#NAME]]", "[NAME](ctxd://note/ID)", "ctxd://note/ID", "[NAME](folder/NAME.md)",
		"[[folder/NAME]]", "&#91;&#91;NAME]]", "&lbrack;&lbrack;NAME]]", "［［NAME］］", "<a href=\"folder/NAME.md\">NAME</a>", "[NAME][r1]\n\n[r1]: folder/NAME.md \"NAME\"\n",
		"[x](obsidian://open?vault=V&file=NAME)", "[x](logseq://graph/V?page=NAME)", "@[NAME]", "@NAME", "[[ID]]", "`[[NAME]]`", "[[NAME more]]", "@ID",
	},
	pairEntity: {
		"@NAME", "@[NAME]", "@[NAME Long]", "@LOWER_person_entity", "[[NAME]]", "＠NAME", "@**NAME**", "&commat;NAME", "[NAME](ctxd://entity/ID)", "@ID", "[[NAME Long|NAME]]",
	},
	pairMemory:       {"@LOWER_claim", "@memory:ID", "ctxd://memory/ID", "[x](ctxd://memory/ID)", "@mem:ID", "＠LOWER_claim"},
	pairContext:      {"@LOWER_context", "@NAME", "@[NAME]"},
	pairConversation: {"@LOWER_talk", "@conversation_LOWER_talk_message_1", "@conv_LOWER_talk_msg_1", "ctxd://conversation/ID"},
}

// Forms is how many forms of links there are.
func (p *Pair) Forms() (n int) {
	for _, forms := range linkForms {
		n += len(forms)
	}
	return n
}

// text draws what a record says, in each store. What is public says the same but for the names of private records.
func (p *Pair) text(r *pairRecord) (text [2]string) {
	for range 1 + p.rng.IntN(4) {
		word, link := choose(p, pairWords...), p.mention(r)
		with := p.Chance(2)
		hidden := p.rng.IntN(20)
		for store := range text {
			text[store] += word + " "
			if r.private || r.secret {
				text[store] += fmt.Sprint(pairTexts[store], hidden, " ")
			}
			if with {
				text[store] += link[store] + " "
			}
		}
	}
	for store := range text {
		text[store] = strings.TrimSpace(text[store])
	}
	return text
}

// live are the records of which a reader may ask.
func (p *Pair) live(kinds ...pairKind) (some []*pairRecord) {
	seen := p.seen && !p.Chance(8)
	for _, r := range p.records {
		if seen && (r.secret || r.private || r.gone) {
			continue
		}
		if len(kinds) == 0 || slices.Contains(kinds, r.kind) {
			some = append(some, r)
		}
	}
	return some
}

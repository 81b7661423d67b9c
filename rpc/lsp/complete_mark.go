package lsp

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	rec "github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// mark completes a mention behind @, a tag or the number of a memory behind #.
func (a *asked) mark() (bool, error) {
	start, _ := a.doc.LineSpan(a.doc.LineAt(a.at))
	before := a.doc.Text[start:max(start, a.at)]
	i := strings.LastIndexAny(before, "@#")
	if i < 0 || !markMayFollow(before[:i]) {
		return false, nil
	}
	word := before[i+1:]
	end := a.at
	rest := a.doc.Text[a.at:]
	end += strings.IndexFunc(rest+" ", func(r rune) bool { return !inName(r) })
	end = min(end, len(a.doc.Text))
	switch {
	case before[i] == '@' && (isName(word) || strings.HasPrefix(word, "[") && !strings.Contains(word, "]")):
		return true, a.mention(start+i, end, word)
	case before[i] == '#' && i == 0 && word == "":
		return false, nil // a heading begins
	case before[i] == '#' && isName(word):
		if word != "" && strings.Trim(word, "0123456789") == "" {
			return true, a.number(start+i, end, word)
		}
		return true, a.tags(start+i+1, end, word)
	}
	return false, nil
}

// markMayFollow reports whether a mark may stand behind a text.
func markMayFollow(before string) bool {
	r, _ := utf8.DecodeLastRuneInString(before)
	return before == "" || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_/#&[.\\-", r)
}

func inName(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || strings.ContainsRune("_-/'’.", r)
}

func isName(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !inName(r) }) < 0
}

// mention completes an entity, or the handle of a memory, a context or a conversation.
func (a *asked) mention(at, end int, word string) error {
	prefix := strings.TrimPrefix(word, "[")
	if prefix != word && strings.HasPrefix(a.doc.Text[end:], "]") {
		end++
	}
	if err := a.entities(prefix, nil, func(e protocol.EntityItem) {
		if e.Insert == "" {
			return // no text means this entity alone
		}
		a.add(item{
			label: e.Name, insert: "@" + e.Insert, detail: e.Type, kind: CompletionKindVariable,
			from: at, end: end, typed: "@" + word, of: completionRecord{"entity", e.ID},
		})
	}); err != nil {
		return err
	}
	if prefix != word {
		return nil
	}
	return a.handles(prefix, []string{"memory", "context", "conversation"}, func(r rec.RefCompletion) {
		of := completionRecord{}
		if r.Kind == rec.ResolvedMemory {
			of = completionRecord{"memory", r.ID}
		}
		a.add(item{
			label: "@" + r.Handle, insert: "@" + r.Handle, detail: oneLine(r.Label), kind: CompletionKindReference,
			from: at, end: end, typed: "@" + word, of: of,
		})
	})
}

// entities asks for the entities that a prefix may mean.
func (a *asked) entities(prefix string, types []string, found func(protocol.EntityItem)) error {
	var list protocol.EntityItems
	err := a.Daemon(a.ctx, "entities.complete", protocol.EntityComplete{Prefix: strings.TrimSpace(prefix), Types: types, Limit: a.limit}, &list)
	if refused(err) { // a type that is not declared
		return nil
	}
	for _, e := range list.Items {
		found(e)
	}
	return err
}

func (a *asked) handles(prefix string, kinds []string, found func(rec.RefCompletion)) error {
	var list rec.RefCompletions
	err := a.Daemon(a.ctx, "refs.complete", protocol.RefsComplete{Prefix: prefix, Kinds: kinds, Limit: min(50, a.limit)}, &list)
	if refused(err) {
		return nil
	}
	for _, r := range list.Items {
		found(r)
	}
	return err
}

// number completes the number of a memory.
func (a *asked) number(at, end int, word string) error {
	return a.handles("#"+word, []string{"memory"}, func(r rec.RefCompletion) {
		if r.Number == 0 {
			return
		}
		name := "#" + strconv.FormatUint(r.Number, 10)
		a.add(item{
			label: name, insert: name, detail: oneLine(r.Label), kind: CompletionKindReference,
			from: at, end: end, typed: "#" + word, of: completionRecord{"memory", r.ID},
		})
	})
}

// tags completes a tag.
func (a *asked) tags(from, end int, word string) error {
	var list protocol.TagPage
	err := a.Daemon(a.ctx, "tags.list", protocol.TagFilter{Prefix: word, Page: protocol.Page{Limit: a.limit}}, &list)
	if refused(err) {
		return nil
	}
	for _, t := range list.Tags {
		a.add(item{label: t.Name, insert: t.Name, detail: strconv.Itoa(t.Count) + " notes", kind: CompletionKindKeyword, from: from, end: end, typed: word})
	}
	return err
}

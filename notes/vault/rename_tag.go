package vault

import (
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

// A TagRename is another name for a tag, and for the tags below it: renaming a to b makes b/c of a/c.
type TagRename struct {
	Old, New string // without '#'
}

// RenameTag plans another name for a tag in all notes of the vault.
func RenameTag(s *notes.Store, where RenameScope, r TagRename) (plan *RenamePlan, err error) {
	old, name := strings.TrimPrefix(r.Old, "#"), strings.TrimPrefix(r.New, "#")
	switch {
	case !isTag(old):
		return nil, fault.Field("old", "old is no tag").WithHint("write it as in project/alpha")
	case !isTag(name):
		return nil, fault.Field("new", "a tag is one word of letters, digits, -, _ and /, and no number").
			WithHint("write it as in project/alpha")
	}
	s.Suppose(func(w notes.World) {
		j := newJob(w, where)
		for n := range j.before.All() {
			if n.Vault != where.Vault || n.Kind != "" || !n.HasTag(text.Fold(old)) {
				continue
			}
			edits, whole := tagEdits(n.Body, old, name)
			if len(edits) > 0 {
				j.own[n.ID] = edits
			}
			if !whole {
				j.lost = append(j.lost, RenameProblem{n.Path, 1, "#" + old, whyTag})
			}
		}
		plan = j.finish()
	})
	return plan, nil
}

const whyTag = "the note has the tag in a way that cannot be changed safely"

// isTag reports whether a text with a '#' before it is one tag.
func isTag(name string) bool {
	doc := markdown.Parse("#" + name)
	return name != "" && len(doc.Tags) == 1 && doc.Tags[0] == name
}

// tagEdits returns the edits of a text that give a tag another name. It is not whole where the tag stands in it in a way
// that was not found.
//
// Which of the words is a tag, the scanner of notes says: each is replaced by a word of its own, and those that come back
// as tags are some.
func tagEdits(s, old, name string) (edits []Edit, whole bool) {
	block, body := markdown.SplitFrontmatter(s)
	places := wordsLike(s[:body], old, 0, 0)
	if block.Found { // one by one: a word may be a key that others depend on
		for _, at := range places {
			if !within(at, block) {
				continue
			}
			trial := markdown.Parse(apply(s[:body], []Edit{{at, at + len(old), probe(0)}}))
			if trial.FrontmatterErr == nil && hasTag(trial.Tags, probe(0)) {
				edits = append(edits, Edit{at, at + len(old), name})
			}
		}
	}
	var probes []Edit
	for i, at := range wordsLike(s[body:], old, body, '#') {
		probes = append(probes, Edit{at, at + len(old), probe(i)})
	}
	tags := markdown.Parse(apply(s, probes)).Tags
	found := make(map[string]bool, len(tags))
	for _, t := range tags {
		first, _, _ := strings.Cut(t, "/")
		found[first] = true
	}
	for _, p := range probes {
		if found[p.New] {
			edits = append(edits, Edit{p.Start, p.End, name})
		}
	}
	left := markdown.Parse(apply(s, edits))
	return edits, text.Fold(old) == text.Fold(name) || strings.HasPrefix(text.Fold(name), text.Fold(old)+"/") || !hasTag(left.Tags, old)
}

// probe is a word that no text has.
func probe(i int) string { return "zqx0jv" + itoa(i) + "qz" }

func within(at int, block markdown.FrontmatterBlock) bool { return block.Start <= at && at < block.End }

// hasTag reports whether a tag, or one below it, is among some.
func hasTag(tags []string, tag string) bool {
	for _, t := range tags {
		t = text.Fold(t)
		if t == text.Fold(tag) || strings.HasPrefix(t, text.Fold(tag)+"/") {
			return true
		}
	}
	return false
}

// wordsLike returns where a word stands in a text, in any letter case and bounded as a tag is, with from added. mark is
// what stands before it, with or without a bracket between; 0 for anything that is no part of a word.
func wordsLike(text, word string, from int, mark byte) (places []int) {
	for at := 0; at+len(word) <= len(text); at++ {
		if !strings.EqualFold(text[at:at+len(word)], word) {
			continue
		}
		before, after := text[:at], text[at+len(word):]
		switch {
		case mark != 0:
			if before = strings.TrimSuffix(before, "["); before == "" || before[len(before)-1] != mark {
				continue
			}
		case before != "" && isTag("x"+lastRune(before)):
			continue
		}
		if next := firstRune(after); next == "" || next == "/" || !isTag("x"+next) {
			places = append(places, from+at)
		}
	}
	return places
}

func firstRune(s string) string {
	for _, r := range s {
		return string(r)
	}
	return ""
}

func lastRune(s string) string {
	runes := []rune(s[max(0, len(s)-4):])
	return string(runes[len(runes)-1])
}

package mcp

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/notes/markdown"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// withheld stands where a private record would be named, as in prompts.
const withheld = "(private)"

// The places of a text that may name a note: wikilinks, in code and comments
// too, and names of Markdown files, wherever they stand. Links of Markdown are
// found by package markdown.
var (
	wikilinks     = regexp.MustCompile(`!?\[\[[^\[\]\n]+\]\]`)
	markdownFiles = regexp.MustCompile(`(?i)[^\s()<>"'\x60\[\]|]+\.(?:md|markdown)\b`)
)

// span is a part of a text: byte offsets, half open.
type span struct{ start, end int }

// text returns what may be shown of the text of a note. Before a remote
// audience that is the text without its frontmatter, whose values may name
// private records in ways that can't be told from other words (get_entity shows
// the fields), and without the links that lead to private notes.
func (c *call) text(n *protocol.NoteFull) (text string, masked bool, err error) {
	if c.opts.IncludePrivate {
		return n.Body, false, nil
	}
	doc := markdown.Parse(n.Body)
	c.learn(n)
	var spans []span
	for _, at := range wikilinks.FindAllStringIndex(n.Body, -1) {
		if l, ok := markdown.ParseLink(n.Body[at[0]:at[1]]); ok {
			spans, err = c.maskIf(spans, span{at[0], at[1]}, n.ID, l.Target, err)
		}
	}
	for _, l := range doc.MarkdownLinks {
		spans, err = c.maskIf(spans, span{l.Start, l.End}, n.ID, unescaped(l.Dest), err)
	}
	for _, at := range markdownFiles.FindAllStringIndex(n.Body, -1) {
		spans, err = c.maskIf(spans, span{at[0], at[1]}, n.ID, unescaped(n.Body[at[0]:at[1]]), err)
	}
	if err != nil {
		return "", false, err
	}
	text = masks(n.Body, spans, doc.BodyStart)
	return strings.TrimLeft(text, "\r\n"), len(spans) > 0, nil
}

// unescaped returns a link destination without the escapes of URLs.
func unescaped(dest string) string {
	if plain, err := url.PathUnescape(dest); err == nil {
		return plain
	}
	return dest
}

// maxTargets is how many different links of one text are looked up. Of a text
// with more the others are all taken out.
const maxTargets = 2000

// learn takes what the daemon has said of the links of a note.
func (c *call) learn(n *protocol.NoteFull) {
	clear(c.targets)
	for _, l := range n.Links {
		if _, known := c.targets[l.Target]; known || len(c.targets) >= maxTargets {
			continue
		}
		ids := []string{l.ID}
		if l.ID == "" {
			ids = idsOf(l.Candidates)
		}
		if private, err := c.anyPrivate(ids); err == nil {
			c.targets[l.Target] = private
		}
	}
}

func idsOf(candidates []fault.Candidate) []string {
	ids := make([]string, len(candidates))
	for i, cand := range candidates {
		ids[i] = cand.ID
	}
	return ids
}

// anyPrivate reports whether one of the notes must not be shown, or has gone
// meanwhile, so that nobody can tell.
func (c *call) anyPrivate(ids []string) (bool, error) {
	for _, id := range ids {
		if id == "" {
			continue
		}
		n, err := c.note(id)
		if n == nil || err != nil {
			return true, err
		}
	}
	return false, nil
}

// maskIf adds a span when what stands there leads to a private note. It does
// nothing after an error.
func (c *call) maskIf(spans []span, at span, from, target string, err error) ([]span, error) {
	if err != nil || target == "" {
		return spans, err
	}
	private, known := c.targets[target]
	switch {
	case known:
	case len(c.targets) >= maxTargets:
		private = true
	default:
		if private, err = c.meansPrivate(from, target); err != nil {
			return spans, err
		}
		c.targets[target] = private
	}
	if private {
		spans = append(spans, at)
	}
	return spans, nil
}

func (c *call) meansPrivate(from, target string) (bool, error) {
	var res protocol.NoteResolved
	err := c.ask("notes.resolve", protocol.NoteResolve{Link: target, From: from}, &res)
	switch {
	case absent(err):
		return false, nil
	case err != nil:
		return false, err
	}
	return c.anyPrivate(append(idsOf(res.Candidates), res.ID))
}

// masks returns the text from an offset on with the spans taken out.
func masks(text string, spans []span, from int) string {
	slices.SortFunc(spans, func(a, b span) int { return a.start - b.start })
	var b strings.Builder
	at := from
	for _, s := range spans {
		if s.start < at { // in the frontmatter, or within the one before
			at = max(at, s.end)
			continue
		}
		b.WriteString(text[at:s.start])
		b.WriteString(withheld)
		at = s.end
	}
	b.WriteString(text[at:])
	return b.String()
}

// quotedLinks are wikilinks in text that the daemon has made for a prompt, where
// those of single-line texts are escaped.
var quotedLinks = regexp.MustCompile(`\\?\[\\?\[[^\[\]\\\n]+\\?\]\\?\]`)

// quoted takes links to private notes out of names, and out of text that the
// daemon has made for a prompt. In texts of notes and in values of fields it has
// done so itself; names it leaves as they are.
func (c *call) quoted(text string) (string, error) {
	if c.opts.IncludePrivate {
		return text, nil
	}
	var spans []span
	private := make(map[string]bool)
	check := func(at []int, target string) error {
		hide, known := private[target]
		switch {
		case known || target == "":
		case len(private) >= maxTargets:
			hide = true
		default:
			var err error
			if hide, err = c.namesPrivate(target); err != nil {
				return err
			}
			private[target] = hide
		}
		if hide {
			spans = append(spans, span{at[0], at[1]})
		}
		return nil
	}
	for _, at := range quotedLinks.FindAllStringIndex(text, -1) {
		l, _ := markdown.ParseLink(strings.ReplaceAll(text[at[0]:at[1]], `\`, ""))
		if err := check(at, l.Target); err != nil {
			return "", err
		}
	}
	for _, at := range markdownFiles.FindAllStringIndex(text, -1) {
		if err := check(at, unescaped(text[at[0]:at[1]])); err != nil {
			return "", err
		}
	}
	return masks(text, spans, 0), nil
}

// namesPrivate reports whether a title is only that of private notes.
func (c *call) namesPrivate(title string) (bool, error) {
	var res protocol.NoteResolved
	err := c.ask("notes.resolve", protocol.NoteResolve{Link: title}, &res)
	if absent(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	ids := idsOf(res.Candidates)
	if res.ID != "" {
		ids = append(ids, res.ID)
	}
	for _, id := range ids {
		if n, err := c.note(id); n != nil || err != nil {
			return false, err
		}
	}
	return len(ids) > 0, nil
}

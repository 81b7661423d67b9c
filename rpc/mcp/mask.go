package mcp

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/notes/markdown"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// withheld stands where a private record would be named, as in prompts.
const withheld = "(private)"

// markdownFiles are names of Markdown files, wherever they stand.
var markdownFiles = regexp.MustCompile(`(?i)[^\s()<>"'\x60\[\]|]+\.(?:md|markdown)\b`)

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
	hidden := func(target string) bool {
		var private bool
		if err == nil { // after an error nothing is shown
			private, err = c.leadsToPrivate(n.ID, target)
		}
		return private
	}
	body := n.Body[doc.BodyStart:]
	spans := markdown.HiddenLinks(markdown.HiddenWikilinks(nil, body, hidden), body, hidden)
	if err != nil {
		return "", false, err
	}
	text = markdown.Without(body, spans, withheld)
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

// leadsToPrivate reports whether a link that stands in a note may lead to a
// private one.
func (c *call) leadsToPrivate(from, target string) (bool, error) {
	private, known := c.targets[target]
	switch {
	case known:
		return private, nil
	case len(c.targets) >= maxTargets:
		return true, nil
	}
	private, err := c.meansPrivate(from, target)
	if err == nil {
		c.targets[target] = private
	}
	return private, err
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
	var spans []markdown.Span
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
			spans = append(spans, markdown.Span{Start: at[0], End: at[1]})
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
	return markdown.Without(text, spans, withheld), nil
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

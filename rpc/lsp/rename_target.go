package lsp

import (
	"cmp"
	"context"
	"path"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/notes/markdown"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// renameTarget is what a rename is about.
type renameTarget struct {
	start, end int    // of its name in the document, in bytes
	name       string // as it is now
	ask        protocol.VaultPlanRename
}

// findRenameTarget returns what stands at a place and can be renamed, nil for nothing.
func findRenameTarget(ctx context.Context, c *Call, p *TextDocumentPositionParams) (*renameTarget, error) {
	if c.Document == nil || !c.Document.IsNote() {
		return nil, nil
	}
	place, ok, err := c.Place(ctx, c.Document.URI)
	if !ok || err != nil {
		return nil, err
	}
	f := renameTargetFinder{c: c, ctx: ctx, d: c.Document, place: place, at: c.Document.Offset(p.Position, c.Encoding())}
	if l, ok := f.d.LinkAt(f.at); ok {
		return f.link(l)
	}
	for _, b := range f.d.Blocks() {
		if start, end, ok := blockAt(f.d, b); ok && f.in(start, end) {
			return f.part("block", place.Path, b.Line, start, end), nil
		}
	}
	if t := f.tag(); t != nil {
		return t, nil
	}
	if t := f.title(); t != nil {
		return t, nil
	}
	if t, err := f.mention(); t != nil || err != nil {
		return t, err
	}
	for _, h := range f.d.Headings() {
		if h.Start <= f.at && f.at <= h.End {
			return f.heading(h), nil
		}
	}
	return nil, nil
}

// renameTargetFinder looks for what stands at a place of a document.
type renameTargetFinder struct {
	c     *Call
	ctx   context.Context
	d     *Document
	place VaultPlace
	at    int
}

func (f *renameTargetFinder) in(start, end int) bool { return start <= f.at && f.at <= end }

func (f *renameTargetFinder) part(kind, p string, line, start, end int) *renameTarget {
	return &renameTarget{start, end, f.d.Text[start:end], protocol.VaultPlanRename{Vault: f.place.Vault, Kind: kind, Path: p, Line: line}}
}

// note is the target for a note whose name stands at the place.
func (f *renameTargetFinder) note(vault, p, name string, start, end int) *renameTarget {
	vault = cmp.Or(vault, f.place.Vault) // it is named only where there are several
	return &renameTarget{start, end, name, protocol.VaultPlanRename{
		Vault: vault, Kind: "note", Path: p, Old: name, What: f.c.Settings().Rename,
	}}
}

// heading is the target for a heading: the note where it is its title.
func (f *renameTargetFinder) heading(h markdown.Heading) *renameTarget {
	line := f.d.Text[h.Start:h.End]
	start := h.Start + len(line) - len(strings.TrimLeft(line, "# \t>"))
	end := start + len(h.Text)
	if end > h.End || f.d.Text[start:end] != h.Text {
		end = h.Start + len(strings.TrimRight(strings.SplitN(line, "\n", 2)[0], "\r"))
	}
	stem := withoutExt(path.Base(f.place.Path))
	if h.Level == 1 && f.d.Note().Title == h.Text && text.Fold(stem) == text.Fold(h.Text) && f.c.Settings().Rename != "file" {
		return f.note(f.place.Vault, f.place.Path, h.Text, start, end)
	}
	t := f.part("heading", f.place.Path, h.Line, start, end)
	t.name = h.Text
	return t
}

// title is the target for the title in the frontmatter.
func (f *renameTargetFinder) title() *renameTarget {
	block := f.d.Frontmatter()
	if !block.Found || f.at < block.Start || f.at > block.End {
		return nil
	}
	start, end := f.d.LineSpan(f.d.LineAt(f.at))
	key, value, ok := strings.Cut(f.d.Text[start:end], ":")
	name := f.d.Note().Title
	if !ok || text.Fold(key) != "title" || name == "" {
		return nil
	}
	i := strings.Index(value, name)
	if i < 0 {
		return nil
	}
	at := start + len(key) + 1 + i
	return f.note(f.place.Vault, f.place.Path, name, at, at+len(name))
}

// blockAt returns where the identifier of a block stands.
func blockAt(d *Document, b markdown.Block) (start, end int, ok bool) {
	from, to := d.LineSpan(b.Line - 1)
	i := strings.LastIndex(d.Text[from:to], "^"+b.ID)
	return from + i + 1, from + i + 1 + len(b.ID), i >= 0
}

// link is the target for the part of a link that the place is in.
func (f *renameTargetFinder) link(l markdown.Link) (*renameTarget, error) {
	found, err := f.resolve(l)
	if err != nil || found.Path == "" {
		return nil, err
	}
	if mark := strings.IndexByte(l.Raw, '#'); mark >= 0 && f.at > l.Start+mark {
		return f.linkPart(l, found, l.Start+mark+1)
	}
	if l.Target == "" {
		return nil, nil
	}
	written := l.Raw
	start := l.Start
	if !l.Markdown {
		start += strings.Index(l.Raw, "[[") + len("[[")
		written = l.Raw[strings.Index(l.Raw, "[[")+len("[["):]
	}
	end := start + strings.IndexAny(written+"#", "#|]")
	name := withoutExt(strings.TrimSpace(path.Base(l.Target)))
	if l.Markdown {
		return f.note(found.Vault, found.Path, name, start+strings.LastIndexByte(f.d.Text[start:end], '/')+1, end), nil
	}
	at := strings.LastIndex(f.d.Text[start:end], name)
	if at < 0 {
		return nil, nil
	}
	t := f.note(found.Vault, found.Path, name, start+at, start+at+len(name))
	if n := found.title; n != "" && text.Fold(name) != text.Fold(n) && text.Fold(name) != text.Fold(withoutExt(path.Base(found.Path))) {
		return nil, isAlias(name, n)
	}
	return t, nil
}

func isAlias(name, of string) error {
	return fault.New(fault.Unavailable, "%q is an alias of %q", name, of).
		WithHint("change the alias in the note itself, or rename the note by its title")
}

// linkPart is the target for the heading or the block of a link.
func (f *renameTargetFinder) linkPart(l markdown.Link, found noteFound, start int) (*renameTarget, error) {
	uri, ok, err := f.c.URI(f.ctx, found.Vault, found.Path)
	if err != nil || !ok {
		return nil, err
	}
	d := newEditBuilder(f.c).Read(uri)
	if d == nil {
		return nil, nil
	}
	end := min(l.End, start+strings.IndexAny(f.d.Text[start:l.End]+"]", "]|"))
	if l.Block != "" {
		for _, b := range d.Blocks() {
			if text.Fold(b.ID) == text.Fold(l.Block) {
				at := start + strings.IndexByte(f.d.Text[start:end], '^') + 1
				t := f.part("block", found.Path, b.Line, at, end)
				t.name, t.ask.Vault = b.ID, cmp.Or(found.Vault, f.place.Vault)
				return t, nil
			}
		}
		return nil, nil
	}
	place, _, ok := notePart(d, l.Heading, "")
	for _, h := range d.Headings() {
		if ok && h.Start == place {
			at := start + strings.LastIndexByte(f.d.Text[start:end], '#') + 1
			t := f.part("heading", found.Path, h.Line, at, end)
			t.name, t.ask.Vault = h.Text, cmp.Or(found.Vault, f.place.Vault)
			return t, nil
		}
	}
	return nil, nil
}

// noteFound is a note that a link leads to.
type noteFound struct {
	protocol.NoteResolved
	title string
}

// resolve asks the daemon where a link leads. A Markdown link counts from the folder of the note first.
func (f *renameTargetFinder) resolve(l markdown.Link) (out noteFound, err error) {
	if l.Target == "" {
		out.Vault, out.Path = f.place.Vault, f.place.Path
		return out, nil
	}
	from, err := f.c.NoteID(f.ctx, f.d.URI)
	if err != nil {
		return out, err
	}
	tries := []string{l.Target}
	if l.Markdown && !strings.HasPrefix(l.Target, "/") {
		tries = []string{"./" + l.Target, l.Target}
	}
	for _, link := range tries {
		err = f.c.Daemon(f.ctx, "notes.resolve", protocol.NoteResolve{Link: link, From: from}, &out.NoteResolved)
		if err != nil || out.Path != "" {
			break
		}
	}
	if err != nil || out.Path == "" || l.Markdown {
		return out, err
	}
	var n protocol.NoteFull
	err = f.c.Daemon(f.ctx, "notes.get", protocol.NoteGet{Ref: out.ID}, &n)
	out.title = n.Title
	return out, err
}

// tag is the target for a tag.
func (f *renameTargetFinder) tag() *renameTarget {
	start, end := f.at, f.at
	from, to := f.d.LineSpan(f.d.LineAt(f.at))
	stop := func(c byte) bool { return strings.IndexByte(" \t\"'`,;:.!?()[]{}<>|#*", c) >= 0 }
	for start > from && !stop(f.d.Text[start-1]) {
		start--
	}
	for end < to && !stop(f.d.Text[end]) {
		end++
	}
	name := f.d.Text[start:end]
	block := f.d.Frontmatter()
	inFront := block.Found && f.at >= block.Start && f.at <= block.End
	if name == "" || !inFront && (start == 0 || f.d.Text[start-1] != '#') || inFront && !inTags(f.d, block, f.at) {
		return nil
	}
	for _, t := range f.d.Note().Tags {
		if text.Fold(t) == text.Fold(name) {
			return &renameTarget{start, end, name, protocol.VaultPlanRename{Vault: f.place.Vault, Kind: "tag", Old: name}}
		}
	}
	return nil
}

// inTags reports whether a place lies in the value of the key of tags.
func inTags(d *Document, block markdown.FrontmatterBlock, at int) bool {
	for line := d.LineAt(at); line >= 0; line-- {
		start, end := d.LineSpan(line)
		if start < block.Start {
			return false
		}
		content := d.Text[start:end]
		if content == "" || strings.IndexByte(" \t-", content[0]) >= 0 {
			continue
		}
		key, _, ok := strings.Cut(content, ":")
		return ok && (text.Fold(key) == "tags" || text.Fold(key) == "tag")
	}
	return false
}

// mention is the target for a mention of an entity, @Name or @[Full Name]: the note that makes it.
func (f *renameTargetFinder) mention() (*renameTarget, error) {
	from, to := f.d.LineSpan(f.d.LineAt(f.at))
	line := f.d.Text[from:to]
	open := strings.LastIndexByte(line[:f.at-from], '@')
	if open < 0 {
		if f.at < to && f.d.Text[f.at] == '@' {
			open = f.at - from
		} else {
			return nil, nil
		}
	}
	start := open + 1
	names := candidates(line[start:])
	if strings.HasPrefix(line[start:], "[") {
		start++
		name, _, ok := strings.Cut(line[start:], "]")
		if !ok {
			return nil, nil
		}
		names = []string{name}
	}
	for _, name := range names {
		if f.at > from+start+len(name) {
			break
		}
		var e protocol.EntityFull
		err := f.c.Daemon(f.ctx, "entities.get", protocol.EntityGet{Ref: name}, &e)
		if fault.KindOf(err) == fault.NotFound || fault.KindOf(err) == fault.Conflict {
			continue
		}
		if err != nil {
			return nil, err
		}
		return f.entity(e, name, from+start)
	}
	return nil, nil
}

// entity is the target for an entity that is named at a place.
func (f *renameTargetFinder) entity(e protocol.EntityFull, name string, start int) (*renameTarget, error) {
	if e.NoteID == "" {
		return nil, fault.New(fault.Unavailable, "%q is made from no note", e.Name).WithHint("ctxd entities changes its name")
	}
	if text.Fold(e.Name) != text.Fold(name) {
		return nil, isAlias(name, e.Name)
	}
	var n protocol.NoteFull
	if err := f.c.Daemon(f.ctx, "notes.get", protocol.NoteGet{Ref: e.NoteID}, &n); err != nil {
		return nil, err
	}
	return f.note(n.Vault, n.Path, name, start, start+len(name)), nil
}

// candidates are the names that may stand at the beginning of a text, the longest first.
func candidates(s string) (list []string) {
	const words = 6
	end := 0
	for range words {
		rest := strings.TrimLeft(s[end:], " ")
		skipped := len(s[end:]) - len(rest)
		n := strings.IndexAny(rest+" ", " \t.,;:!?()[]{}\"|#")
		if n == 0 || skipped > 1 {
			break
		}
		end += skipped + n
		list = append([]string{s[:end]}, list...)
	}
	return list
}

func withoutExt(p string) string {
	if ext := path.Ext(p); strings.EqualFold(ext, ".md") || strings.EqualFold(ext, ".markdown") {
		return strings.TrimSuffix(p, ext)
	}
	return p
}

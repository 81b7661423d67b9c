package rpc

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/notedoc"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// draft takes of a record what a client may write.
func draft(p protocol.NoteRecord) notes.Draft {
	d := notes.Draft{
		ID: p.ID, Title: p.Title, Body: p.Body, Path: p.Path, Folder: p.Folder,
		Tags: p.Tags, Aliases: p.Aliases, Private: p.Private,
	}
	if p.CreatedAt != nil {
		d.CreatedAt = *p.CreatedAt
	}
	return d
}

func (c scope) notesPut(ctx context.Context, s *Session, p protocol.NotePut) (out protocol.NoteSaved, err error) {
	if err := c.newNote(p.ID, "id"); err != nil {
		return out, err
	}
	if err := c.hashHidden(ctx, p.ID, p.IfHash); err != nil {
		return out, err
	}
	if c.isFile(p.ID) || p.Vault != "" || p.Day != "" {
		return c.putFile(ctx, s, p)
	}
	if p.DryRun {
		return c.rehearse(ctx, p.ID, p.IfVersion, p.IfHash, p.Title, func(string) string { return p.Body })
	}
	ctx, call := c.by(s).Begin(ctx, "notes.put", &p)
	d := draft(p.NoteRecord)
	d.IfHash = p.IfHash
	d.ID = call.ID(d.ID)
	if _, says := d.Read().Frontmatter.Get("created"); call.Again() && !says {
		d.CreatedAt = call.Time(d.CreatedAt)
	}
	call.OnlyNew("a note", p.ID, func() bool { return c.view.Note(p.ID) != nil })
	n, err := c.notes.Put(ctx, d, call.IfVersion(p.IfVersion))
	out, err = c.written(ctx, n, p.Whole(), err)
	out.Waits = c.by(s).Waits(d.ID)
	return out, err
}

func (c scope) notesPatch(ctx context.Context, s *Session, p protocol.NotePatch) (protocol.NoteSaved, error) {
	if p.Body != nil && p.Append != nil { // whoever is asked about a note
		return protocol.NoteSaved{}, fault.Field("append", "append goes in the place of body").WithHint("leave one of the two out")
	}
	if err := c.hiddenNote(p.ID); err != nil {
		return protocol.NoteSaved{}, err
	}
	if err := c.hashHidden(ctx, p.ID, p.IfHash); err != nil {
		return protocol.NoteSaved{}, err
	}
	writes := p.Body != nil || p.Append != nil
	switch {
	case c.isFile(p.ID) && (p.Title.Set || p.Path.Set || p.Folder.Set || p.Tags.Set || p.Aliases.Set):
		return protocol.NoteSaved{}, inFileAlone(p.ID)
	case writes && c.isFile(p.ID):
		return c.patchFile(ctx, s, p)
	case p.DryRun && c.view.Note(p.ID) == nil:
		return protocol.NoteSaved{}, fault.Missing("note", p.ID)
	case p.DryRun:
		return c.rehearse(ctx, p.ID, p.IfVersion, p.IfHash, "", patchedText(p))
	}
	n, err := c.notes.Patch(ctx, notes.Patch{
		ID: p.ID, Title: p.Title.Pointer(), Body: p.Body, Path: p.Path.Pointer(), Folder: p.Folder.Pointer(),
		Tags: p.Tags.Pointer(), Aliases: p.Aliases.Pointer(), Private: p.Private,
		Append: p.Append, IfHash: p.IfHash,
	}, p.IfVersion)
	return c.written(ctx, n, p.Whole(), err)
}

// patchedText returns what makes the new text of the old one.
func patchedText(p protocol.NotePatch) func(string) string {
	return func(was string) string {
		switch {
		case p.Body != nil:
			return *p.Body
		case p.Append != nil:
			return notes.WithLines(was, *p.Append)
		}
		return was
	}
}

// written returns a note as it is shown to its writer: with its text when the whole note is asked for.
func (c scope) written(ctx context.Context, n *notes.Note, whole bool, err error) (out protocol.NoteSaved, _ error) {
	if err != nil {
		return out, c.view.ShownError(err)
	}
	shown, err := c.view.ShownNote(ctx, n)
	if err != nil {
		return out, err
	}
	out.Note = *shown.Record()
	if whole {
		out.Body = out.Note.Body
	}
	return out, nil
}

func (c scope) notesPutMany(ctx context.Context, _ *Session, p protocol.NotePutMany) (protocol.NoteList, error) {
	drafts := make([]notes.Draft, len(p.Notes))
	for i, n := range p.Notes {
		if err := c.newNote(n.ID, fmt.Sprintf("notes[%d].id", i)); err != nil {
			return protocol.NoteList{}, err
		}
		drafts[i] = draft(n)
	}
	list, err := c.notes.PutMany(ctx, drafts)
	out := protocol.NoteList{Notes: make([]protocol.NoteSaved, len(list))}
	for i, n := range list {
		if err != nil {
			break
		}
		out.Notes[i], err = c.written(ctx, n, p.Whole(), nil)
	}
	return out, c.view.ShownError(err)
}

func (c scope) notesGet(ctx context.Context, _ *Session, p protocol.NoteGet) (*protocol.NoteFull, error) {
	n, err := c.view.FindNote(p.Ref, p.Vault)
	if err != nil {
		return nil, err
	}
	links, unresolved := c.view.Links(n.ID)
	links = append(links, unresolved...) // an empty list, not null, when there are none
	slices.SortStableFunc(links, func(a, b notes.Link) int { return cmp.Compare(a.Line, b.Line) })
	shown, err := c.view.ShownNote(ctx, n)
	if err != nil {
		return nil, err
	}
	back := c.view.Backlinks(n.ID)
	c.view.CiteLinks(links, back)
	hash := ""
	if shown.Body == n.Body {
		hash = notes.HashOf(n.Body)
	}
	return &protocol.NoteFull{
		Hash: hash, Note: shown.Note, Waits: c.by(nil).Waits(n.ID), Vault: c.view.VaultOf(n), Links: links, Backlinks: back, Link: c.link(n),
		Others: c.view.Others(p.Ref, n),
	}, nil
}

func (c scope) notesList(ctx context.Context, _ *Session, p protocol.NoteFilter) (protocol.NotePage, error) {
	since, err := c.moment("changedSince", p.ChangedSince)
	if err != nil {
		return protocol.NotePage{}, err
	}
	all, err := c.view.Notes(ctx, notes.Filter{
		Archived: p.Archived, Tag: p.Tag, Folder: p.Folder, Type: p.Type, Vault: p.Vault,
	})
	if err != nil {
		return protocol.NotePage{}, err
	}
	if !since.IsZero() {
		all = slices.DeleteFunc(all, func(n *notes.Note) bool { return n.UpdatedAt.Before(since) })
	}
	page, next, err := pageOfNotes(all, p)
	heads := make([]protocol.NoteHead, len(page))
	links := c.view.LinksFrom("")
	for i, n := range page {
		heads[i] = protocol.NoteHead{
			ID: n.ID, Title: n.Title, Link: links.Instead(c.view.Note(n.ID)), Vault: c.view.VaultOf(n), Path: n.Path, Folder: n.Folder, Tags: n.Tags, Aliases: n.Aliases,
			Private: n.Private, VaultBacked: n.VaultBacked, CreatedAt: n.CreatedAt, UpdatedAt: n.UpdatedAt,
			ArchivedAt: n.ArchivedAt, Version: n.Version, EntityID: n.EntityID,
		}
	}
	return protocol.NotePage{Notes: heads, Total: len(all), NextCursor: next}, err
}

// link is what stands between [[ and ]] in a link to a note where that is not its title; "" else.
func (c scope) link(n *notes.Note) string {
	links := c.view.LinksFrom("")
	return links.Instead(n)
}

// pageOfNotes returns a page of notes, which are given by title, in the order that is
// asked for.
func pageOfNotes(all []*notes.Note, p protocol.NoteFilter) ([]*notes.Note, string, error) {
	if p.Sort != protocol.SortUpdated {
		return paginate(all, p.Page,
			func(n *notes.Note) pageMark { return pageMark{Name: n.Title, ID: n.ID} },
			func(n *notes.Note, m pageMark) int {
				return cmp.Or(entities.CompareNatural(n.Title, m.Name), strings.Compare(n.ID, m.ID))
			})
	}
	var after time.Time // of the last note of the page before
	if p.Cursor != "" {
		m, err := parsePageMark(p.Cursor)
		if err != nil {
			return nil, "", err
		}
		after, err = time.Parse(time.RFC3339Nano, m.Name)
		if err != nil {
			return nil, "", badCursorError()
		}
	}
	slices.SortFunc(all, func(a, b *notes.Note) int {
		return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), strings.Compare(a.ID, b.ID))
	})
	return paginate(all, p.Page,
		func(n *notes.Note) pageMark {
			return pageMark{Name: n.UpdatedAt.UTC().Format(time.RFC3339Nano), ID: n.ID}
		},
		func(n *notes.Note, m pageMark) int {
			return cmp.Or(after.Compare(n.UpdatedAt), strings.Compare(n.ID, m.ID))
		})
}

func (c scope) notesArchive(ctx context.Context, _ *Session, p protocol.ByID) (protocol.Versioned, error) {
	if err := c.hiddenNote(p.ID); err != nil {
		return protocol.Versioned{}, err
	}
	return noteVersion(c.notes.Archive(ctx, p.ID, p.IfVersion))
}

func (c scope) notesRestore(ctx context.Context, _ *Session, p protocol.ByID) (protocol.Versioned, error) {
	if err := c.hiddenNote(p.ID); err != nil {
		return protocol.Versioned{}, err
	}
	return noteVersion(c.notes.Restore(ctx, p.ID, p.IfVersion))
}

func noteVersion(n *notes.Note, err error) (protocol.Versioned, error) {
	if err != nil {
		return protocol.Versioned{}, err
	}
	return protocol.Versioned{ID: n.ID, Version: n.Version}, nil
}

func (c scope) notesDelete(ctx context.Context, s *Session, p protocol.ByID) (out protocol.NoteDeleted, err error) {
	if err := c.hiddenNote(p.ID); err != nil {
		return out, err
	}
	out.ID = p.ID
	if c.isFile(p.ID) {
		out.Version = c.view.Note(p.ID).Version + 1
		moved, err := c.vaults.Trash(ctx, p.ID, p.IfVersion, false, c.writer(s))
		if err == nil {
			out.Trash = moved.Path
		}
		return out, err
	}
	out.Version, err = c.notes.Delete(ctx, p.ID, p.IfVersion)
	return out, err
}

func (c scope) notesComplete(_ context.Context, _ *Session, p protocol.NoteComplete) (protocol.NoteItems, error) {
	if p.From != "" {
		if _, err := c.view.NoteByID(p.From); err != nil {
			return protocol.NoteItems{}, fault.Under("from", err)
		}
	}
	hits := c.view.CompleteNotes(p.Prefix, p.Limit)
	links := c.view.LinksFrom(p.From)
	items := make([]protocol.NoteItem, len(hits))
	for i, hit := range hits {
		items[i] = protocol.NoteItem{ID: hit.ID, Title: hit.Name, Match: hit.Match}
		if n := c.view.Note(hit.ID); n != nil {
			items[i].Vault, items[i].Path = c.view.VaultOf(n), n.Path
			items[i].Insert = links.To(n, hit.Name)
		}
	}
	return protocol.NoteItems{Items: items}, nil
}

func (c scope) notesResolve(_ context.Context, _ *Session, p protocol.NoteResolve) (protocol.NoteResolved, error) {
	if p.From != "" {
		if _, err := c.view.NoteByID(p.From); err != nil {
			return protocol.NoteResolved{}, fault.Under("from", err)
		}
	}
	inner := strings.TrimPrefix(strings.TrimSpace(p.Link), "!")
	if within, ok := strings.CutPrefix(inner, "[["); ok {
		inner = strings.TrimSuffix(within, "]]")
	}
	link := markdown.ParseTarget(inner)
	found := c.view.ResolveNote(inner, p.From)
	out := protocol.NoteResolved{
		ID: found.ID, Heading: link.Heading, Block: link.Block,
		Candidates: []fault.Candidate{},
	}
	if n := c.view.Note(found.ID); n != nil {
		out.Vault, out.Path = c.view.VaultOf(n), n.Path
	}
	if len(found.Candidates) > 0 {
		out.Candidates = c.view.Candidates(found.Candidates)
	}
	return out, nil
}

func (c scope) notesSearch(ctx context.Context, _ *Session, p protocol.NoteSearch) (protocol.SearchResult, error) {
	out := protocol.SearchResult{Hits: []protocol.SearchHit{}}
	keep, err := c.searchFilter(p.Filter)
	if err != nil {
		return out, err
	}
	req := search.Request{
		Query: p.Query, Mode: search.Mode(p.Mode), Limit: p.Limit, Keep: notedoc.Keep(keep), List: narrows(p.Filter),
		Snippets: true, Explain: p.Explain, Confidence: true, Values: map[string][]string{"vault": p.Filter.Vaults, "type": p.Filter.Types},
	}
	res, err := c.view.Search(ctx, req)
	if err != nil {
		return out, err
	}
	return c.searchResult(res, p.Explain), nil
}

func (c scope) searchExplain(ctx context.Context, _ *Session, p protocol.SearchExplain) (*protocol.SearchExplained, error) {
	n, err := c.view.FindNote(p.Ref, "")
	if err != nil {
		return nil, err
	}
	keep, err := c.searchFilter(p.Filter)
	if err != nil {
		return nil, err
	}
	req := search.Request{Query: p.Query, Keep: notedoc.Keep(keep), Values: map[string][]string{"vault": p.Filter.Vaults, "type": p.Filter.Types}}
	why, err := c.view.WhyFound(ctx, req, n.ID)
	if err != nil {
		return nil, err
	}
	out := &protocol.SearchExplained{
		SearchResult: c.searchResult(why.Result, true), Place: why.Place, Passes: keep(n), Words: searchStanding(why.Words), Meaning: searchStanding(why.Meaning),
	}
	out.Note = protocol.SearchHit{ID: n.ID, Title: c.view.TitleOf(n), Link: c.link(n), Vault: c.view.VaultOf(n), Path: n.Path, Ranges: [][2]int{}, By: foundBy(search.Lexical)}
	if why.Hit.Doc != nil {
		out.Note.Score, out.Note.By, out.Note.Snippet, out.Note.Signals = why.Hit.Score, foundBy(why.Hit.Found), why.Hit.Snippet, hitSignals(&why.Hit)
		if why.Hit.Ranges != nil {
			out.Note.Ranges = why.Hit.Ranges
		}
	}
	return out, nil
}

func searchStanding(s search.Standing) protocol.SearchStanding {
	return protocol.SearchStanding{Place: s.Place, Score: s.Score, Best: s.Best, Missing: s.Missing}
}

func (c scope) notesSimilar(ctx context.Context, _ *Session, p protocol.NoteSimilar) (protocol.SearchResult, error) {
	n, err := c.view.FindNote(p.Ref, "")
	if err != nil {
		return protocol.SearchResult{}, err
	}
	res, err := c.view.Near(ctx, search.Near{ID: n.ID, Limit: p.Limit, Least: search.LeastSimilar, Snippets: true})
	if err != nil {
		return protocol.SearchResult{}, err
	}
	return c.searchResult(res, false), nil
}

// searchResult writes what was found.
func (c scope) searchResult(res *search.Result, explain bool) protocol.SearchResult {
	out := protocol.SearchResult{
		Hits: []protocol.SearchHit{}, Mode: string(res.Mode), Understood: searchUnderstood(res.Understood),
		Fused: searchFused(res.Fused), Stages: searchStages(res.Stages), Answer: searchAnswer(res.Answer),
	}
	out.Corrected, out.Confidence, out.Reason = res.Corrected, res.Confidence, res.Reason
	if res.Nothing != "" {
		out.Nothing = &protocol.SearchNothing{Why: res.Nothing}
	}
	if res.Degraded != "" {
		out.Degraded = &protocol.Degraded{Stage: res.Stage, Why: res.Degraded}
	}
	links := c.view.LinksFrom("")
	for _, f := range res.Hits {
		n := notedoc.Note(f.Doc)
		hit := protocol.SearchHit{
			ID: n.ID, Title: c.view.TitleOf(n), Link: links.Instead(n), Vault: c.view.VaultOf(n), Path: n.Path, Score: f.Score,
			Snippet: f.Snippet, By: foundBy(f.Found), Ranges: f.Ranges,
		}
		if explain {
			hit.Signals = hitSignals(&f)
		}
		out.Hits = append(out.Hits, hit)
	}
	return out
}

// narrows reports whether a filter says which notes are wanted.
func narrows(p protocol.SearchFilter) bool {
	return len(p.Tags)+len(p.Types)+len(p.Vaults) > 0 || p.Folder+p.After+p.Before != ""
}

// searchFilter returns the test of a filter.
func (c scope) searchFilter(p protocol.SearchFilter) (func(*notes.Note) bool, error) {
	f := notes.SearchFilter{Tags: p.Tags, Types: p.Types, Archived: p.Archived}
	if p.Folder != "" {
		f.Folder = []string{p.Folder}
	}
	var err error
	f.After, err = c.moment("filter.after", p.After)
	if err == nil {
		f.Before, err = c.moment("filter.before", p.Before)
	}
	if err != nil {
		return nil, err
	}
	chosen, inVaults := c.view.Chooser(f), notedoc.InVaults(p.Vaults)
	if inVaults == nil {
		return chosen, nil
	}
	return func(n *notes.Note) bool { return inVaults(n) && chosen(n) }, nil
}

// moment reads a date as a query has it. "" is the zero time.
func (c scope) moment(field, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	at, ok := c.view.Moment(text)
	if !ok {
		return at, fault.Field(field, "%s must be a date such as %s, or a time such as 2026-01-31T09:30:00Z", field, search.Dates)
	}
	return at, nil
}

func (c scope) notesLinks(_ context.Context, _ *Session, p protocol.NoteRef) (out protocol.NoteLinks, err error) {
	n, err := c.view.FindNote(p.Ref, "")
	if err != nil {
		return out, err
	}
	out.Outgoing, out.Unresolved = c.view.Links(n.ID)
	out.Incoming = c.view.Backlinks(n.ID)
	c.view.CiteLinks(out.Outgoing, out.Incoming)
	return out, nil
}

func (c scope) tagsList(_ context.Context, _ *Session, p protocol.TagFilter) (protocol.TagPage, error) {
	tags := c.view.Tags(p.Prefix)
	total := len(tags)
	// The order is by number, which changes; a page goes on after the place of
	// the last tag, which is looked up by name.
	if p.Cursor != "" {
		m, err := parsePageMark(p.Cursor)
		if err != nil {
			return protocol.TagPage{}, err
		}
		at := slices.IndexFunc(tags, func(t record.NoteTag) bool { return t.Name == m.Name })
		tags = tags[at+1:]
	}
	p.Cursor = ""
	page, next, err := paginate(tags, p.Page, func(t record.NoteTag) pageMark { return pageMark{Name: t.Name} }, nil)
	return protocol.TagPage{Tags: append([]record.NoteTag{}, page...), Total: total, NextCursor: next}, err
}

package rpc

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
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

func (r *Rooms) notesPut(ctx context.Context, _ *Session, p protocol.NotePut) (*notes.Note, error) {
	return r.Notes.Put(ctx, draft(p.NoteRecord), p.IfVersion)
}

func (r *Rooms) notesPatch(ctx context.Context, _ *Session, p protocol.NotePatch) (*notes.Note, error) {
	return r.Notes.Patch(ctx, notes.Patch{
		ID: p.ID, Title: p.Title.Pointer(), Body: p.Body, Path: p.Path.Pointer(), Folder: p.Folder.Pointer(),
		Tags: p.Tags.Pointer(), Aliases: p.Aliases.Pointer(), Private: p.Private,
	}, p.IfVersion)
}

func (r *Rooms) notesPutMany(ctx context.Context, _ *Session, p protocol.NotePutMany) (protocol.NoteList, error) {
	drafts := make([]notes.Draft, len(p.Notes))
	for i, n := range p.Notes {
		drafts[i] = draft(n)
	}
	list, err := r.Notes.PutMany(ctx, drafts)
	return protocol.NoteList{Notes: list}, err
}

func (r *Rooms) notesGet(_ context.Context, _ *Session, p protocol.NoteGet) (*protocol.NoteFull, error) {
	n, err := r.findNote(p)
	if err != nil {
		return nil, err
	}
	links, unresolved := r.Notes.Outgoing(n.ID)
	links = append(links, unresolved...) // an empty list, not null, when there are none
	slices.SortStableFunc(links, func(a, b notes.Link) int { return cmp.Compare(a.Line, b.Line) })
	return &protocol.NoteFull{Note: *n, Links: links, Backlinks: r.Notes.Incoming(n.ID)}, nil
}

func (r *Rooms) findNote(p protocol.NoteGet) (*notes.Note, error) {
	given := 0
	for _, s := range []string{p.ID, p.Path, p.Title} {
		if s != "" {
			given++
		}
	}
	switch {
	case given != 1:
		return nil, fault.Field("id", "exactly one of id, path and title is needed, %d are given", given)
	case p.ID != "":
		return r.Notes.ByID(p.ID)
	case p.Path != "":
		return r.Notes.ByPath(p.Path)
	}
	return r.Notes.ByTitle(p.Title)
}

func (r *Rooms) notesList(_ context.Context, _ *Session, p protocol.NoteFilter) (protocol.NotePage, error) {
	all := r.Notes.List(notes.Filter{Archived: p.Archived, Tag: p.Tag, Folder: p.Folder, Type: p.Type})
	page, next, err := paginate(all, p.Page,
		func(n *notes.Note) mark { return mark{n.Title, n.ID} },
		func(n *notes.Note, m mark) int {
			return cmp.Or(entities.CompareNatural(n.Title, m.name), strings.Compare(n.ID, m.id))
		})
	heads := make([]protocol.NoteHead, len(page))
	for i, n := range page {
		heads[i] = protocol.NoteHead{
			ID: n.ID, Title: n.Title, Path: n.Path, Folder: n.Folder, Tags: n.Tags, Aliases: n.Aliases,
			Private: n.Private, VaultBacked: n.VaultBacked, CreatedAt: n.CreatedAt, UpdatedAt: n.UpdatedAt,
			ArchivedAt: n.ArchivedAt, Version: n.Version, EntityID: n.EntityID,
		}
	}
	return protocol.NotePage{Notes: heads, NextCursor: next}, err
}

func (r *Rooms) notesArchive(ctx context.Context, _ *Session, p protocol.ByID) (protocol.Versioned, error) {
	return noteVersion(r.Notes.Archive(ctx, p.ID, p.IfVersion))
}

func (r *Rooms) notesUnarchive(ctx context.Context, _ *Session, p protocol.ByID) (protocol.Versioned, error) {
	return noteVersion(r.Notes.Unarchive(ctx, p.ID, p.IfVersion))
}

func noteVersion(n *notes.Note, err error) (protocol.Versioned, error) {
	if err != nil {
		return protocol.Versioned{}, err
	}
	return protocol.Versioned{ID: n.ID, Version: n.Version}, nil
}

func (r *Rooms) notesDelete(ctx context.Context, _ *Session, p protocol.ByID) (protocol.Versioned, error) {
	version, err := r.Notes.Delete(ctx, p.ID, p.IfVersion)
	return protocol.Versioned{ID: p.ID, Version: version}, err
}

func (r *Rooms) notesComplete(_ context.Context, _ *Session, p protocol.NoteComplete) (protocol.NoteItems, error) {
	hits := r.Notes.Complete(p.Prefix, p.Limit)
	items := make([]protocol.NoteItem, len(hits))
	for i, hit := range hits {
		items[i] = protocol.NoteItem{ID: hit.ID, Title: hit.Name, Match: hit.Match}
		if n := r.Notes.Get(hit.ID); n != nil {
			items[i].Path = n.Path
		}
	}
	return protocol.NoteItems{Items: items}, nil
}

func (r *Rooms) notesResolve(_ context.Context, _ *Session, p protocol.NoteResolve) (protocol.NoteResolved, error) {
	if p.From != "" {
		if _, err := r.Notes.ByID(p.From); err != nil {
			return protocol.NoteResolved{}, fault.Under("from", err)
		}
	}
	inner := strings.TrimPrefix(strings.TrimSpace(p.Link), "!")
	if within, ok := strings.CutPrefix(inner, "[["); ok {
		inner = strings.TrimSuffix(within, "]]")
	}
	link := markdown.ParseTarget(inner)
	found := r.Notes.Resolve(inner, p.From)
	out := protocol.NoteResolved{ID: found.ID, Heading: link.Heading, Block: link.Block, Candidates: []fault.Candidate{}}
	if n := r.Notes.Get(found.ID); n != nil {
		out.Path = n.Path
	}
	if len(found.Candidates) > 0 {
		out.Candidates = r.Notes.Describe(found.Candidates)
	}
	return out, nil
}

func (r *Rooms) notesSearch(ctx context.Context, _ *Session, p protocol.NoteSearch) (protocol.SearchResult, error) {
	out := protocol.SearchResult{Hits: []protocol.SearchHit{}}
	filter, err := searchFilter(p.Filter)
	if err != nil {
		return out, err
	}
	res, err := r.Search.Search(ctx, search.Request{
		Query: p.Query, Mode: search.Mode(p.Mode), Limit: p.Limit, Filter: filter, Snippets: true, Explain: p.Explain,
	})
	if err != nil {
		return out, err
	}
	out.Mode, out.Understood, out.Stages = string(res.Mode), understood(res.Understood), searchStages(res.Stages)
	if res.Degraded != "" {
		out.Degraded = &protocol.Degraded{Stage: res.Stage, Why: res.Degraded}
	}
	for _, f := range res.Hits {
		hit := protocol.SearchHit{
			ID: f.Note.ID, Title: f.Note.Title, Path: f.Note.Path, Score: f.Score, Snippet: f.Snippet, Ranges: f.Ranges,
			Signals: f.Signals,
		}
		out.Hits = append(out.Hits, hit)
	}
	return out, nil
}

func searchFilter(p protocol.SearchFilter) (f notes.SearchFilter, err error) {
	f = notes.SearchFilter{Tags: p.Tags, Types: p.Types, Archived: p.Archived}
	if p.Folder != "" {
		f.Folder = []string{p.Folder}
	}
	if f.After, err = moment("filter.after", p.After); err != nil {
		return f, err
	}
	f.Before, err = moment("filter.before", p.Before)
	return f, err
}

// moment reads a date of the daemon's zone or a time. "" is the zero time.
func moment(field, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, text, time.Local); err == nil {
		return t, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fault.Field(field, "%s must be a date such as 2026-01-31 or a time such as 2026-01-31T09:30:00Z", field)
	}
	return t, nil
}

func (r *Rooms) notesLinks(_ context.Context, _ *Session, p protocol.NoteID) (out protocol.NoteLinks, err error) {
	if _, err = r.Notes.ByID(p.ID); err != nil {
		return out, err
	}
	out.Outgoing, out.Unresolved = r.Notes.Outgoing(p.ID)
	out.Incoming = r.Notes.Incoming(p.ID)
	return out, nil
}

func (r *Rooms) tagsList(_ context.Context, _ *Session, p protocol.TagFilter) (protocol.TagPage, error) {
	tags := r.Notes.Tags(p.Prefix)
	// The order is by number, which changes; a page goes on after the place of
	// the last tag, which is looked up by name.
	if p.Cursor != "" {
		m, err := parseMark(p.Cursor)
		if err != nil {
			return protocol.TagPage{}, err
		}
		at := slices.IndexFunc(tags, func(t notes.Tag) bool { return t.Name == m.name })
		tags = tags[at+1:]
	}
	p.Cursor = ""
	page, next, err := paginate(tags, p.Page, func(t notes.Tag) mark { return mark{name: t.Name} }, nil)
	return protocol.TagPage{Tags: append([]notes.Tag{}, page...), NextCursor: next}, err
}

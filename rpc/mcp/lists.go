package mcp

import (
	"cmp"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/chat/tools/render"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// notesInput are the arguments of list_notes.
type notesInput struct {
	Folder       string `json:"folder,omitempty" jsonschema:"only notes in this folder or one below it"`
	Tag          string `json:"tag,omitempty" jsonschema:"only notes with this tag or one below it"`
	Type         string `json:"type,omitempty" jsonschema:"only notes that describe an entity of this type, such as Person"`
	Vault        string `json:"vault,omitempty" jsonschema:"only notes of the vault of this name"`
	ChangedSince string `json:"changedSince,omitempty" jsonschema:"only notes changed on or after this date: today, yesterday, 7d, 2w, 2026-01 or 2026-01-31, or a time (RFC 3339)"`
	Limit        int    `json:"limit,omitempty" jsonschema:"notes of a page"`
	paging
}

func notesSchema() *jsonschema.Schema {
	return pagesOf[notesInput](func(p map[string]*jsonschema.Schema) { between(p["limit"], 1, 200, 50) })
}

func (c *call) listNotes(in notesInput) (string, error) {
	return c.notesBy(protocol.NoteFilter{
		Folder: in.Folder, Tag: strings.TrimPrefix(in.Tag, "#"), Type: in.Type, Vault: in.Vault,
		ChangedSince: in.ChangedSince,
	}, in.paging, in.Limit)
}

// changesInput are the arguments of recent_changes.
type changesInput struct {
	ChangedSince string `json:"changedSince,omitempty" jsonschema:"only notes changed on or after this date: today, yesterday, 7d, 2w, 2026-01 or 2026-01-31, or a time (RFC 3339)"`
	Vault        string `json:"vault,omitempty" jsonschema:"only notes of the vault of this name"`
	Limit        int    `json:"limit,omitempty" jsonschema:"notes of a page"`
	paging
}

func changesSchema() *jsonschema.Schema {
	return pagesOf[changesInput](func(p map[string]*jsonschema.Schema) { between(p["limit"], 1, 200, 20) })
}

func (c *call) recentChanges(in changesInput) (string, error) {
	return c.notesBy(protocol.NoteFilter{
		ChangedSince: in.ChangedSince, Vault: in.Vault, Sort: protocol.SortUpdated,
	}, in.paging, in.Limit)
}

// notesBy lists the notes that pass a filter, each with when it was changed.
func (c *call) notesBy(filter protocol.NoteFilter, in paging, most int) (string, error) {
	l, err := pageOf("note", in, most, func(p protocol.Page) (out fetched, err error) {
		filter.Page = p
		var page protocol.NotePage
		err = c.ask("notes.list", filter, &page)
		for _, n := range page.Notes {
			line := "- " + render.NoteLine(n.ID, cmp.Or(n.Link, n.Title), n.Vault, n.Path) + ", changed " + render.Timestamp(n.UpdatedAt)
			if len(n.Tags) > 0 {
				line += ", tags " + render.ListUpTo(n.Tags, render.MaxListed)
			}
			out.items = append(out.items, line+"\n")
		}
		out.total, out.next = page.Total, page.NextCursor
		return out, err
	})
	if err != nil {
		return "", err
	}
	l.None = "There is no such note."
	return l.Text(in.MaxChars)
}

// tagsInput are the arguments of list_tags.
type tagsInput struct {
	Prefix string `json:"prefix,omitempty" jsonschema:"only tags that begin with this"`
	Limit  int    `json:"limit,omitempty" jsonschema:"tags of a page"`
	paging
}

func tagsSchema() *jsonschema.Schema {
	return pagesOf[tagsInput](func(p map[string]*jsonschema.Schema) { between(p["limit"], 1, 1000, 100) })
}

func (c *call) listTags(in tagsInput) (string, error) {
	l, err := pageOf("tag", in.paging, in.Limit, func(p protocol.Page) (out fetched, err error) {
		var page protocol.TagPage
		err = c.ask("tags.list", protocol.TagFilter{Prefix: strings.TrimPrefix(in.Prefix, "#"), Page: p}, &page)
		for _, t := range page.Tags {
			out.items = append(out.items, "- "+render.Inline(t.Name)+": "+render.Plural(t.Count, "note")+"\n")
		}
		out.total, out.next = page.Total, page.NextCursor
		return out, err
	})
	if err != nil {
		return "", err
	}
	l.None = "There is no such tag."
	return l.Text(in.MaxChars)
}

// listInput are the arguments of list_entities.
type listInput struct {
	Type  string `json:"type,omitempty" jsonschema:"only entities of this type, such as Person"`
	Limit int    `json:"limit,omitempty" jsonschema:"entities of a page"`
	paging
}

func listSchema() *jsonschema.Schema {
	return pagesOf[listInput](func(p map[string]*jsonschema.Schema) { between(p["limit"], 1, 200, 50) })
}

func (c *call) listEntities(in listInput) (string, error) {
	l, err := pageOf("entity", in.paging, in.Limit, func(p protocol.Page) (out fetched, err error) {
		var page protocol.EntityPage
		err = c.ask("entities.list", protocol.EntityFilter{Type: in.Type, Page: p}, &page)
		for _, e := range page.Entities {
			line := "- " + render.Entity(e.Name, e.Type) + render.ID(e.ID) + render.Location(e.Vault, e.Path)
			if len(e.Aliases) > 0 {
				line += " also " + render.ListUpTo(e.Aliases, render.MaxListed)
			}
			out.items = append(out.items, line+"\n")
		}
		out.total, out.next = page.Total, page.NextCursor
		return out, err
	})
	if fault.KindOf(err) == fault.NotFound && err != nil {
		return "", fault.New(fault.NotFound, "there is no such type").WithHint("list_types shows the types")
	}
	if err != nil {
		return "", err
	}
	l.None = "There is none."
	return l.Text(in.MaxChars)
}

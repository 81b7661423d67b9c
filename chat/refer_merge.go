package chat

import (
	"cmp"
	"slices"

	"github.com/ctxd/ctxd/entities/record"
)

// MergeReferences joins lists of references to one that has each record once, in the order in which they come. What joins is the
// same whatever comes first: a link wins over what was found, tools and places are united, what shows more of a note
// wins over what shows less. Of two links the first one stands. left tells that there were more than Max notes, which
// are left out; memories never are.
func MergeReferences(lists ...[]Reference) (out []Reference, left bool) {
	at := make(map[string]int)
	found := 0
	for _, list := range lists {
		for i := range list {
			r := &list[i]
			key := keyOf(r)
			if place, ok := at[key]; ok {
				out[place].join(r)
				continue
			}
			if r.MemoryID == "" {
				if found == MaxMessageReferences {
					left = true
					continue
				}
				found++
			}
			at[key] = len(out)
			out = append(out, r.clone())
		}
	}
	return out, left
}

// clone returns a reference that shares nothing with r.
func (r *Reference) clone() Reference {
	out := *r
	out.Tools, out.Spans, out.Ranges = slices.Clone(r.Tools), slices.Clone(r.Spans), slices.Clone(r.Ranges)
	return out
}

// join takes in another reference to the same record.
func (r *Reference) join(o *Reference) {
	if o.Type == record.ReferDirect && r.Type != record.ReferDirect || r.Wikilink == "" {
		r.Type, r.Wikilink, r.Heading, r.Block, r.Alias, r.Embed = o.Type, o.Wikilink, o.Heading, o.Block, o.Alias, o.Embed
	}
	if weight(o.Status) > weight(r.Status) {
		r.Status, r.Reason, r.Among = o.Status, o.Reason, o.Among
	} else if o.Status == r.Status && r.Reason == "" && len(o.Among) == 0 { // which says something of the other link alone
		r.Reason = o.Reason
	}
	if r.Summary == "" {
		r.Summary, r.Marks = o.Summary, o.Marks
	}
	if shows(o) > shows(r) || r.Snippet == "" {
		r.Snippet = o.Snippet
	}
	r.Path = cmp.Or(r.Path, o.Path)
	if r.EntityID == "" {
		r.EntityID, r.Ref = o.EntityID, cmp.Or(r.Ref, o.Ref)
	}
	r.Used = r.Used || o.Used
	for _, tool := range o.Tools {
		if !slices.Contains(r.Tools, tool) {
			r.Tools = append(r.Tools, tool)
		}
	}
	r.Spans = united(r.Spans, o.Spans)
	if o.Hash != "" {
		if r.Hash != "" && r.Hash != o.Hash { // the note was changed meanwhile: the places are those of the new text
			r.Ranges = nil
		}
		r.Hash, r.Ranges = o.Hash, united(r.Ranges, o.Ranges)
	}
}

// weight orders what is said of a reference: what is worse stands.
func weight(status string) int {
	return slices.Index([]string{record.ReferOK, record.ReferAmbiguous, record.ReferBroken, record.ReferDeleted}, status)
}

// shows orders references by how much of the note their snippet has: an excerpt, what was read of it, how it was found.
func shows(r *Reference) int {
	switch {
	case r.Snippet == "":
		return 0
	case len(r.Ranges) > 0:
		return 4
	case r.Snippet == record.ToolReadSnippet:
		return 3
	case len(r.Tools) > 0:
		return 2
	}
	return 1
}

// united returns the places of two lists, each once and in order.
func united(a, b [][2]int) [][2]int {
	if len(b) == 0 {
		return a
	}
	all := slices.Concat(a, b)
	slices.SortFunc(all, func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	return slices.Compact(all)
}

package tools

import (
	"bytes"
	"slices"

	"github.com/ctxd/ctxd/entities/record"
)

// sameReference reports whether two references tell the same.
func sameReference(r, o *Reference) bool {
	return r.NoteID == o.NoteID && r.Path == o.Path && r.Title == o.Title && r.Heading == o.Heading && r.Snippet == o.Snippet &&
		slices.Equal(r.Ranges, o.Ranges) && r.Hash == o.Hash && r.MemoryID == o.MemoryID && r.Ref == o.Ref &&
		r.How == o.How && r.Used == o.Used
}

// sameProposal reports whether two proposals, which may be nil, are the same.
func sameProposal(p, o *Proposal) bool {
	if p == nil || o == nil {
		return p == o
	}
	edits := p.Edit == nil && o.Edit == nil || p.Edit != nil && o.Edit != nil && *p.Edit == *o.Edit
	return p.Type == o.Type && bytes.Equal(p.Args, o.Args) && p.Reason == o.Reason && p.Version == o.Version && edits
}

// merge takes into r what another call made of the same record.
func merge(r, o *Reference) {
	if slices.Index(record.ToolHows, o.How) > slices.Index(record.ToolHows, r.How) {
		r.How, r.Snippet, r.Heading = o.How, o.Snippet, o.Heading
	}
	if o.Hash != "" {
		if r.Hash != o.Hash { // the note was changed meanwhile: the places are those of the new text
			r.Hash, r.Ranges = o.Hash, nil
		}
		for _, place := range o.Ranges {
			if !slices.Contains(r.Ranges, place) {
				r.Ranges = append(r.Ranges, place)
			}
		}
	}
	r.Used = r.Used || o.Used
	r.Title, r.Path = o.Title, o.Path
	for _, tool := range o.Tools {
		if !slices.Contains(r.Tools, tool) {
			r.Tools = append(r.Tools, tool)
		}
	}
}

// clone returns a reference that shares nothing with r.
func clone(r *Reference) Reference {
	out := *r
	out.Ranges, out.Tools = slices.Clone(r.Ranges), slices.Clone(r.Tools)
	return out
}

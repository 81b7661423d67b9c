package lsp

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes/markdown"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// resolvedTarget is what a target leads to: nothing, one record or file, or several notes that it
// may mean.
type resolvedTarget struct {
	Note, Entity, Memory string // an id; at most one is set
	Self                 bool   // the document itself, which may be no note yet
	File                 string // address of a file that is no note
	Heading, Block       string
	Candidates           []fault.Candidate
	End                  int // of the target, where its name was found to go on
}

// Nothing reports whether the target leads nowhere.
func (f resolvedTarget) Nothing() bool {
	return f.Note == "" && f.Entity == "" && f.Memory == "" && f.File == "" && !f.Self && len(f.Candidates) == 0
}

// resolveTarget finds out where a target leads.
func resolveTarget(ctx context.Context, s *Session, d *Document, t textTarget) (resolvedTarget, error) {
	switch t.Kind {
	case targetLink:
		return resolveDocumentLink(ctx, s, d.URI, t.Link)
	case targetMention:
		return resolveMention(ctx, s, t)
	case targetNumber:
		var m record.Memory
		err := s.Daemon(ctx, "memory.get", protocol.MemoryRef{Ref: "#" + t.Name}, &m)
		return resolvedTarget{Memory: m.ID}, ignoreAbsent(err)
	case targetValue:
		return resolveFieldValue(ctx, s, d, t)
	}
	return resolvedTarget{}, nil
}

// resolveFieldValue resolves a value of a field that leads to an entity or a note.
func resolveFieldValue(ctx context.Context, s *Session, d *Document, t textTarget) (resolvedTarget, error) {
	at, _, err := s.Place(ctx, d.URI)
	if err != nil {
		return resolvedTarget{}, err
	}
	name := ""
	for _, k := range d.FrontKeys() {
		if strings.EqualFold(k.Key, "type") {
			name = k.Value
		}
	}
	var typ record.Type
	if name == "" {
		return resolvedTarget{}, nil
	}
	if err := s.Daemon(ctx, "types.get", protocol.TypeGet{Ref: name, Vault: at.Vault}, &typ); err != nil {
		if fault.KindOf(err) != fault.NotFound {
			return resolvedTarget{}, err
		}
		if err := s.Daemon(ctx, "types.get", protocol.TypeGet{Ref: name}, &typ); err != nil {
			return resolvedTarget{}, ignoreAbsent(err)
		}
	}
	field, ok := typ.Field(t.Key)
	switch {
	case !ok:
	case field.Type.Info().To == record.ToNote:
		var to protocol.NoteResolved
		err := s.Daemon(ctx, "notes.resolve", protocol.NoteResolve{Link: t.Name}, &to)
		return resolvedTarget{Note: to.ID, Candidates: to.Candidates}, ignoreAbsent(err)
	case field.Type.Info().To == record.ToEntity:
		var e protocol.EntityFull
		err := s.Daemon(ctx, "entities.get", protocol.EntityGet{Ref: t.Name, Type: field.TargetType}, &e)
		if err != nil && fault.KindOf(err) == fault.Conflict {
			return resolvedTarget{}, nil // several entities have the name
		}
		return resolvedTarget{Entity: e.ID}, ignoreAbsent(err)
	}
	return resolvedTarget{}, nil
}

// resolveDocumentLink finds out where a link of the document at an address leads.
func resolveDocumentLink(ctx context.Context, s *Session, uri string, l markdown.Link) (resolvedTarget, error) {
	f := resolvedTarget{Heading: l.Heading, Block: l.Block}
	if l.Target == "" {
		f.Self = true
		return f, nil
	}
	if l.Markdown {
		return resolveByPath(ctx, s, uri, l, f)
	}
	from, err := s.NoteID(ctx, uri)
	if err != nil {
		return resolvedTarget{}, err
	}
	var to protocol.NoteResolved
	err = s.Daemon(ctx, "notes.resolve", protocol.NoteResolve{Link: l.Target, From: from}, &to)
	if ignoreAbsent(err) != nil {
		if fault.KindOf(err) != fault.Invalid {
			return resolvedTarget{}, err
		}
	}
	f.Note, f.Candidates = to.ID, to.Candidates
	if f.Note == "" && len(f.Candidates) == 0 {
		f.File, err = resolveAttachment(ctx, s, uri, from, l)
		return f, err
	}
	return f, nil
}

// resolveByPath resolves a Markdown link: from the folder of the document, then from that of the vault.
func resolveByPath(ctx context.Context, s *Session, uri string, l markdown.Link, f resolvedTarget) (resolvedTarget, error) {
	at, ok, err := s.Place(ctx, uri)
	if err != nil || !ok {
		return resolvedTarget{}, err
	}
	for _, p := range []string{path.Join(path.Dir(at.Path), l.Target), path.Clean(l.Target)} {
		p = strings.TrimPrefix(p, "/")
		for _, name := range []string{p, p + ".md"} {
			var n protocol.NoteFull
			err := s.Daemon(ctx, "notes.get", protocol.NoteGet{Ref: name, Vault: at.Vault}, &n)
			if err == nil {
				f.Note = n.ID
				return f, nil
			}
			if k := fault.KindOf(err); k != fault.NotFound && k != fault.Invalid {
				return resolvedTarget{}, err
			}
		}
		file := filepath.Join(at.Root, filepath.FromSlash(p))
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && !strings.HasPrefix(p, "..") {
			f.File = FileURI(file)
			return f, nil
		}
	}
	return resolvedTarget{}, nil
}

// resolveAttachment returns the file that a wikilink leads to which is no note: as the daemon has
// it of the saved text.
func resolveAttachment(ctx context.Context, s *Session, uri, from string, l markdown.Link) (string, error) {
	if from == "" {
		return "", nil
	}
	var links protocol.NoteLinks
	if err := s.Daemon(ctx, "notes.links", protocol.NoteRef{Ref: from}, &links); err != nil {
		return "", ignoreAbsent(err)
	}
	for _, known := range links.Outgoing {
		if known.Kind != "" && known.Target == l.Target && known.Path != "" {
			at, ok, err := s.Place(ctx, uri)
			if !ok || err != nil {
				return "", err
			}
			return FileURI(filepath.Join(at.Root, filepath.FromSlash(known.Path))), nil
		}
	}
	return "", nil
}

// resolveMention resolves a mention: the longest of the names that it may be counts.
func resolveMention(ctx context.Context, s *Session, t textTarget) (resolvedTarget, error) {
	names := t.Names()
	if len(names) == 0 {
		return resolvedTarget{}, nil
	}
	refs := make([]string, len(names))
	for i, n := range names {
		refs[i] = "@" + n
		if strings.ContainsRune(n, ' ') {
			refs[i] = "@[" + n + "]"
		}
	}
	var got protocol.RefsResolved
	if err := s.Daemon(ctx, "refs.resolve", protocol.RefsResolve{Refs: refs, Limit: 1}, &got); err != nil {
		return resolvedTarget{}, ignoreAbsent(err)
	}
	for i, r := range got.Results {
		if r.Resolved == nil {
			continue
		}
		f := resolvedTarget{End: t.End}
		if t.Open {
			f.End = t.Start + 1 + len(names[i])
		}
		switch r.Type {
		case record.ResolvedEntity:
			f.Entity = r.SourceID
		case record.ResolvedMemory:
			f.Memory = r.SourceID
		case record.ResolvedNote:
			f.Note = r.SourceID
		default:
			continue
		}
		return f, nil
	}
	return resolvedTarget{}, nil
}

// noteToOpen returns the note to open for what was found: of an entity the one that describes
// it, of a memory the one that it comes from. It is "" without any.
func noteToOpen(ctx context.Context, s *Session, f resolvedTarget) (string, error) {
	switch {
	case f.Entity != "":
		var e protocol.EntityFull
		err := s.Daemon(ctx, "entities.get", protocol.EntityGet{Ref: f.Entity}, &e)
		return e.NoteID, ignoreAbsent(err)
	case f.Memory != "":
		var m record.Memory
		if err := s.Daemon(ctx, "memory.get", protocol.MemoryRef{Ref: f.Memory}, &m); err != nil {
			return "", ignoreAbsent(err)
		}
		if m.Source.NoteID == "" && len(m.NoteIDs) > 0 {
			return m.NoteIDs[0], nil
		}
		return m.Source.NoteID, nil
	}
	return f.Note, nil
}

// documentPlace is where a record is in a document.
type documentPlace struct {
	Doc        *Document // of the editor where it is open
	Start, End int       // of the whole
	Name       int       // where the part ends that names it
}

// Location is the place as the editor is told it.
func (p documentPlace) Location(s *Session) Location {
	return Location{URI: p.Doc.URI, Range: p.Doc.Range(p.Start, p.Name, s.Encoding())}
}

// locateNotePart returns where a note is, or a part of it. It reports false for a note that is of
// no file. A part that is not there gives the beginning of the note.
func locateNotePart(ctx context.Context, s *Session, note, heading, block string) (documentPlace, bool, error) {
	var n protocol.NoteFull
	if err := s.Daemon(ctx, "notes.get", protocol.NoteGet{Ref: note}, &n); err != nil {
		return documentPlace{}, false, ignoreAbsent(err)
	}
	d := noteSource(ctx, s, &n)
	return placeWithin(d, heading, block), d.URI != "", nil
}

// placeWithin returns where a part of a document is, or its beginning.
func placeWithin(d *Document, heading, block string) documentPlace {
	p := documentPlace{Doc: d}
	if start, end, ok := notePart(d, heading, block); ok {
		p.Start, p.End = start, end
		_, p.Name = d.LineSpan(d.LineAt(start))
	}
	return p
}

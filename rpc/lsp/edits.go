package lsp

// This file makes the WorkspaceEdit that an editor applies, of changes of texts, new files and moves. Features that
// change something use it: the program itself writes into no file.
//
// An [editBuilder] collects changes in the order in which they are to be applied. It writes them as the editor reads
// them, with versions of open documents, or as a plain map of edits for an editor that knows nothing else; an editor
// that cannot create or rename files is told so by a fault. A text that is not what an edit was made for is a fault as
// well: nothing of the WorkspaceEdit is sent then. An editBuilder belongs to one goroutine.

import (
	"context"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// editBuilder makes a WorkspaceEdit. New makes one.
type editBuilder struct {
	session *Session
	read    func(uri string) *Document
	steps   []any
	files   bool // files are made or moved
}

// newEditBuilder makes a builder for the editor of a request.
func newEditBuilder(c *Call) *editBuilder { return &editBuilder{session: c.Session, read: c.Read} }

// byteOrderMark is the byte order mark, which editors take out of a text.
const byteOrderMark = "\uFEFF"

// Read returns a document as the editor has it or would open it; nil for one that is nowhere.
func (b *editBuilder) Read(uri string) *Document {
	d := b.read(uri)
	if d != nil && !d.Open && strings.HasPrefix(d.Text, byteOrderMark) {
		return NewDocument(d.URI, d.Language, strings.TrimPrefix(d.Text, byteOrderMark))
	}
	return d
}

// Text adds edits of one document, given in its bytes and in its order.
func (b *editBuilder) Text(d *Document, list []TextEdit) {
	id := OptionalVersionedTextDocumentIdentifier{URI: d.URI}
	if d.Open {
		id.Version = &d.Version
	}
	b.steps = append(b.steps, TextDocumentEdit{TextDocument: id, Edits: list})
}

// Planned adds the edits of one file of a plan, whose address is given.
func (b *editBuilder) Planned(uri string, f protocol.FileEdits) error {
	d := b.Read(uri)
	if d == nil {
		return changedError(f.Path)
	}
	list := make([]TextEdit, len(f.Edits))
	at := units{text: d.Text}
	for i, e := range f.Edits {
		start := at.byteOf(e.Range[0])
		end := at.byteOf(e.Range[1])
		if end < 0 || start < 0 || d.Text[start:end] != e.Old {
			return changedError(f.Path)
		}
		list[i] = TextEdit{Range: d.Range(start, end, b.session.Encoding()), NewText: e.New}
	}
	b.Text(d, list)
	return nil
}

func changedError(path string) error {
	return fault.Clash(fault.Changed, "%s has changed meanwhile", path).WithHint("try again in a moment")
}

// units goes through a text in UTF-16 code units.
type units struct {
	text     string
	at, unit int
}

// byteOf returns the byte of a code unit that is not before the last one that was asked for; -1 for none.
func (u *units) byteOf(unit int) int {
	for i, r := range u.text[u.at:] {
		if u.unit >= unit {
			u.at += i
			if u.unit > unit {
				return -1
			}
			return u.at
		}
		u.unit++
		if r > 0xFFFF {
			u.unit++
		}
	}
	u.at = len(u.text)
	if u.unit != unit {
		return -1
	}
	return u.at
}

// Create adds a new file with a text.
func (b *editBuilder) Create(uri, content string) {
	b.files = true
	b.steps = append(b.steps, CreateFile{Kind: ResourceCreate, URI: uri}, TextDocumentEdit{
		TextDocument: OptionalVersionedTextDocumentIdentifier{URI: uri}, Edits: []TextEdit{{NewText: content}},
	})
}

// Move adds a file that gets another address.
func (b *editBuilder) Move(from, to string) {
	b.files = true
	b.steps = append(b.steps, RenameFile{Kind: ResourceRename, OldURI: from, NewURI: to})
}

// CanCreate reports whether the editor can make files of a WorkspaceEdit.
func (b *editBuilder) CanCreate() bool { return b.can(ResourceCreate) }

// CanMove reports whether the editor can move files of a WorkspaceEdit.
func (b *editBuilder) CanMove() bool { return b.can(ResourceRename) }

func (b *editBuilder) can(what string) bool {
	return slices.Contains(b.session.Client().Workspace.WorkspaceEdit.ResourceOperations, what)
}

// Edit returns what the editor applies, nil for nothing.
func (b *editBuilder) Edit() *WorkspaceEdit {
	if len(b.steps) == 0 {
		return nil
	}
	if b.files || b.session.Client().Workspace.WorkspaceEdit.DocumentChanges {
		return &WorkspaceEdit{DocumentChanges: b.steps}
	}
	changes := make(map[DocumentURI][]TextEdit)
	for _, step := range b.steps {
		if e, ok := step.(TextDocumentEdit); ok {
			changes[e.TextDocument.URI] = append(changes[e.TextDocument.URI], e.Edits...)
		}
	}
	return &WorkspaceEdit{Changes: changes}
}

// openBuffers returns the open notes of a vault, for methods of the daemon that take texts which are not saved: the given
// document as it is, and the others as they are now.
func openBuffers(ctx context.Context, c *Call, vault string, own *Document) (list []protocol.Buffer, err error) {
	for _, d := range c.Documents() {
		if own != nil && d.URI == own.URI {
			d = own
		}
		at, ok, err := c.Place(ctx, d.URI)
		if err != nil {
			return nil, err
		}
		if ok && at.Vault == vault && d.IsNote() {
			list = append(list, protocol.Buffer{Path: at.Path, Text: d.Text})
		}
	}
	return list, nil
}

// byteOfUnit returns the byte of a UTF-16 code unit of a text, its length for one that is not there.
func byteOfUnit(s string, unit int) int {
	u := units{text: s}
	if at := u.byteOf(unit); at >= 0 {
		return at
	}
	return len(s)
}

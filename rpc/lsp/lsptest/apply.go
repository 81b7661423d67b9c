package lsptest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/rpc/lsp"
)

// mark is the byte order mark, which an editor takes out of a text and puts back.
const mark = "\uFEFF"

// Apply applies an edit as an editor does: to the texts of open documents, else to files. It returns the open texts and
// the files of a folder afterwards, by path within it, without hidden ones.
func (e *Editor) Apply(root string, edit lsp.WorkspaceEdit) map[string]string {
	e.t.Helper()
	for uri, list := range edit.Changes {
		e.edit(uri, list)
	}
	for _, change := range edit.DocumentChanges {
		raw, err := json.Marshal(change)
		must(e.t, err)
		var c struct {
			lsp.TextDocumentEdit
			Kind, URI, OldURI, NewURI string
		}
		must(e.t, json.Unmarshal(raw, &c))
		switch c.Kind {
		case lsp.ResourceCreate:
			file := e.file(c.URI)
			if _, err := os.Stat(file); err == nil {
				e.t.Fatalf("%s is there already", file)
			}
			must(e.t, os.MkdirAll(filepath.Dir(file), 0o700))
			must(e.t, os.WriteFile(file, nil, 0o600))
		case lsp.ResourceRename:
			to := e.file(c.NewURI)
			must(e.t, os.MkdirAll(filepath.Dir(to), 0o700))
			must(e.t, os.Rename(e.file(c.OldURI), to))
			if d := e.docs[c.OldURI]; d != nil {
				e.docs[c.NewURI] = d
				delete(e.docs, c.OldURI)
			}
		default:
			if v := c.TextDocument.Version; v != nil && (e.docs[c.TextDocument.URI] == nil || *v != e.docs[c.TextDocument.URI].version) {
				e.t.Errorf("an edit of %s is of version %d", c.TextDocument.URI, *v)
			}
			e.edit(c.TextDocument.URI, c.Edits)
		}
	}
	return e.Files(root)
}

func (e *Editor) file(uri string) string {
	e.t.Helper()
	file, ok := lsp.URIPath(uri)
	if !ok {
		e.t.Fatalf("%s is no file", uri)
	}
	return file
}

// edit applies edits to a document, the last first. They may not overlap.
func (e *Editor) edit(uri string, list []lsp.TextEdit) {
	e.t.Helper()
	var content string
	var bom bool
	open := e.docs[uri]
	if open != nil {
		content = open.text
	} else {
		data, err := os.ReadFile(e.file(uri))
		must(e.t, err)
		content, bom = strings.CutPrefix(string(data), mark)
	}
	d := lsp.NewDocument(uri, "", content)
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b lsp.TextEdit) int {
		x, _ := d.Span(a.Range, e.encoding)
		y, _ := d.Span(b.Range, e.encoding)
		return y - x
	})
	last := len(content)
	for _, one := range list {
		start, end := d.Span(one.Range, e.encoding)
		if end > last {
			e.t.Fatalf("edits of %s overlap", uri)
		}
		content, last = content[:start]+one.NewText+content[end:], start
	}
	if open != nil {
		open.text = content
		return
	}
	if bom {
		content = mark + content
	}
	must(e.t, os.WriteFile(e.file(uri), []byte(content), 0o600))
}

// Files returns the texts of a folder, those of open documents as the editor has them, without hidden ones.
func (e *Editor) Files(root string) map[string]string {
	e.t.Helper()
	files := make(map[string]string)
	must(e.t, filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if err != nil || p == root {
			return err
		}
		if strings.HasPrefix(d.Name(), ".") {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			return nil
		}
		data, err := os.ReadFile(p)
		rel, _ := filepath.Rel(root, p)
		files[filepath.ToSlash(rel)] = string(data)
		if open := e.docs[lsp.FileURI(p)]; open != nil {
			files[filepath.ToSlash(rel)] = open.text
		}
		return err
	}))
	return files
}

package lsp

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/notes/markdown"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// paths completes the path of a Markdown link: files and folders beside the document, and notes of the vault by name.
func (a *asked) paths(l link) error {
	typed := markdown.UnescapePath(l.typed())
	file, ok := URIPath(a.doc.URI)
	if !ok || strings.Contains(typed, "://") {
		return nil
	}
	at, inVault, err := a.Place(a.ctx, a.doc.URI)
	if err != nil {
		return err
	}
	root := ""
	if inVault {
		root, file = at.Root, filepath.Join(at.Root, filepath.FromSlash(at.Path))
	}
	written := make(map[string]bool)
	add := func(to, label, detail string, kind int, of completionRecord) {
		if written[to] || len(a.list.Items) == a.limit {
			return
		}
		written[to] = true
		insert := escapedPath(to, l.close != ")")
		if kind != CompletionKindFolder {
			insert = l.written(insert)
		}
		a.add(item{label: label, insert: insert, detail: detail, kind: kind, from: l.inner, end: l.end, typed: l.typed(), of: of})
	}
	a.entries(typed, filepath.Dir(file), root, add)
	if !inVault || strings.Contains(typed, "/") {
		return nil
	}
	var found protocol.NoteItems
	if err := a.Daemon(a.ctx, "notes.complete", protocol.NoteComplete{Prefix: typed, Limit: a.limit}, &found); err != nil {
		return err
	}
	for _, n := range found.Items {
		if n.Path == "" || n.Vault != "" && n.Vault != at.Vault || n.Path == at.Path {
			continue
		}
		to, err := filepath.Rel(filepath.FromSlash(path.Dir("/"+at.Path)), filepath.FromSlash("/"+n.Path))
		if err == nil {
			add(filepath.ToSlash(to), n.Title, n.Path, CompletionKindFile, completionRecord{"note", n.ID})
		}
	}
	return nil
}

// entries adds the files and folders that a path may go on to. A path from / begins at the root of the vault; none leads out
// of a vault. Hidden ones are left out.
func (a *asked) entries(typed, dir, root string, add func(to, label, detail string, kind int, of completionRecord)) {
	folder, name := path.Split(typed)
	from := filepath.Join(dir, filepath.FromSlash(folder))
	if strings.HasPrefix(folder, "/") {
		from = filepath.Join(root, filepath.FromSlash(folder))
	}
	if _, inside := within(root, from); root != "" && !inside || root == "" && strings.HasPrefix(folder, "/") {
		return
	}
	list, err := os.ReadDir(from)
	if err != nil {
		return // nothing can follow
	}
	slices.SortStableFunc(list, func(x, y os.DirEntry) int {
		return strings.Compare(strings.ToLower(x.Name()), strings.ToLower(y.Name()))
	})
	for _, e := range list {
		if strings.HasPrefix(e.Name(), ".") || !strings.HasPrefix(strings.ToLower(e.Name()), strings.ToLower(name)) {
			continue
		}
		if e.IsDir() {
			add(folder+e.Name()+"/", e.Name()+"/", "", CompletionKindFolder, completionRecord{})
		} else {
			add(folder+e.Name(), e.Name(), "", CompletionKindFile, completionRecord{})
		}
	}
}

// escapedPath writes a path as the destination of a Markdown link, between < and > where inAngles says so.
func escapedPath(p string, inAngles bool) string {
	special := "%#\\<>"
	if !inAngles {
		special += " ()"
	}
	var b strings.Builder
	for i := range len(p) {
		if c := p[i]; c < ' ' || c == 0x7f || strings.IndexByte(special, c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// days completes a link to the note of a day that is typed as people say it.
func (a *asked) days(l link) error {
	named := daysNamed(l.typed(), time.Now())
	file, ok := URIPath(a.doc.URI)
	if len(named) == 0 {
		return nil
	}
	at, inVault, err := a.Place(a.ctx, a.doc.URI)
	if err != nil {
		return err
	}
	if !inVault && ok {
		at.Root = vaultAbove(filepath.Dir(file))
	}
	notes, err := a.dayNotes(a.ctx, at.Root, at.Vault)
	if err != nil {
		return err
	}
	for _, d := range named {
		p := notes.Path(d.day)
		target := written(protocol.NoteItem{Insert: notes.Link(d.day), Path: p, Title: notes.Link(d.day)}, a.Settings().Links)
		if notes.Logseq {
			target = notes.Link(d.day)
		}
		a.add(item{
			label: d.name, insert: l.written(target), detail: p, kind: CompletionKindReference,
			from: l.inner, end: l.end, typed: l.typed(),
		})
	}
	return nil
}

// vaultHeadings completes a heading of any note, behind [[##: those of the document first. Where nothing is typed yet they are
// those of the notes that were changed last.
func (a *asked) vaultHeadings(l link, typed string) error {
	query := strings.TrimSpace(typed)
	a.headingsOf(l, a.doc, "", query, "")
	own, err := a.NoteID(a.ctx, a.doc.URI)
	if err != nil {
		return err
	}
	var recent protocol.NoteItems
	var found protocol.SearchResult
	if query == "" {
		err = a.Daemon(a.ctx, "notes.complete", protocol.NoteComplete{Limit: a.limit}, &recent)
	} else {
		ask := protocol.NoteSearch{Query: query, Mode: "lexical", Limit: maxHeadingNotes}
		err = a.Daemon(a.ctx, "notes.search", ask, &found)
	}
	if refused(err) {
		return nil
	}
	for _, n := range recent.Items {
		found.Hits = append(found.Hits, protocol.SearchHit{ID: n.ID, Title: n.Title})
	}
	for _, hit := range found.Hits {
		if err != nil || len(a.list.Items) >= a.limit {
			return err
		}
		if hit.ID != own {
			err = a.headingsOfHit(l, hit, query)
		}
	}
	return err
}

// headingsOfHit adds the headings of a note that was found which a query may mean.
func (a *asked) headingsOfHit(l link, hit protocol.SearchHit, query string) error {
	d, err := a.text(hit.ID)
	if d == nil || err != nil || len(matching(headingTexts(d), query)) == 0 {
		return err
	}
	target, err := a.linkTo(hit)
	if target != "" {
		a.headingsOf(l, d, target, query, hit.Title)
	}
	return err
}

// maxHeadingNotes is how many notes are looked through for headings.
const maxHeadingNotes = 40

// headingsOf adds the headings of a document that a query may mean.
func (a *asked) headingsOf(l link, d *Document, target, query, detail string) {
	paths := headingPaths(d.Headings())
	for _, i := range matching(headingTexts(d), query) {
		if len(a.list.Items) == a.limit {
			return
		}
		a.add(item{
			label: d.Headings()[i].Text, insert: l.written(target + "#" + paths[i]), detail: detail, kind: CompletionKindReference,
			from: l.inner, end: l.end, typed: l.typed(),
		})
	}
}

func headingTexts(d *Document) []string {
	names := make([]string, len(d.Headings()))
	for i, h := range d.Headings() {
		names[i] = h.Text
	}
	return names
}

// linkTo returns what a link to a note that was found says, "" where no text leads to it alone.
func (a *asked) linkTo(hit protocol.SearchHit) (string, error) {
	var found protocol.NoteItems
	if err := a.Daemon(a.ctx, "notes.complete", protocol.NoteComplete{Prefix: hit.Title, Limit: a.limit}, &found); err != nil {
		return "", err
	}
	for _, n := range found.Items {
		if n.ID == hit.ID {
			return written(n, strings.Replace(a.Settings().Links, "alias", "title", 1)), nil // what is shown is the heading
		}
	}
	return "", nil
}

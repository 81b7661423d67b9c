package vault_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
)

// TestSRCH33_AttachmentsAreKnown by name: links to them are resolved, for as long as they
// are there.
func TestSRCH33_AttachmentsAreKnown(t *testing.T) {
	dir := importFolder(t, map[string]string{
		"A/n.md":        "![[pic.png|300]] [[talk.pdf#page=2]] [[gone.mp3]] [[pic]]",
		"Files/pic.png": "\x89PNG", "Files/talk.pdf": "%PDF", "Files/data.zip": "PK",
		"Files/left.png": "x", ".hidden.png": "x", ".ctxdignore": "left.png\n", ".ctxd/types/x.txt": "x",
	})
	data := t.TempDir()
	w := open(t, data)
	agrees := func(when string, unresolved int, attachments ...string) {
		t.Helper()
		s := w.status(t)
		if s.Links != 4 || s.Unresolved != unresolved || s.Attachments != len(attachments) {
			t.Errorf("%s: %d links, %d unresolved, %d attachments", when, s.Links, s.Unresolved, s.Attachments)
		}
		got := w.notes.Attachments(s.Vault)
		slices.Sort(got)
		if !slices.Equal(got, attachments) {
			t.Errorf("%s: the attachments are %q", when, got)
		}
		list := w.notes.Unresolved(s.Vault, nil)
		if len(list) != unresolved {
			t.Errorf("%s: the list of unresolved links is %+v", when, list)
		}
	}
	if res := w.imports(t, vault.ImportRequest{Path: dir}); res.Unresolved != 2 {
		t.Errorf("the import says %d links are unresolved", res.Unresolved)
	}
	agrees("imported", 2, "Files/data.zip", "Files/pic.png", "Files/talk.pdf")
	n, err := w.notes.ByPath("A/n.md", nil)
	must(t, err)
	resolved, _ := w.notes.Outgoing(n.ID)
	want := notes.Link{Target: "pic.png", Alias: "300", Embed: true, Line: 1, Kind: notes.LinkToAttachment, Path: "Files/pic.png"}
	if len(resolved) != 2 || !equalLinks(resolved[0], want) || resolved[1].Path != "Files/talk.pdf" {
		t.Errorf("links %+v", resolved)
	}
	must(t, w.db.Close())
	w = open(t, data)
	agrees("opened again", 2, "Files/data.zip", "Files/pic.png", "Files/talk.pdf")
	must(t, os.Remove(filepath.Join(dir, "Files", "pic.png")))
	write(t, dir, "gone.mp3", "x")
	w.imports(t, vault.ImportRequest{Path: dir})
	agrees("one gone, one come", 2, "Files/data.zip", "Files/talk.pdf", "gone.mp3")
	_, err = w.im.Forget(ctx, "", nil)
	must(t, err)
	if got := w.notes.Attachments("my vault"); len(got) != 0 {
		t.Errorf("forgotten, the vault has %q", got)
	}
}

// TestSRCH33_MarkdownLinksToAttachments are resolved as wikilinks are; what is no path is
// no link.
func TestSRCH33_MarkdownLinksToAttachments(t *testing.T) {
	dir := importFolder(t, map[string]string{
		"A/n.md": "![a](pic.png) ![b](../Files/my%20talk.pdf#page=2 \"t\") [c][d] [e](scripts/run)\n" +
			"![](gone.png) ![](https://example.org/x.png) [f](mailto:a@example.org) [g](#) `![](x.png)`\n" +
			"![](data:image/png;base64,AAAA) ![](/home/me/x.png) [i](example.org/x) [j](url)\n\n[d]: <../Files/my talk.pdf>\n",
		"Files/pic.png": "\x89PNG", "Files/my talk.pdf": "%PDF", "A/scripts/run": "#!/bin/sh",
	})
	w := open(t, t.TempDir())
	agrees := func(when string, links int, resolved []string, unresolved ...string) {
		t.Helper()
		s := w.status(t)
		if s.Links != links || s.MarkdownLinks != links || s.Unresolved != len(unresolved) {
			t.Errorf("%s: %d links, %d of Markdown, %d unresolved", when, s.Links, s.MarkdownLinks, s.Unresolved)
		}
		var got []string
		for _, u := range w.notes.Unresolved(s.Vault, nil) {
			got = append(got, u.Target)
		}
		if !slices.Equal(got, unresolved) {
			t.Errorf("%s: unresolved %q, want %q", when, got, unresolved)
		}
		n, err := w.notes.ByPath("A/n.md", nil)
		must(t, err)
		list, _ := w.notes.Outgoing(n.ID)
		got = nil
		for _, l := range list {
			got = append(got, l.Path)
			if l.Kind != notes.LinkToAttachment || !l.Markdown {
				t.Errorf("%s: %+v", when, l)
			}
		}
		if !slices.Equal(got, resolved) {
			t.Errorf("%s: links to %q, want %q", when, got, resolved)
		}
	}
	talk := "Files/my talk.pdf"
	if res := w.imports(t, vault.ImportRequest{Path: dir}); res.Links != 5 || res.Unresolved != 1 {
		t.Errorf("the import says %d links, %d unresolved", res.Links, res.Unresolved)
	}
	agrees("imported", 5, []string{"Files/pic.png", talk, "A/scripts/run", talk}, "gone.png")
	must(t, os.Rename(filepath.Join(dir, "Files", "pic.png"), filepath.Join(dir, "Files", "gone.png")))
	must(t, os.RemoveAll(filepath.Join(dir, "A", "scripts")))
	w.imports(t, vault.ImportRequest{Path: dir})
	agrees("renamed", 4, []string{talk, "Files/gone.png", talk}, "pic.png")
}

func equalLinks(a, b notes.Link) bool {
	return a.Target == b.Target && a.Alias == b.Alias && a.Embed == b.Embed && a.Line == b.Line &&
		a.Kind == b.Kind && a.Path == b.Path && a.ID == b.ID
}

// TestSRCH33_AttachmentsAreFollowed: they come and go without a note that changes.
func TestSRCH33_AttachmentsAreFollowed(t *testing.T) {
	skipWithoutEvents(t)
	dir := importFolder(t, map[string]string{"n.md": "![[pic.png]]"})
	w := follows(t, dir, kv.InMemory, never, vault.Seam{})
	write(t, dir, "sub/pic.png", "x")
	until(t, "the link is resolved", func() bool { return w.status(t).Unresolved == 0 })
	must(t, os.RemoveAll(filepath.Join(dir, "sub")))
	until(t, "the link is unresolved", func() bool { return w.status(t).Unresolved == 1 })
}

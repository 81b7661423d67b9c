package rpc_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/fixtures/provider"
)

// privateFolder is a private folder of the vaults of test daemons.
const privateFolder = "/Écrin/"

// filesWith are a file of a vault in each way in which one is private, and in which it is not.
type fileForm struct {
	name    string
	folder  string // of the vault
	head    string
	link    bool // the path is a link from outside of the vault
	private bool
}

var fileForms = []fileForm{
	{"plain", "Open", "", false, false},
	{"says that it is public", "Open", "---\nprivate: false\n---\n", false, false},
	{"in a private folder", "Écrin", "", false, true},
	{"below a private folder, spelled otherwise", "E\u0301crin/deep", "", false, true},
	{"a link to a private folder", "Écrin", "", true, true},
	{"says that it is private", "Open", "---\ntitle: x\nprivate: true\n---\n", false, true},
	{"says so otherwise", "Open", "---\nPrivate: Yes\n---\n", false, true},
	{"may say so", "Open", "---\nprivate: maybe\n---\n", false, true},
}

// write writes a file of that form, in a vault, and returns its path.
func (f *fileForm) write(t *testing.T, vault, name, text string) string {
	t.Helper()
	path := filepath.Join(vault, filepath.FromSlash(f.folder), name)
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(text), 0o600))
	if !f.link {
		return path
	}
	at := filepath.Join(t.TempDir(), "link"+filepath.Ext(name))
	must(t, os.Symlink(path, at))
	return at
}

// TestPRIV14_AFileIsAsPrivateAsItsPlaceAndItsHead: what is made from a file that lies in a private folder of a vault, or says
// that it is private, is private: a book, a message with it, a conversation, a memory.
func TestPRIV14_AFileIsAsPrivateAsItsPlaceAndItsHead(t *testing.T) {
	const word = "Zqcanaryfile"
	const text = "swarms of " + word
	at := time.Date(2026, 2, 4, 9, 0, 0, 0, time.UTC)
	data := func(params string) string { // of chat.import
		var p struct{ Data string }
		must(t, json.Unmarshal([]byte(params), &p))
		return p.Data
	}
	claude := func(id, text string) string {
		return fmt.Sprintf(`{"uuid":%q,"name":"Talk","created_at":"2026-02-04T09:00:00Z","updated_at":"2026-02-04T09:00:00Z","chat_messages":[{"uuid":"%s-%d","text":%q,"sender":"human","created_at":"2026-02-04T09:00:00Z"}]}`, id, id, len(text), text)
	}
	png := "\x89PNG\r\n\x1a\n" + strings.Repeat("x", 100)
	roads := []struct {
		name, file string
		text       string
		placeOnly  bool // the file has no head
		headOnly   bool // its path is not told
		call       func(d *daemon, path, text string)
		seen       string // by which a remote reader finds what was made
	}{
		{"a book", "book.md", "# Bees\n\n" + text, false, false, func(d *daemon, path, _ string) {
			d.do("books.add", fmt.Sprintf(`{"path":%q}`, path))
		}, `books.search {"query":"swarms"}`},
		{"a book of bytes", "book.txt", text, false, true, func(d *daemon, _, text string) {
			d.do("books.add", fmt.Sprintf(`{"mimeType":"md","text":%q}`, text))
		}, `books.search {"query":"swarms"}`},
		{"a book that is there", "book.md", text, false, false, func(d *daemon, path, text string) {
			d.do("books.add", fmt.Sprintf(`{"mimeType":"md","text":%q}`, text))
			d.do("books.add", fmt.Sprintf(`{"path":%q}`, path))
		}, `books.search {"query":"swarms"}`},
		{"an image", "image.png", png, true, false, func(d *daemon, path, _ string) {
			d.do("chat.send", fmt.Sprintf(`{"text":"What are %s?","images":[{"path":%q}]}`, text, path))
		}, `chat.search {"query":"swarms"}`},
		{"an attached file", "file.md", "text", false, true, func(d *daemon, _, text string) {
			d.do("chat.send", fmt.Sprintf(`{"text":"What is %s?","files":[{"name":"file.md","text":%q}]}`, "swarms of "+word, text))
		}, `chat.search {"query":"swarms"}`},
		{"a conversation", "trip.json", data(citing("trip", "Of "+word, at, false, nil)), true, false, func(d *daemon, path, _ string) {
			d.do("chat.import", fmt.Sprintf(`{"path":%q}`, path))
		}, `chat.list {}`},
		{"a conversation that is there", "trip.json", data(citing("trip", "Of "+word, at, false, nil, nil)), true, false, func(d *daemon, path, _ string) {
			d.do("chat.import", citing("trip", "Of "+word, at, false, nil))
			d.do("chat.import", fmt.Sprintf(`{"path":%q}`, path))
		}, `chat.list {}`},
		{"a conversation that is there as it is", "trip.json", data(citing("trip", "Of "+word, at, false, nil)), true, false, func(d *daemon, path, _ string) {
			d.do("chat.import", citing("trip", "Of "+word, at, false, nil))
			d.do("chat.import", fmt.Sprintf(`{"path":%q}`, path))
		}, `chat.list {}`},
		{"an export", "conversations.json", "[" + claude("c1", text) + "]", true, false, func(d *daemon, path, _ string) {
			d.do("chat.import", fmt.Sprintf(`{"path":%q}`, path))
		}, `chat.search {"query":"swarms"}`},
		{"more of a public conversation", "conversations.json", "[" + claude("c1", text) + "]", true, false, func(d *daemon, path, _ string) {
			d.do("chat.import", fmt.Sprintf(`{"data":%q}`, "["+claude("c1", "open")+"]"))
			d.do("chat.import", fmt.Sprintf(`{"path":%q}`, path))
		}, `chat.search {"query":"swarms"}`},
		{"memories, a line each", "lines.txt", "I like " + word + "\n", false, false, func(d *daemon, path, _ string) {
			d.do("memory.import", fmt.Sprintf(`{"path":%q,"format":"lines"}`, path))
		}, `memory.list {}`},
		{"memories of basic-memory", "basic.md", "- [fact] I like " + word + "\n", false, false, func(d *daemon, path, _ string) {
			d.do("memory.import", fmt.Sprintf(`{"path":%q,"format":"basic-memory"}`, path))
		}, `memory.list {}`},
		{"memories of mem0", "mem0.json", `{"results":[{"id":"1","memory":"I like ` + word + `"}]}`, true, false, func(d *daemon, path, _ string) {
			d.do("memory.import", fmt.Sprintf(`{"path":%q}`, path))
		}, `memory.list {}`},
	}
	for _, road := range roads {
		for _, form := range fileForms {
			if road.placeOnly && form.head != "" || road.headOnly && form.head == "" && form.private {
				continue
			}
			t.Run(road.name+" "+form.name, func(t *testing.T) {
				vault := filepath.Join(t.TempDir(), "Vault")
				must(t, os.MkdirAll(vault, 0o700))
				d := answered(t, func(_ *provider.Request, to *provider.Reply) { to.Text("An answer.") })
				d.do("vault.import", fmt.Sprintf(`{"path":%q}`, vault))
				text := form.head + road.text
				road.call(d, form.write(t, vault, road.file, text), text)
				method, params, _ := strings.Cut(road.seen, " ")
				if local, _ := json.Marshal(d.do(method, params)); !strings.Contains(string(local), word) {
					t.Fatalf("a local reader does not find it: %s", local)
				}
				got := d.remote().raw(method, params)
				if found := strings.Contains(got, word); found == form.private {
					t.Errorf("a remote reader finds it: %v\n%s", found, got)
				}
			})
		}
	}
}

// TestPRIV14_NoPrivateFileGoesToARemoteProvider: neither a picture of a private folder nor a text that says it is private.
func TestPRIV14_NoPrivateFileGoesToARemoteProvider(t *testing.T) {
	for _, form := range fileForms {
		t.Run(form.name, func(t *testing.T) {
			vault := filepath.Join(t.TempDir(), "Vault")
			must(t, os.MkdirAll(vault, 0o700))
			asked := 0
			d := answered(t, func(_ *provider.Request, to *provider.Reply) { asked++; to.Text("An answer.") })
			d.do("vault.import", fmt.Sprintf(`{"path":%q}`, vault))
			params := fmt.Sprintf(`{"provider":"far","text":"What is it?","files":[{"name":"x.md","text":%q}]}`, form.head+"text")
			if form.head == "" {
				params = fmt.Sprintf(`{"provider":"far","text":"What is it?","images":[{"path":%q}]}`, form.write(t, vault, "a.png", "\x89PNG\r\n\x1a\nxxxx"))
			}
			_, err := d.try("chat.send", params)
			if refused := err != nil && asked == 0; refused != form.private {
				t.Errorf("asked %d times, %v", asked, err)
			}

			// A text whose path the client tells is as private as its place.
			before := asked
			params = fmt.Sprintf(`{"provider":"far","text":"What is it?","files":[{"name":"b.md","text":%q,"path":%q}]}`,
				form.head+"text", form.write(t, vault, "b.md", form.head+"text"))
			_, err = d.try("chat.send", params)
			if refused := err != nil && asked == before; refused != form.private {
				t.Errorf("with its path asked %d times, %v", asked-before, err)
			}
			if got := d.remote().answer("chat.send", params); !strings.Contains(got, "the connection is remote") {
				t.Errorf("a remote connection: %s", got)
			}
		})
	}
}

// TestPRIV13_ABookFollowsTheNoteOfItsFile: a book of a file of a vault is private as soon as the note of that file is, with the
// answers that stood on it, and stays so.
func TestPRIV13_ABookFollowsTheNoteOfItsFile(t *testing.T) {
	vault := t.TempDir()
	file := filepath.Join(vault, "bees.md")
	must(t, os.WriteFile(file, []byte("# Bees\n\nThe swarms of zqhives.\n"), 0o600))
	d := answered(t, func(_ *provider.Request, to *provider.Reply) { to.Text("Zqanswer.") })
	d.do("vault.import", fmt.Sprintf(`{"path":%q}`, vault))
	d.do("books.add", fmt.Sprintf(`{"path":%q}`, file))
	remote := d.remote()
	if got := remote.answer("books.search", `{"query":"swarms"}`); !strings.Contains(got, "zqhives") {
		t.Errorf("at first: %.500s", got)
	}
	must(t, os.WriteFile(file, []byte("---\nprivate: true\n---\n# Bees\n\nThe swarms of zqhives.\n"), 0o600))
	d.do("vault.import", fmt.Sprintf(`{"path":%q}`, vault))
	for _, ask := range []string{`books.search {"query":"swarms"}`, `books.list {}`, `context.assemble {"text":"What of the swarms?"}`} {
		method, params, _ := strings.Cut(ask, " ")
		if got := remote.answer(method, params); strings.Contains(strings.ToLower(got), "zqhives") || strings.Contains(got, "Bees") {
			t.Errorf("%s: %.500s", ask, got)
		}
	}
	if got := d.do("books.list", `{}`); at(got, "books.0.private") != true {
		t.Errorf("a local reader is told %v", got)
	}
}

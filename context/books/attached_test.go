package books_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/books"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
)

// shelf is a store that follows a vault whose attachments are books.
type shelf struct {
	*books.Store
	t             testing.TB
	db            *kv.Store
	vaults        *vault.Importer
	follower      *books.Follower
	local, remote *audience.View
	root          string
	commits       chan struct{}
	failed        chan error
}

// shelfOptions are what a test says of a shelf.
type shelfOptions struct {
	data    string   // "": in memory
	private []string // folders
	which   string
	bytes   int64
	now     func() time.Time
}

// openShelf follows the vault in a folder.
func openShelf(t testing.TB, root string, o shelfOptions) *shelf {
	t.Helper()
	s := &shelf{t: t, root: root, commits: make(chan struct{}, 1), failed: make(chan error, 1)}
	var err error
	s.db, err = kv.Open(cmp.Or(o.data, kv.InMemory), kv.Options{Format: 1, Beside: []string{books.Folder + "/"}})
	must(t, err)
	t.Cleanup(func() { _ = s.db.Close() })
	ents, err := entities.Open(s.db, entities.Options{})
	must(t, err)
	ns, err := notes.Open(s.db, ents, notes.Options{PrivateFolders: o.private})
	must(t, err)
	rooms := audience.Open(s.db, audience.Stores{Entities: ents, Notes: ns})
	s.local, s.remote = rooms.View(audience.Local), rooms.View(audience.Remote)
	dir := ""
	if o.data != "" {
		dir = filepath.Join(o.data, books.Folder)
	}
	s.Store, err = books.Open(s.db, books.Options{Dir: dir, MaxBytes: maxBytes, Child: []string{os.Args[0], books.ChildCommand}})
	must(t, err)
	t.Cleanup(func() { _ = s.Store.Close() })
	s.vaults = vault.NewImporter(s.db, ents, ns, vault.ImporterOptions{Library: s.Store})
	s.follower = s.Follow(books.FollowerOptions{
		Files: s.vaults, Which: o.which, Bytes: o.bytes, Now: o.now,
		IsPrivate: func(vault, path string) bool { return !ns.PublicPlace(vault, path) },
	})
	must(t, s.follower.Hide(t.Context()))
	s.db.OnCommit(func(*kv.ChangeSet) { s.tell() })
	enter := func(ctx context.Context, work func(context.Context) error) error { return work(ctx) }
	s.follower.Start(books.Host{
		Enter: enter, Progress: func(string, string, int, int) {}, Changed: s.tell,
		Failed: func(err error) {
			select {
			case s.failed <- err:
			default:
			}
		},
	})
	must(t, s.vaults.Start(t.Context(), vault.Host{Enter: enter, Attached: s.follower.Wake}))
	_, err = s.vaults.Import(t.Context(), vault.ImportRequest{Path: root, Name: "v", Watch: true})
	must(t, err)
	return s
}

func (s *shelf) tell() {
	select {
	case s.commits <- struct{}{}:
	default:
	}
}

// until waits until something holds, which is looked at after each commit.
func (s *shelf) until(what string, holds func() bool) {
	s.t.Helper()
	late := time.NewTimer(time.Minute)
	defer late.Stop()
	for !holds() {
		select {
		case <-s.commits:
		case err := <-s.failed:
			s.t.Fatalf("waiting for %s: %v", what, err)
		case <-late.C:
			s.t.Fatalf("no %s; books: %s", what, s.shown(s.local))
		}
	}
}

// shown is what a reader sees of the books, by path.
func (s *shelf) shown(v *audience.View) string {
	var list []string
	for _, b := range s.List(v, books.Filter{}) {
		text := b.Path + " " + b.State
		if b.Private {
			text += " private"
		}
		list = append(list, text)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// untilShown waits until a local reader sees exactly these books.
func (s *shelf) untilShown(want ...string) {
	s.t.Helper()
	slices.Sort(want)
	s.until(strings.Join(want, ", "), func() bool { return s.shown(s.local) == strings.Join(want, ", ") })
}

// at returns the book of an attachment.
func (s *shelf) at(p string) *record.Book {
	s.t.Helper()
	for _, b := range s.List(s.local, books.Filter{}) {
		if b.Path == p {
			return b
		}
	}
	s.t.Fatalf("no book of %s", p)
	return nil
}

// said is the text of the book of an attachment.
func (s *shelf) said(p string) string {
	s.t.Helper()
	list, _, err := s.Read(s.t.Context(), s.local, s.at(p).ID, "", "", 0, 100)
	must(s.t, err)
	var out []string
	for _, p := range list {
		out = append(out, p.Text)
	}
	return strings.Join(out, "|")
}

// old is when files of tests were written.
var old = time.Date(2026, 1, 31, 9, 30, 0, 0, time.UTC)

// write writes a file of a vault, as if some seconds before now.
func write(t testing.TB, root, name, text string, at time.Time) {
	t.Helper()
	file := filepath.Join(root, filepath.FromSlash(name))
	must(t, os.MkdirAll(filepath.Dir(file), 0o700))
	must(t, os.WriteFile(file+".new", []byte(text), 0o600))
	must(t, os.Chtimes(file+".new", at, at))
	must(t, os.Rename(file+".new", file))
}

// newVault writes a vault with one note and attachments.
func newVault(t testing.TB, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	write(t, root, "Note.md", "# Note\n", old)
	for name, text := range files {
		write(t, root, name, text, old)
	}
	return root
}

func (s *shelf) move(from, to string) {
	s.t.Helper()
	dir := filepath.Dir(filepath.Join(s.root, to))
	must(s.t, os.MkdirAll(dir, 0o700))
	must(s.t, os.Rename(filepath.Join(s.root, from), filepath.Join(s.root, to)))
}

func TestSRCH54_AttachmentsAreBooksThatFollowTheirFiles(t *testing.T) {
	root := newVault(t, map[string]string{"Files/boats.txt": "There are two boats.\n", "Files/again.txt": "There are two boats.\n", "pic.png": "no text", "empty.txt": ""})
	s := openShelf(t, root, shelfOptions{})
	s.untilShown("Files/again.txt ready", "Files/boats.txt ready") // one a path, whatever equals it
	b := s.at("Files/boats.txt")
	if b.Title != "boats.txt" || b.Vault != "v" || b.Private || b.ConversationID != "" || s.said(b.Path) != "There are two boats." {
		t.Errorf("%+v", b)
	}
	write(t, root, "Files/boats.txt", "There are three boats now.\n", old.Add(time.Hour))
	s.until("the change", func() bool { return s.said("Files/boats.txt") == "There are three boats now." })
	if s.at("Files/boats.txt").ID != b.ID || s.said("Files/again.txt") != "There are two boats." {
		t.Error("another book has changed")
	}
	s.move("Files/boats.txt", "Old/ships.txt")
	s.untilShown("Files/again.txt ready", "Old/ships.txt ready")
	if moved := s.at("Old/ships.txt"); moved.ID != b.ID || moved.Title != "ships.txt" || s.said(moved.Path) != "There are three boats now." {
		t.Errorf("%+v", moved)
	}
	write(t, root, "Files/boats.txt", "A third file at the first place.\n", old)
	s.untilShown("Files/again.txt ready", "Files/boats.txt ready", "Old/ships.txt ready")
	if s.at("Files/boats.txt").ID == b.ID {
		t.Error("two attachments have one book")
	}
	write(t, root, ".ctxdignore", "Old\n", old)
	s.untilShown("Files/again.txt ready", "Files/boats.txt ready")
	must(t, os.Remove(filepath.Join(root, "Files", "again.txt")))
	s.untilShown("Files/boats.txt ready")
	_, err := s.vaults.Forget(t.Context(), "v", nil)
	must(t, err)
	if got := s.shown(s.local); got != "" {
		t.Errorf("after vault.forget: %s", got)
	}
	must(t, s.db.View(t.Context(), func(tx *kv.Tx) error {
		for key := range books.Passages.All(tx, "") {
			t.Errorf("passage %s is left", key)
		}
		return tx.Err()
	}))
}

func TestSRCH54_AnAttachmentIsNoBookOfAPersonAndNoneIsIt(t *testing.T) {
	s := openShelf(t, newVault(t, map[string]string{"Files/boats.txt": "There are two boats.\n"}), shelfOptions{})
	s.untilShown("Files/boats.txt ready")
	b, duplicate, err := s.Put(t.Context(), s.local, books.Draft{Content: []byte("There are two boats.\n"), MimeType: "txt", Name: "x.txt"}, nil)
	must(t, err)
	kept := s.at("Files/boats.txt")
	if duplicate || b.ID == kept.ID || b.Vault != "" {
		t.Errorf("%+v, duplicate %v", b, duplicate)
	}
	var refused *fault.Error
	if err := s.Remove(t.Context(), s.local, kept.ID); !errors.As(err, &refused) || refused.Reason != fault.VaultBacked || refused.Hint == "" {
		t.Errorf("removed by hand: %v", err)
	}
	must(t, s.Remove(t.Context(), s.local, b.ID))
	s.untilShown("Files/boats.txt ready")
}

func TestSRCH54_AnAttachmentIsAsPrivateAsItsFolderAndItsHead(t *testing.T) {
	root, data := newVault(t, map[string]string{
		"Diary/day.txt": "Under the oak.\n", "Open/fee.txt": "Twelve euro.\n", "Open/own.html": "---\nprivate: true\n---\n<p>Mine.</p>",
	}), t.TempDir()
	s := openShelf(t, root, shelfOptions{data: data, private: []string{"Diary"}})
	s.untilShown("Diary/day.txt ready private", "Open/fee.txt ready", "Open/own.html ready private")
	if got := s.shown(s.remote); got != "Open/fee.txt ready" {
		t.Errorf("a remote reader sees %s", got)
	}
	s.move("Open/fee.txt", "Diary/fee.txt")
	s.untilShown("Diary/day.txt ready private", "Diary/fee.txt ready private", "Open/own.html ready private")
	s.move("Diary/fee.txt", "Open/fee.txt")
	s.untilShown("Diary/day.txt ready private", "Open/fee.txt ready", "Open/own.html ready private")
	id := s.at("Diary/day.txt").ID
	must(t, s.db.Close())

	s = openShelf(t, root, shelfOptions{data: data, private: []string{"Open"}})
	// Before anything is read again: Hide has decided.
	if got := s.shown(s.remote); got != "Diary/day.txt ready" || s.at("Diary/day.txt").ID != id {
		t.Errorf("a remote reader sees %s", got)
	}
	s.untilShown("Diary/day.txt ready", "Open/fee.txt ready private", "Open/own.html ready private")
}

func TestSRCH54_OverTheLimitNamesAreKnownAndOneNoticeSaysHowToGoOn(t *testing.T) {
	root, data := newVault(t, map[string]string{"a.txt": strings.Repeat("boats ", 100), "b.txt": strings.Repeat("fees ", 100)}), t.TempDir()
	s := openShelf(t, root, shelfOptions{data: data, bytes: 1000})
	s.until("notice", func() bool { return len(s.follower.Warnings()) == 1 })
	if got := s.follower.Warnings()[0]; !strings.Contains(got, "vault.attachments: read") || s.shown(s.local) != "" {
		t.Errorf("%s; books %s", got, s.shown(s.local))
	}
	must(t, os.Remove(filepath.Join(root, "b.txt"))) // there is room for the other one
	s.untilShown("a.txt ready")
	s.until("end of the notice", func() bool { return len(s.follower.Warnings()) == 0 })
	write(t, root, "b.txt", strings.Repeat("seats ", 100), old)
	s.until("notice", func() bool { return len(s.follower.Warnings()) == 1 })
	s.untilShown("a.txt ready") // what was read stays
	must(t, s.db.Close())

	s = openShelf(t, root, shelfOptions{data: data, bytes: 1000, which: books.AttachmentsRead})
	s.untilShown("a.txt ready", "b.txt ready")
	must(t, s.db.Close())
	s = openShelf(t, root, shelfOptions{data: data, which: books.AttachmentsNames})
	s.untilShown()
	if got := s.follower.Warnings(); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

func TestSRCH54_AStartReadsOnlyWhatWasNotRead(t *testing.T) {
	files := map[string]string{}
	for i := range 12 {
		files[fmt.Sprintf("Files/%02d.txt", i)] = fmt.Sprintf("Boat %d has %d seats.\n", i, i)
	}
	root, data := newVault(t, files), t.TempDir()
	s := openShelf(t, root, shelfOptions{data: data})
	s.until("some books", func() bool { return strings.Count(s.shown(s.local), "ready") >= 4 })
	must(t, s.db.Close())
	read := make(map[string]time.Time)
	for _, b := range s.List(s.local, books.Filter{State: record.BookReady}) {
		read[b.ID] = b.UpdatedAt
	}
	s = openShelf(t, root, shelfOptions{data: data})
	s.until("all books", func() bool { return strings.Count(s.shown(s.local), "ready") == len(files) })
	again := 0
	for _, b := range s.List(s.local, books.Filter{}) {
		if at, was := read[b.ID]; was && !at.Equal(b.UpdatedAt) {
			again++
		}
	}
	if len(read) < 4 || again > 1 { // one may have been ready, and not settled
		t.Errorf("%d of %d books were read again", again, len(read))
	}
	must(t, s.db.View(t.Context(), func(tx *kv.Tx) error {
		problems, err := books.Check(tx)
		if len(problems) > 0 {
			t.Errorf("check says %q", problems)
		}
		return err
	}))
}

func TestSRCH54_AFileThatIsBeingWrittenIsLeftUntilItIsStill(t *testing.T) {
	var age atomic.Int64
	age.Store(int64(time.Second))
	now := func() time.Time { return old.Add(time.Duration(age.Load())) }
	s := openShelf(t, newVault(t, map[string]string{"young.txt": "Half a sen"}), shelfOptions{now: now})
	write(t, s.root, "older.txt", "It is still.\n", old.Add(-time.Hour))
	s.untilShown("older.txt ready")
	age.Store(int64(time.Minute))
	s.follower.Wake()
	s.untilShown("older.txt ready", "young.txt ready")
}

func TestSRCH54_AFolderThatIsAwayTakesNoBookAndABadFileIsListed(t *testing.T) {
	s := openShelf(t, newVault(t, map[string]string{"a.txt": "There are two boats.\n", "broken.docx": "no zip", "large.txt": strings.Repeat("x ", maxBytes)}), shelfOptions{})
	s.untilShown("a.txt ready", "broken.docx failed", "large.txt failed")
	list, err := s.vaults.Problems(t.Context(), "v", vault.Reader{})
	must(t, err)
	var told []string
	for _, p := range list.All {
		told = append(told, string(p.Kind)+" "+p.Path)
	}
	if got := strings.Join(told, ", "); got != "attachment.text broken.docx, attachment.text large.txt" {
		t.Errorf("problems: %s", got)
	}
	if list, err = s.vaults.Problems(t.Context(), "v", vault.Reader{Sees: func(*notes.Note) bool { return true }}); err != nil || len(list.All) != 0 {
		t.Errorf("a remote reader is told of %v, %v", list.All, err)
	}
	away := s.root + ".away"
	must(t, os.Rename(s.root, away))
	t.Cleanup(func() { _ = os.RemoveAll(away) })
	s.follower.Wake()
	write(t, away, "b.txt", "A day costs twelve euro.\n", old)
	write(t, away, "broken.docx", "still none", old.Add(time.Hour))
	if got := s.shown(s.local); !strings.HasPrefix(got, "a.txt ready") {
		t.Errorf("books %s", got)
	}
	must(t, os.Rename(away, s.root))
	s.untilShown("a.txt ready", "b.txt ready", "broken.docx failed", "large.txt failed")
}

func TestSRCH54_AttachmentsAreCitedByNameAndPage(t *testing.T) {
	pdf, err := os.ReadFile(filepath.Join("convert", "testdata", "writer.pdf"))
	must(t, err)
	s := openShelf(t, newVault(t, map[string]string{"Files/report.pdf": string(pdf)}), shelfOptions{})
	s.untilShown("Files/report.pdf ready")
	list, _, err := s.Read(t.Context(), s.local, s.at("Files/report.pdf").ID, "", "", 0, 100)
	must(t, err)
	last := list[len(list)-1]
	if !strings.HasPrefix(last.Cite, "[report.pdf, ") || !strings.Contains(last.Cite, fmt.Sprintf("p. %d", last.Page)) || last.Page < 2 {
		t.Errorf("%s on page %d", last.Cite, last.Page)
	}
	shown := books.Library{Store: s.Store}
	id := shown.Attachment(s.remote, "Files/report.pdf")
	of, err := shown.Page(t.Context(), s.remote, id, last.Page, 100)
	must(t, err)
	if len(of) == 0 || len(of) == len(list) || slices.ContainsFunc(of, func(p *record.Passage) bool { return p.Page > last.Page || max(p.Page, p.Last) < last.Page }) {
		t.Errorf("%d of %d passages are on page %d", len(of), len(list), last.Page)
	}
}

func TestSRCH54_ManyFilesAreReadOneAtATime(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("Files/%02d/%03d.txt", i%20, i)] = strings.Repeat(fmt.Sprintf("Boat %d has %d seats. ", i, i), 40)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s := openShelf(t, newVault(t, files), shelfOptions{})
	s.until("all books", func() bool {
		reading := 0
		for b := range s.All() {
			if b.State == record.BookProcessing {
				reading++
			}
		}
		if reading > 1 {
			t.Fatalf("%d files are read at once", reading)
		}
		return strings.Count(s.shown(s.local), "ready") == len(files)
	})
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 64<<20 {
		t.Errorf("the heap has grown by %d bytes", grown)
	}
}

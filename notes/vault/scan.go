package vault

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/days"
	"github.com/ctxd/ctxd/notes/ignore"
)

const (
	ignoreFile = ".ctxdignore"
	ownFolder  = ".ctxd"
	typeFolder = ownFolder + "/types"
)

// walker looks at the folders of a vault.
type walker struct {
	root    *os.Root
	exclude exclusions // by the configuration
	// folds reports whether the file system below a folder does not tell letter case,
	// given what lies in the folder, or what is known of it when that can't be told.
	folds func(in *os.Root, names []string) bool
	reads func(name string) bool // whether the text of an attachment is read
	// enter, when it is set, is told of each folder before it is read, so that
	// what changes in it from then on can be noticed.
	enter func(dir string)
}

func isFolder(p string) bool {
	info, err := os.Stat(p)
	return err == nil && info.IsDir()
}

// isNote reports whether a file is read as a note, by its name.
func isNote(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".md" || ext == ".markdown" || notes.FileKind(name) != ""
}

func isDeclaration(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".yaml" || ext == ".yml"
}

// all looks at the whole vault.
func (w *walker) all(ctx context.Context) (*tree, error) {
	t := newTree()
	if err := w.folder(ctx, t, ".", nil); err != nil {
		return nil, err
	}
	w.readDays(t)
	return t, nil
}

// readDays reads what the vault calls its notes of days. Where that can't be read, they are called what they are by default.
// What of its settings for new notes cannot be meant so is listed.
func (w *walker) readDays(t *tree) {
	read := settingsOf(w.root)
	var err error
	t.days, err = days.ReadLogseq(read)
	t.daysSkip = nil
	if err != nil {
		t.daysSkip = []ImportSkip{{Path: days.LogseqConfig, Reason: "can't be read, so links to days have the default form"}}
	}
	for _, p := range days.Problems(read) {
		t.daysSkip = append(t.daysSkip, ImportSkip{Path: p.Path, Reason: p.What})
	}
}

// settingsOf reads the settings and templates of a vault.
func settingsOf(root *os.Root) days.Reader {
	const most = 1 << 20
	return func(name string) ([]byte, error) {
		data, _, err := place{Root: root}.readFile(name, most)
		return data, err
	}
}

// again looks once more at a folder of the tree: not at those in it that are
// known and the same, but at those that are new.
func (w *walker) again(ctx context.Context, t *tree, dir string) error {
	return w.folder(ctx, t, dir, t.folders[dir])
}

// folder looks at a folder and all in it, but for the folders that it had before.
func (w *walker) folder(ctx context.Context, t *tree, dir string, before *folder) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if w.enter != nil {
		w.enter(dir)
	}
	f, entries, err := w.read(t, dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && dir != ".":
		t.drop(dir) // it went meanwhile
		t.leaveOut(dir)
		return nil
	case errors.Is(err, errClosedFolder) && dir != ".":
		t.drop(dir)
		t.leaveUnread(dir)
		return nil
	case errors.Is(err, errClosedFolder), errors.Is(err, fs.ErrNotExist):
		return unreadable(err)
	case err != nil:
		return err
	}
	t.folders[dir] = f
	var inside []string
	for _, e := range entries {
		if w.entry(t, f, dir, e.name, e.kind, e.info) {
			inside = append(inside, e.name)
		}
	}
	w.leaveCopies(f, dir)
	f.folders = inside
	if before != nil {
		for _, name := range before.folders {
			if !slices.Contains(inside, name) {
				t.drop(path.Join(dir, name))
			}
		}
	}
	for _, name := range inside {
		p := path.Join(dir, name)
		// Where other files are left out than before, all in it may be another way.
		if before != nil && before.ignore == f.ignore && t.folders[p] != nil && w.same(t.folders[p], p) {
			continue
		}
		t.drop(p)
		if err := w.folder(ctx, t, p, nil); err != nil {
			return err
		}
	}
	return nil
}

// same reports whether a folder is the one that was seen at its path.
func (w *walker) same(f *folder, p string) bool {
	info, err := w.root.Lstat(p)
	return err == nil && os.SameFile(f.info, info)
}

// drop takes a folder and those in it out of the tree.
func (t *tree) drop(dir string) {
	f := t.folders[dir]
	if f == nil {
		return
	}
	delete(t.folders, dir)
	for _, name := range f.folders {
		t.drop(path.Join(dir, name))
	}
}

// leaveUnread notes in the folder that it lies in that a folder could not be read.
func (t *tree) leaveUnread(dir string) {
	parent := t.leaveOut(dir)
	parent.skipped, parent.unread = slices.Clip(parent.skipped), append(slices.Clip(parent.unread), dir)
	parent.skip(dir, "can't be read")
}

// leaveOut takes a folder out of those of the one that it lies in, which it
// returns, and which no other tree shares.
func (t *tree) leaveOut(dir string) *folder {
	parent := *t.folders[path.Dir(dir)]
	parent.folders = slices.DeleteFunc(slices.Clone(parent.folders),
		func(name string) bool { return name == path.Base(dir) })
	t.folders[path.Dir(dir)] = &parent
	return &parent
}

// found is an entry of a folder.
type found struct {
	name string
	kind fs.FileMode
	info fs.FileInfo // of what may be taken in; nil when it could not be had: reading tells why
}

// read lists a folder. It is opened alone, and looked at through what was
// opened: that is as fast as it can be, and nobody can put another in its place.
func (w *walker) read(t *tree, dir string) (*folder, []found, error) {
	info, err := w.root.Lstat(dir)
	if err == nil && !info.IsDir() {
		err = fs.ErrNotExist // as a folder
	}
	if err != nil {
		return nil, nil, closedOrGone(err)
	}
	at, err := w.root.OpenRoot(dir)
	if err != nil {
		return nil, nil, closedOrGone(err)
	}
	defer at.Close()
	f := &folder{notes: make(map[string]stamp)}
	f.info, err = at.Stat(".")
	if err != nil {
		return nil, nil, errClosedFolder
	}
	entries, err := fs.ReadDir(at.FS(), ".")
	if err != nil {
		return nil, nil, errClosedFolder
	}
	if up := t.folders[path.Dir(dir)]; dir != "." && up != nil {
		f.patterns = up.patterns
	}
	if dir == "." {
		t.folds = w.folds(at, namesOf(entries))
	}
	if err := w.patterns(t, at, f, dir); err != nil {
		return nil, nil, err
	}
	f.empty = len(entries) == 0
	list := make([]found, 0, len(entries))
	for _, e := range entries {
		in := found{name: e.Name(), kind: e.Type()}
		if in.kind.IsRegular() && (isNote(in.name) || isDeclaration(in.name) || w.reads(in.name)) {
			info, err := e.Info() // known already: what a Root lists, it looks at
			switch {
			case errors.Is(err, fs.ErrNotExist):
				continue // it went meanwhile
			case err == nil:
				in.kind, in.info = info.Mode().Type(), info
			}
		}
		list = append(list, in)
	}
	return f, list, nil
}

func closedOrGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fs.ErrNotExist
	}
	return errClosedFolder
}

// entry sorts one entry of a folder, and reports whether it is a folder to enter.
func (w *walker) entry(t *tree, f *folder, dir, name string, kind fs.FileMode, info fs.FileInfo) (enter bool) {
	p := path.Join(dir, name)
	switch {
	case kind.IsDir() && (p == ownFolder || p == typeFolder):
		return true
	case dir == ownFolder, dir != typeFolder && isWithin(dir, typeFolder), strings.HasPrefix(name, "."):
		return false
	}
	if by := w.excluded(t, f, p, kind.IsDir()); by != "" {
		f.skip(p, excludedBy+by)
		return false
	}
	switch {
	case kind.IsDir():
		return dir != typeFolder
	case kind&fs.ModeSymlink != 0:
		// Out of the vault it may not lead, and what lies within is read where
		// it lies, or excluded there.
		f.skip(p, "a link to another place")
	case !kind.IsRegular():
		f.skip(p, "not a regular file")
	default:
		f.file(p, info)
	}
	return false
}

// excludedBy begins the reason for which a person has left something out.
const excludedBy = "excluded by "

// excluded says what leaves a file or folder out, "" for nothing. What the
// configuration excludes, no file in the vault brings back.
func (w *walker) excluded(t *tree, f *folder, p string, isDir bool) string {
	switch p := ignore.Comparable(p, t.folds); {
	case ignore.Match(w.exclude.of(t.folds), p, isDir):
		return "the configuration"
	case ignore.Match(f.patterns, p, isDir):
		return ignoreFile
	}
	return ""
}

// archives are the endings of files that hold others: people may expect what is
// in them to be found.
var archives = map[string]bool{
	".zip": true, ".tar": true, ".gz": true, ".tgz": true, ".bz2": true, ".xz": true, ".zst": true, ".7z": true,
	".rar": true,
}

// file sorts a regular file.
func (f *folder) file(p string, info fs.FileInfo) {
	dir, name := path.Split(p)
	inTypes := dir == typeFolder+"/"
	switch {
	case !inTypes && archives[strings.ToLower(path.Ext(name))]:
		f.skip(p, "an archive, which is never unpacked")
		f.others = append(f.others, name)
	case inTypes && !isDeclaration(name):
	case !inTypes && !isNote(name):
		f.others = append(f.others, name)
		if info != nil {
			if f.attached == nil {
				f.attached = make(map[string]stamp)
			}
			f.attached[name] = stampOf(info)
		}
	case inTypes:
		if f.types == nil {
			f.types = make(map[string]stamp)
		}
		f.types[name] = stampOf(info)
	default:
		f.notes[name] = stampOf(info)
	}
}

func (f *folder) skip(p, reason string) {
	if !utf8.ValidString(p) {
		p = strings.ToValidUTF8(p, "\ufffd")
	}
	f.skipped = append(f.skipped, ImportSkip{Path: p, Reason: reason})
}

func unreadable(err error) error {
	return &fault.Error{
		Kind: fault.Unavailable, Field: "path", Msg: "the folder can't be read",
		Hint: "check its permissions", Err: err,
	}
}

// maxIgnoreFile bounds a .ctxdignore.
const maxIgnoreFile = 1 << 20

// patterns adds the patterns of the .ctxdignore of a folder to those that hold
// there. One that is there and can't be read fails the scan: what it keeps out
// must stay out.
func (w *walker) patterns(t *tree, at *os.Root, f *folder, dir string) error {
	info, err := at.Lstat(ignoreFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return errClosedFolder
	}
	data, _, err := place{Root: at}.readFile(ignoreFile, maxIgnoreFile)
	if err != nil {
		return &fault.Error{
			Kind: fault.Unavailable,
			Msg:  "a " + ignoreFile + " of the vault cannot be read, so it is unknown what it excludes",
			Hint: "make it a readable file of at most 1 MiB, or remove it", Err: err,
		}
	}
	f.ignore = stampOf(info)
	f.patterns = append(slices.Clip(f.patterns), ignore.Parse(string(data), dir, t.folds)...)
	return nil
}

var (
	errTooLarge     = errors.New("too large")
	errUnsettled    = errors.New("changed while it was read")
	errClosedFolder = errors.New("a folder that cannot be opened")
)

// tries is how often a file is read that changes meanwhile.
const tries = 3

// readFile reads a file of at most max bytes as it was at one moment.
func (in place) readFile(name string, max int64) (data []byte, info fs.FileInfo, err error) {
	for range tries {
		data, info, err = in.readOnce(name, max)
		if !errors.Is(err, errUnsettled) {
			break
		}
	}
	return data, info, err
}

// beforeOpen is for tests, which have a file become another one there.
var beforeOpen = func(p string) {}

func (in place) readOnce(name string, max int64) ([]byte, fs.FileInfo, error) {
	// What is no file is not opened if that can be helped: it may do something. And a
	// link is not followed.
	if info, err := in.Lstat(name); err != nil {
		return nil, nil, err
	} else if !info.Mode().IsRegular() {
		return nil, nil, errors.New("not a regular file")
	}
	beforeOpen(in.dir + name)
	f, err := in.OpenFile(name, openFlags, 0)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, nil, err
	case !info.Mode().IsRegular():
		return nil, nil, errors.New("not a regular file")
	case info.Size() > max:
		return nil, nil, errTooLarge
	}
	data := make([]byte, info.Size()+1) // one more tells that it has grown
	n, err := io.ReadAtLeast(f, data, int(info.Size()))
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	after, err := f.Stat()
	switch {
	case err != nil:
		return nil, nil, err
	case stampOf(after) != stampOf(info) || int64(n) != info.Size():
		return nil, nil, errUnsettled
	}
	return data[:n], info, nil
}

// place is an open folder of a vault, and its path there: "" for the vault itself,
// else with a slash behind.
type place struct {
	*os.Root
	dir string
}

// inFolder has files of one folder of a vault read through that folder, which is
// opened once for all of them: it takes half as long. They are read again from the
// vault when the folder is another one in the end, or was moved.
func inFolder(vault place, paths []string, read func(in place, i int, name string)) {
	dir, _ := path.Split(paths[0])
	if dir != "" && len(paths) > 1 {
		if at, err := vault.OpenRoot(path.Clean(dir)); err == nil {
			defer at.Close()
			for i, p := range paths {
				read(place{at, dir}, i, p[len(dir):])
			}
			was, err := at.Stat(".")
			if now, e := vault.Lstat(path.Clean(dir)); errors.Join(err, e) == nil && os.SameFile(was, now) {
				return
			}
		}
	}
	for i, p := range paths {
		read(vault, i, p)
	}
}

// looked is what was seen of the file of one note when it was read.
type looked struct {
	path      string
	stamp     stamp  // zero: it may change and keep its stamp
	skip      string // why it can't be taken in; "" when it can
	closed    bool   // it can't be taken in since it can't be read
	unsettled bool   // it can't be taken in since it changed while it was read
}

// document is the file of one note that was read.
type document struct {
	looked
	hash    string
	draft   notes.Draft
	warning string // what of it could not be understood
}

// readNote reads and parses the file of one note, of at most maxBody bytes. It uses
// nothing shared, so many run at once.
func readNote(in place, name string, maxBody int) document {
	p := in.dir + name
	doc := document{looked: looked{path: p}}
	if len(p) > notes.MaxPath || !utf8.ValidString(p) {
		doc.skip = "its path is too long or not UTF-8"
		return doc
	}
	began := time.Now()
	data, info, err := in.readFile(name, int64(maxBody))
	switch {
	case errors.Is(err, errTooLarge):
		doc.skip = "larger than " + inBytes(maxBody)
	case errors.Is(err, errUnsettled):
		doc.skip, doc.unsettled = errUnsettled.Error(), true
	case err != nil:
		doc.skip, doc.closed = "can't be read", true
	case bytes.IndexByte(data, 0) >= 0:
		doc.skip = "binary, not text"
	case !utf8.Valid(data):
		doc.skip = "not UTF-8 text"
	}
	if doc.skip != "" {
		return doc
	}
	sum := sha256.Sum256(data)
	doc.hash, doc.stamp = hex.EncodeToString(sum[:]), stampOf(info).settled(began)
	body := unsafe.String(unsafe.SliceData(data), len(data)) //nolint:gosec // nobody else has data
	if notes.FileKind(name) != "" {
		body, err = notes.CanvasMarkdown(p, body)
		switch {
		case err != nil:
			doc.skip = err.Error()
		case len(body) > maxBody:
			doc.skip = "larger than " + inBytes(maxBody)
		}
		if doc.skip != "" {
			return doc
		}
	}
	doc.draft = notes.Draft{Body: body, Path: p, ModifiedAt: info.ModTime()}
	if broken := doc.draft.Read().FrontmatterErr; broken != nil {
		doc.warning = "frontmatter left out: " + fault.Message(broken)
		if broken.Line > 0 {
			doc.warning += fmt.Sprintf(" (line %d)", broken.Line)
		}
	}
	return doc
}

// inBytes returns a size as people write it.
func inBytes(n int) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}

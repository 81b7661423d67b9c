package vault

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault/write"
)

// WriteRule names a folder of a vault whose notes may be written.
type WriteRule struct {
	Vault  string // "": of every vault
	Folder string // within the vault; "" or "/": all of it
	Remote bool   // for remote connections, too
}

// Allows reports whether the rule is about a file of a vault.
func (r WriteRule) Allows(vault, p string, remote bool) bool {
	if r.Vault != "" && r.Vault != vault || remote && !r.Remote {
		return false
	}
	folder := strings.Trim(r.Folder, "/")
	return folder == "" || strings.HasPrefix(p, folder+"/")
}

// Writer is who writes into a vault.
type Writer struct {
	Client string // as it named itself
	Remote bool   // a remote connection: only public notes, and where a rule says remote
}

// FileWrite is a new text for the file of a note, or a new file.
type FileWrite struct {
	NoteID string // the note; "": a new one, of which Vault and Path say where
	Vault  string // "": the only one
	Path   string // within the vault, with its ending

	Text   string  // the whole text
	Append *string // lines that are added at the end, in the place of Text; others may write meanwhile

	IfVersion *int   // of the note; 0: it must not exist
	IfHash    string // of what the caller has read, see notes.HashOf; "": of what the store has
	DryRun    bool
	By        Writer
}

// FileWritten is what a write did, or would do.
type FileWritten struct {
	ID    string      // of the write in the history; "" where nothing was written
	Note  *notes.Note // as it is now; nil in a dry run of a new note
	Vault string
	Path  string
	Hash  string // of the file as it is now, or would be
	Diff  string // what changed, or would; "" for nothing
}

// writing is one write under way, with the vault claimed.
type writing struct {
	*Importer
	root   *os.Root
	vault  *vault
	path   string // links resolved
	by     Writer
	dryRun bool
}

// Write writes a text into the file of a note, or makes a file, and takes it in. What the file holds must be what the caller
// has read: Conflict with Changed has both texts otherwise, and the store has the other one by then.
func (im *Importer) Write(ctx context.Context, f FileWrite) (*FileWritten, error) {
	if f.NoteID == "" {
		return im.createFile(ctx, f)
	}
	n := im.notes.Get(f.NoteID)
	if n == nil {
		return nil, fault.Missing("note", f.NoteID)
	}
	if !im.MayWrite(n.Vault, n.Path, f.By.Remote) {
		return nil, notes.FromFile(n.ID)
	}
	w, end, err := im.beginWriting(ctx, n.Vault, n.Path, f.By, f.DryRun)
	if err != nil {
		return nil, err
	}
	defer end()
	return w.replaceText(ctx, f)
}

// MayWrite reports whether a rule allows to write a file.
func (im *Importer) MayWrite(vault, p string, remote bool) bool {
	for _, r := range im.opts.Write {
		if r.Allows(vault, p, remote) {
			return true
		}
	}
	return false
}

// beginWriting claims a vault and opens it. end must be called.
func (im *Importer) beginWriting(ctx context.Context, name, p string, by Writer, dryRun bool) (_ *writing, end func(), err error) {
	var v *vault
	err = im.db.View(ctx, func(tx *kv.Tx) (err error) {
		v, err = vaults.Get(tx, name)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if v == nil || v.Forgetting { // another machine has the folder
		return nil, nil, away(name, nil)
	}
	if err := im.checkIdle(name); err != nil { // writes of all clients would wait
		return nil, nil, err
	}
	release, err := im.claim(ctx, name, false)
	if err != nil {
		return nil, nil, err
	}
	root, err := openFolder(v.Path)
	if err != nil {
		release()
		return nil, nil, away(name, err)
	}
	w := &writing{Importer: im, root: root, vault: v, by: by, dryRun: dryRun}
	end = func() {
		_ = root.Close() // it was only looked into
		release()
	}
	err = w.settle(ctx)
	if err == nil && p != "" {
		w.path, err = write.Resolve(root, v.Path, p)
	}
	if err == nil && p != "" {
		err = w.check()
	}
	if err != nil {
		end()
		return nil, nil, err
	}
	return w, end, nil
}

func away(name string, err error) error {
	return fault.Wrap(fault.Unavailable, err, "the folder of vault %q is not on this machine, or can't be read", name).WithRef(name).
		WithHint("mount its disk, or write on the machine that has it; ctxd vault status says where it is")
}

// check returns an error for a file that may not be written: outside of the folders of the rules, where a link may lead, or
// left out of the vault.
func (w *writing) check() error {
	refuse := func(why, hint string) error {
		return fault.Clash(fault.State, "%s cannot be written: %s", w.path, why).WithRef(w.path).WithHint("%s", hint)
	}
	if !w.MayWrite(w.vault.Name, w.path, w.by.Remote) {
		return refuse("no rule of vault.write names its folder", "choose a folder that the setting vault.write names")
	}
	if ext := strings.ToLower(path.Ext(w.path)); ext != ".md" && ext != ".markdown" {
		return refuse("it is no Markdown", "change it with the program that made it; notes end with .md")
	}
	if why, err := w.leftOut(); err != nil || why != "" {
		if err != nil {
			return err
		}
		return refuse(why, "choose a place that the vault does not leave out")
	}
	return nil
}

// leftOut says why the vault leaves the file out, "" where it does not.
func (w *writing) leftOut() (why string, err error) {
	t, f := newTree(), &folder{}
	t.folds = w.notes.FoldsCase(w.vault.Name)
	look := w.newWalker(w.root, w.vault.Name)
	parts := strings.Split(w.path, "/")
	for i := range parts {
		dir := path.Join(".", path.Join(parts[:i]...))
		at, err := w.root.OpenRoot(dir)
		if err == nil {
			err = errors.Join(look.patterns(t, at, f, dir), at.Close())
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // a new folder leaves nothing out
			return "", err
		}
		p := path.Join(parts[:i+1]...)
		if strings.HasPrefix(parts[i], ".") {
			return "it is hidden", nil
		}
		if by := look.excluded(t, f, p, i < len(parts)-1); by != "" {
			return excludedBy + by, nil
		}
	}
	return "", nil
}

// replaceText writes the text of a note.
func (w *writing) replaceText(ctx context.Context, f FileWrite) (*FileWritten, error) {
	n := w.notes.Get(f.NoteID) // as it is now that nobody else takes files in
	if n == nil {
		return nil, fault.Missing("note", f.NoteID)
	}
	if f.IfVersion != nil && n.Version != *f.IfVersion {
		return nil, fault.Stale("note", n.ID, n.Version, *f.IfVersion)
	}
	for tried := 1; ; tried++ {
		before, err := w.read()
		if err != nil {
			return nil, err
		}
		after := f.Text
		if f.Append != nil {
			after = notes.WithLines(before, *f.Append)
		}
		after = write.Like(before, after)
		if err := w.checkText(after); err != nil {
			return nil, err
		}
		switch read := f.IfHash; {
		case read == "" && f.Append != nil:
		case read == "" && n.Body != before, read != "" && read != notes.HashOf(before):
			return nil, w.changed(ctx, n.ID, before, after)
		}
		out, err := w.apply(ctx, &change{Action: ActionChange, Path: w.path, NoteID: n.ID, Private: n.Private, Before: before, After: after})
		var changed *write.Changed
		switch {
		case !errors.As(err, &changed):
			return out, err
		case f.Append == nil || f.IfHash != "" || changed.Now == nil || tried == appendTries:
			return nil, w.changed(ctx, n.ID, string(changed.Now), after)
		}
	}
}

// appendTries is how often lines are added to a file that others change in the same moment.
const appendTries = 20

// read returns what the file holds.
func (w *writing) read() (string, error) {
	data, err := write.Read(w.root, w.path, int64(w.notes.MaxBody()))
	if err == nil && !utf8.Valid(data) {
		err = fault.Clash(fault.State, "the file %s is not UTF-8 text", w.path).WithRef(w.path).WithHint("convert it first, with an editor")
	}
	return string(data), err
}

func (w *writing) checkText(body string) error {
	switch most := w.notes.MaxBody(); {
	case len(body) > most:
		return fault.TooLarge("body", len(body), most, "bytes")
	case !utf8.ValidString(body):
		return fault.Field("body", "body is not valid UTF-8")
	case strings.ContainsRune(body, 0):
		return fault.Field("body", "body has a zero byte, so it would be no text")
	case w.by.Remote && w.notes.WillBePrivate(&notes.Draft{Body: body, Vault: w.vault.Name, Path: w.path}):
		return fault.Field("body", "a remote connection cannot make a note private, which it would not see any more").
			WithHint("leave private: true out of the frontmatter")
	}
	return nil
}

// changed is the error for a file that holds something else than the caller has read. The store takes it in, so that the
// caller can read it.
func (w *writing) changed(ctx context.Context, noteID, now, wanted string) error {
	if err := w.takeIn(ctx, w.path); err != nil {
		return err
	}
	e := notes.TextChanged(noteID, now, wanted)
	e.Msg = "the file " + w.path + " has changed since it was read"
	if w.by.Remote {
		e.Sides = nil // it may name what is private
	}
	return e
}

// createFile makes the file of a new note.
func (im *Importer) createFile(ctx context.Context, f FileWrite) (_ *FileWritten, err error) {
	name, err := im.resolve(ctx, f.Vault)
	if err != nil {
		return nil, err
	}
	defer func() {
		var known *fault.Error
		if f.By.Remote && errors.As(err, &known) && (known.Kind == fault.Conflict || known.Field == "path") {
			err = fault.Field("path", "no note can be made at that path").WithHint("choose another name, or another folder")
		}
	}()
	if err := checkNewPath(f.Path); err != nil {
		return nil, err
	}
	if !im.MayWrite(name, f.Path, f.By.Remote) {
		return nil, fault.Clash(fault.State, "nothing may be written to that folder of vault %q", name).WithRef(name).
			WithHint("choose a folder that the setting vault.write names, or add this one to it")
	}
	w, end, err := im.beginWriting(ctx, name, f.Path, f.By, f.DryRun)
	if err != nil {
		return nil, err
	}
	defer end()
	if _, err := w.root.Lstat(w.path); err == nil {
		clash := fault.Clash(fault.Exists, "there is a file %s already", w.path).WithRef(w.path).
			WithHint("choose another name, or change the note of that file")
		if n, err := w.noteAt(ctx, name, w.path); err == nil && n != nil {
			clash = clash.WithCandidates([]fault.Candidate{{ID: n.ID, Title: n.Title, Path: n.Path}})
		}
		return nil, clash
	}
	if f.By.Remote && w.notes.InPrivateFolder(name, w.path, "") {
		return nil, fault.Clash(fault.State, "the folder is private")
	}
	after := f.Text
	if f.Append != nil {
		after = notes.WithLines("", *f.Append)
	}
	if err := w.checkText(after); err != nil {
		return nil, err
	}
	private := w.notes.WillBePrivate(&notes.Draft{Body: after, Vault: name, Path: w.path})
	return w.apply(ctx, &change{Action: ActionCreate, Path: w.path, Private: private, After: after})
}

// checkNewPath returns an error for a path at which no note can be made.
func checkNewPath(p string) error {
	if err := checkMove(Move{From: p, To: p}); err != nil || len(p) > notes.MaxPath || !utf8.ValidString(p) {
		return fault.Field("path", "path is not a path within the vault, of at most %d bytes", notes.MaxPath).
			WithHint("write it as in Projects/Alpha.md")
	}
	why := write.PathProblem(p)
	stem := strings.TrimSuffix(path.Base(p), path.Ext(p))
	for _, c := range copyNames {
		if why == "" && c.name().MatchString(stem) {
			why = "that is how " + c.by + " calls a copy, which is no note"
		}
	}
	if why != "" {
		return fault.Field("path", "%s", why).WithHint("choose another name")
	}
	return nil
}

// Append adds lines to the end of a note's file; others may write meanwhile. It is Write for one that only adds.
func (im *Importer) Append(ctx context.Context, by Writer, noteID, lines string) (*FileWritten, error) {
	return im.Write(ctx, FileWrite{NoteID: noteID, Append: &lines, By: by})
}

// trashFolder is where Obsidian puts what is deleted, too.
const trashFolder = ".trash"

// Trash moves the file of a note to the trash folder of its vault: nothing is ever deleted.
func (im *Importer) Trash(ctx context.Context, noteID string, ifVersion *int, dryRun bool, by Writer) (*FileWritten, error) {
	n := im.notes.Get(noteID)
	if n == nil {
		return nil, fault.Missing("note", noteID)
	}
	if !im.MayWrite(n.Vault, n.Path, by.Remote) {
		return nil, notes.FromFile(n.ID)
	}
	w, end, err := im.beginWriting(ctx, n.Vault, n.Path, by, dryRun)
	if err != nil {
		return nil, err
	}
	defer end()
	n = w.notes.Get(noteID)
	switch {
	case n == nil:
		return nil, fault.Missing("note", noteID)
	case ifVersion != nil && n.Version != *ifVersion:
		return nil, fault.Stale("note", n.ID, n.Version, *ifVersion)
	}
	before, err := w.read()
	if err != nil {
		return nil, err
	}
	if before != n.Body {
		return nil, w.changed(ctx, n.ID, before, "")
	}
	return w.trash(ctx, &change{Action: ActionTrash, Path: w.path, NoteID: n.ID, Private: n.Private, Before: before})
}

// trash moves a file to a free name in the trash folder.
func (w *writing) trash(ctx context.Context, c *change) (*FileWritten, error) {
	base := path.Base(c.Path)
	ext := path.Ext(base)
	c.To = path.Join(trashFolder, base)
	for i := 2; ; i++ {
		_, err := w.root.Lstat(c.To)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return nil, away(w.vault.Name, err)
		}
		c.To = path.Join(trashFolder, strings.TrimSuffix(base, ext)+" "+itoa(i)+ext)
	}
	return w.applied(ctx, c)
}

// applied is apply for a file that must not have changed since it was read.
func (w *writing) applied(ctx context.Context, c *change) (*FileWritten, error) {
	out, err := w.apply(ctx, c)
	var changed *write.Changed
	if errors.As(err, &changed) {
		return nil, w.changed(ctx, c.NoteID, string(changed.Now), c.After)
	}
	return out, err
}

// takeIn has the store agree with one file, or with its absence.
func (w *writing) takeIn(ctx context.Context, p string) error {
	t := newTree()
	t.folds = w.notes.FoldsCase(w.vault.Name)
	w.newWalker(w.root, w.vault.Name).readDays(t)
	at := &folder{notes: make(map[string]stamp)}
	t.folders["."], t.folders[path.Dir(p)] = at, at
	info, err := w.root.Lstat(p)
	if err == nil {
		at.notes[path.Base(p)] = stampOf(info)
	}
	r := &run{
		Importer: w.Importer, root: w.root, name: w.vault.Name, path: w.vault.Path, tree: t, watch: w.vault.Watch,
		faults: faults{notes: make(map[string][]string)}, sameAttachments: true,
	}
	if err := r.load(ctx, p); err != nil {
		return err
	}
	if info != nil {
		if err := r.read(ctx, []string{p}); err != nil {
			return err
		}
	}
	grown, err := r.infer(ctx)
	if err != nil {
		return err
	}
	if err := r.write(ctx); err != nil {
		return err
	}
	if grown { // other notes are read by the type, too
		whole := &run{Importer: w.Importer, root: w.root, name: w.vault.Name, path: w.vault.Path, watch: w.vault.Watch}
		return whole.whole(ctx, nil)
	}
	return r.remove(ctx)
}

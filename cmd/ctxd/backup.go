package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type backupCmd struct {
	File  string `arg:"" optional:"" help:"The file, or a folder for a file named after the time. Default: such a file in this folder."`
	Force bool   `xor:"what" help:"Replace the file when there is one."`
	Check bool   `xor:"what" help:"Read a backup to its end and say what it holds; write nothing."`
	storeFlag
}

func (backupCmd) Help() string {
	return "Everything is in it: notes, entities, types, and what is known of the vaults. Nobody waits for it, " +
		"it holds exactly one moment, and it appears under its name when it is whole and on the disk. " +
		"Only you can read it. Without a daemon the folder of the store is read, and no daemon is left behind."
}

func (backupCmd) Examples() []example {
	return []example{
		{"ctxd backup", "a file such as " + backupName(time.Date(2026, 1, 31, 9, 30, 0, 0, time.Local)) + " in this folder"},
		{"ctxd backup ~/Backups/", "the same in another folder"},
		{"ctxd backup /mnt/usb/notes.ctxdbackup --force", "always the same file"},
		{"ctxd backup --check notes.ctxdbackup", "is it whole, and what is in it?"},
	}
}

// backupSuffix is how the names of backups end.
const backupSuffix = ".ctxdbackup"

// backupName is the name of a backup that nobody gave one.
func backupName(at time.Time) string { return at.Format("ctxd-2006-01-02-1504") + backupSuffix }

// madeBackup is a backup as --json prints it.
type madeBackup struct {
	kv.Manifest
	// Recovered is what was found when the store was opened for it, unless all
	// was well.
	Recovered *kv.Recovery `json:"recovered,omitempty"`
}

func (c *backupCmd) Run(a *app) error {
	if c.Check {
		return c.check(a)
	}
	path, err := c.path(time.Now())
	if err != nil {
		return err
	}
	at, err := c.reach(a)
	if err != nil {
		return err
	}
	defer at.close()
	began := time.Now()
	p := newProgress(a.err)
	out, err := c.write(a, at, path, p)
	p.finish()
	if err != nil {
		return err
	}
	if a.JSON {
		return a.out.json(out)
	}
	out.draw(a.out, "backed up", "  in "+elapsed(time.Since(began)))
	a.out.sayWhole(labelled("restore"), text("ctxd restore "+quoted(shortPath(path))))
	return nil
}

// path returns the whole path of the file to write.
func (c *backupCmd) path(now time.Time) (string, error) {
	path, err := filepath.Abs(c.File) // of no file: this folder
	if err != nil {
		return "", fault.Wrap(fault.Unavailable, err, "the working directory can't be told").WithHint("give the whole path of the file")
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return unused(filepath.Join(path, backupName(now))), nil
	case err == nil && !info.Mode().IsRegular():
		return "", fault.New(fault.Invalid, "%q is no regular file", c.File).WithHint("give a file, or a folder")
	case c.File != "" && os.IsPathSeparator(c.File[len(c.File)-1]):
		return "", notFound("folder", c.File).WithHint("make it first: mkdir -p %s", quoted(c.File))
	}
	return path, nil
}

// unused returns the path, with a number when there is a file.
func unused(path string) string {
	stem := path[:len(path)-len(backupSuffix)]
	for n := 2; ; n++ {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) || n > 1000 {
			return path
		}
		path = fmt.Sprintf("%s-%d%s", stem, n, backupSuffix)
	}
}

func (c *backupCmd) write(a *app, at *storeAccess, path string, p *progress) (*madeBackup, error) {
	if at.client != nil {
		out := new(madeBackup)
		err := at.client.CallProgress(a.ctx, "admin.backup", protocol.Backup{Path: path, Overwrite: c.Force}, &out.Manifest, p.wireShare(backupStages))
		return out, c.explain(err, path)
	}
	if within(at.dir, path) {
		return nil, errBesideStore()
	}
	there, err := kv.Exists(nil, at.dir)
	if err == nil && !there {
		err = noStore(at.dir)
	}
	if err != nil {
		return nil, err
	}
	p.report("opening the store", 0, 0)
	db, err := at.open(false)
	if err != nil {
		return nil, err
	}
	m, err := db.Backup(a.ctx, path, kv.BackupOptions{Program: programName(), Overwrite: c.Force, Progress: p.share(backupStages["write"])})
	if err = errors.Join(c.explain(err, path), db.Close()); err != nil {
		return nil, err
	}
	out := &madeBackup{Manifest: *m}
	if r := db.Status().Recovered; r.Lost > 0 || len(r.Damaged) > 0 {
		out.Recovered = &r
	}
	return out, nil
}

// backupStages are the stages of a backup by the names that a daemon gives them.
var backupStages = map[string]string{"write": "writing the backup"}

func errBesideStore() *fault.Error {
	return fault.New(fault.Invalid, "a backup in the folder of the store would be lost with it").WithHint("choose another folder, best on another disk")
}

// within reports whether a path lies in a folder or below it.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// explain says more of an error than a store can, which knows no flags.
func (c *backupCmd) explain(err error, path string) error {
	switch {
	case fault.KindOf(err) == fault.Invalid:
		return errBesideStore() // there is nothing else to say against a path from here
	case fault.KindOf(err) == fault.Conflict:
		return hinted(err, "choose another name, or replace it with --force")
	case errors.Is(err, syscall.ENOSPC):
		return fault.Wrap(fault.Unavailable, err, "there is no room for the backup in %q", filepath.Dir(path)).
			WithHint("free some, or choose another disk; nothing of the file is left")
	case errors.Is(err, fs.ErrPermission):
		return fault.Wrap(fault.Unavailable, err, "nothing may be written to %q", filepath.Dir(path)).WithHint("choose another folder")
	}
	return err
}

// check reads a backup and says what it holds.
func (c *backupCmd) check(a *app) error {
	if c.File == "" {
		return &usageError{"--check needs the file to read", "ctxd backup --check FILE"}
	}
	path, err := backupPath(c.File)
	if err != nil {
		return err
	}
	m, err := readBackup(a, path)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.out.json(m)
	}
	(&madeBackup{Manifest: *m}).draw(a.out, "whole", "")
	return nil
}

// readBackup reads a backup to its end, with progress.
func readBackup(a *app, path string) (*kv.Manifest, error) {
	p := newProgress(a.err)
	defer p.finish()
	m, err := kv.ReadBackup(a.ctx, path, kv.ReadOptions{Format: storeFormat, Progress: p.share(restoreStages["verify"])})
	return m, withReason(err)
}

// backupPath returns the whole path of a backup that must be there.
func backupPath(file string) (string, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return "", fault.Wrap(fault.Unavailable, err, "the working directory can't be told").WithHint("give the whole path of the file")
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", notFound("file", file).WithHint("see where the backup lies")
	case err == nil && info.IsDir():
		return "", fault.New(fault.Invalid, "%q is a folder", file).WithHint("give the backup in it")
	}
	return path, nil // what else is wrong with it, reading it will tell
}

// draw shows a backup under a word for what has become of it.
func (w *madeBackup) draw(s *screen, verdict, more string) {
	s.say(styled(good, verdict), text("  "), styled(strong, filepath.Base(w.Path)), styled(faint, "  "+size(w.Bytes)+more))
	if w.Recovered != nil {
		s.say(text("  "), styled(bad, "! "), text("the store was damaged; the backup holds what is left:"))
		for _, l := range recoveredInWords(*w.Recovered) {
			s.say(append(line{text("    ")}, l...)...)
		}
	}
	drawWrapped(s, "holds", recordsInWords(w.Collections))
	by := ""
	if w.Program != "" {
		by = "  by " + w.Program
	}
	s.say(labelled("made"), text(day(w.Created)), styled(faint, by))
	s.sayWhole(labelled("sha256"), text(w.Checksum))
	s.sayWhole(labelled("file"), text(w.Path))
}

// labelled is the beginning of a line that says one thing.
func labelled(name string) span { return styled(faint, fmt.Sprintf("  %-9s  ", name)) }

// programName is what stands in backups as the program that made them.
func programName() string { return "ctxd " + version() }

// shortPath returns a path as one would write it in this folder.
func shortPath(path string) string {
	here, err := os.Getwd()
	if err == nil && filepath.Dir(path) == here {
		return filepath.Base(path)
	}
	return path
}

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/daemon"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes/vault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Backup is ctxd backup.
type Backup struct {
	File  string `arg:"" optional:"" help:"The file, or a folder for a file named after the date and time. Default: the current folder."`
	Force bool   `xor:"what" help:"Replace the file if it exists."`
	Check bool   `xor:"what" help:"Check a whole backup and show what is in it, and write nothing."`
	Flag
}

// Help is what --help says of the command.
func (Backup) Help() string {
	return "The backup holds notes, entities, types and the state of the vaults, all of the same moment. " +
		"Other clients do not wait for it. " +
		"The file appears under its name only when it is complete and on disk, and only you can read it. " +
		"Without a running daemon the folder of the store is read directly."
}

// Examples are those of --help.
func (Backup) Examples() []term.Example {
	return []term.Example{
		{"ctxd backup", "a file such as " + backupName(time.Date(2026, 1, 31, 9, 30, 0, 0, time.Local)) + " in this folder"},
		{"ctxd backup ~/Backups/", "the same in another folder"},
		{"ctxd backup /mnt/usb/notes.ctxdbackup --force", "always the same file"},
		{"ctxd backup --check notes.ctxdbackup", "is it complete, and what is in it?"},
	}
}

// BackupSuffix is how the names of backups end.
const BackupSuffix = ".ctxdbackup"

// backupName is the name of a backup that nobody gave one.
func backupName(at time.Time) string { return at.Format("ctxd-2006-01-02-1504") + BackupSuffix }

// madeBackup is a backup as --json prints it.
type madeBackup struct {
	kv.Manifest
	// Recovered is what was found when the store was opened for it, unless all
	// was well.
	Recovered *kv.Recovery `json:"recovered,omitempty"`
}

// Run runs the command.
func (c *Backup) Run(a *Options) error {
	if c.Check {
		return c.check(a)
	}
	path, err := c.path(time.Now())
	if err != nil {
		return err
	}
	at, err := c.reach(a.Link)
	if err != nil {
		return err
	}
	defer at.close()
	began := time.Now()
	p := term.NewProgress(a.Err)
	out, err := c.write(a, at, path, p)
	p.Finish()
	if err != nil {
		return err
	}
	if a.JSON {
		return a.Out.JSON(out)
	}
	out.draw(a.Out, "backed up", "  in "+term.Elapsed(time.Since(began)))
	a.Out.SayWhole(term.Labelled("restore"), term.Text("ctxd restore "+term.ShellQuoted(shortPath(path))))
	return nil
}

// path returns the whole path of the file to write.
func (c *Backup) path(now time.Time) (string, error) {
	path, err := filepath.Abs(c.File) // of no file: this folder
	if err != nil {
		return "", fault.Wrap(fault.Unavailable, err, "cannot determine the working directory").
			WithHint("give the absolute path of the file")
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return unused(filepath.Join(path, backupName(now))), nil
	case err == nil && !info.Mode().IsRegular():
		return "", fault.New(fault.Invalid, "%q is no regular file", c.File).WithHint("give a file, or a folder")
	case c.File != "" && os.IsPathSeparator(c.File[len(c.File)-1]):
		return "", term.NotFound("folder", c.File).WithHint("make it first: mkdir -p %s", term.ShellQuoted(c.File))
	}
	return path, nil
}

// unused returns the path, with a number when there is a file.
func unused(path string) string {
	stem := path[:len(path)-len(BackupSuffix)]
	for n := 2; ; n++ {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) || n > 1000 {
			return path
		}
		path = fmt.Sprintf("%s-%d%s", stem, n, BackupSuffix)
	}
}

func (c *Backup) write(a *Options, at *Access, path string, p *term.Progress) (*madeBackup, error) {
	if at.client != nil {
		out := new(madeBackup)
		err := at.client.CallProgress(a.Ctx, "admin.backup", protocol.Backup{Path: path, Overwrite: c.Force},
			&out.Manifest, p.WireShare(backupStages))
		return out, c.explain(err, path)
	}
	if vault.LiesWithin(path, at.Dir) {
		return nil, errBesideStore()
	}
	there, err := kv.Exists(nil, at.Dir)
	if err == nil && !there {
		err = noStore(at.Dir)
	}
	if err != nil {
		return nil, err
	}
	p.Report("opening the store", 0, 0)
	db, err := at.Open(false)
	if err != nil {
		return nil, err
	}
	if err := vault.CheckOutsideVaults(a.Ctx, db, path); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	m, err := db.Backup(a.Ctx, path,
		kv.BackupOptions{Program: term.ProgramName(), Overwrite: c.Force, Progress: p.Share(backupStages["write"])})
	err = errors.Join(c.explain(err, path), db.Close())
	if err != nil {
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
	return fault.New(fault.Invalid, "a backup in the folder of the store would be lost together with it").
		WithHint("choose another folder, preferably on another disk")
}

// explain says more of an error than a store can, which knows no flags.
func (c *Backup) explain(err error, path string) error {
	switch {
	case fault.KindOf(err) == fault.Invalid && !strings.Contains(fault.Message(err), vault.NeverWritten):
		return errBesideStore() // there is nothing else to say against a path from here
	case fault.KindOf(err) == fault.Conflict:
		return term.WithHint(err, "choose another name, or replace it with --force")
	case errors.Is(err, syscall.ENOSPC):
		return fault.Wrap(fault.Unavailable, err, "there is no room for the backup in %q", filepath.Dir(path)).
			WithHint("free some space, or choose another disk; no part of the file was kept")
	case errors.Is(err, fs.ErrPermission):
		return fault.Wrap(fault.Unavailable, err, "no permission to write to %q", filepath.Dir(path)).
			WithHint("choose another folder")
	}
	return err
}

// check reads a backup and says what it holds.
func (c *Backup) check(a *Options) error {
	if c.File == "" {
		return term.Misuse("--check needs a file", "ctxd backup --check FILE")
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
		return a.Out.JSON(m)
	}
	(&madeBackup{Manifest: *m}).draw(a.Out, "whole", "")
	return nil
}

// readBackup reads a backup to its end, with progress.
func readBackup(a *Options, path string) (*kv.Manifest, error) {
	p := term.NewProgress(a.Err)
	defer p.Finish()
	m, err := kv.ReadBackup(a.Ctx, path,
		kv.ReadOptions{Format: daemon.StoreFormat, Progress: p.Share(restoreStages["verify"])})
	return m, WithReason(err)
}

// backupPath returns the whole path of a backup that must be there.
func backupPath(file string) (string, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return "", fault.Wrap(fault.Unavailable, err, "cannot determine the working directory").
			WithHint("give the absolute path of the file")
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", term.NotFound("file", file).WithHint("check the path of the backup")
	case err == nil && info.IsDir():
		return "", fault.New(fault.Invalid, "%q is a folder", file).WithHint("give a backup file in it")
	}
	return path, nil // what else is wrong with it, reading it will tell
}

// draw shows a backup under a word for what has become of it.
func (w *madeBackup) draw(s *term.Screen, verdict, more string) {
	s.Say(term.Styled(term.Good, verdict), term.Text("  "), term.Styled(term.Strong, filepath.Base(w.Path)),
		term.Styled(term.Faint, "  "+term.Size(w.Bytes)+more))
	if w.Recovered != nil {
		s.Say(term.Text("  "), term.Styled(term.Bad, "! "),
			term.Text("the store was damaged; the backup holds what is left:"))
		for _, l := range RecoveredInWords(*w.Recovered) {
			s.Say(append(term.Line{term.Text("    ")}, l...)...)
		}
	}
	term.DrawWrapped(s, "holds", RecordsInWords(w.Collections))
	by := ""
	if w.Program != "" {
		by = "  by " + w.Program
	}
	s.Say(term.Labelled("made"), term.Text(term.Day(w.Created)), term.Styled(term.Faint, by))
	s.SayWhole(term.Labelled("sha256"), term.Text(w.Checksum))
	s.SayWhole(term.Labelled("file"), term.Text(w.Path))
}

// shortPath returns a path as one would write it in this folder.
func shortPath(path string) string {
	here, err := os.Getwd()
	if err == nil && filepath.Dir(path) == here {
		return filepath.Base(path)
	}
	return path
}

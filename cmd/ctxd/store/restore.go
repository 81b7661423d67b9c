package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/daemon"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Restore is ctxd restore.
type Restore struct {
	File     string `arg:"" help:"The backup."`
	DryRun   bool   `help:"Check the backup, show what is in it and what is in the store, and change nothing."`
	Yes      bool   `short:"y" help:"Do not ask for confirmation."`
	Checksum string `placeholder:"HEX" help:"Continue only if the file has this SHA-256, which ctxd backup prints."`
	Flag
}

// Help is what --help says of the command.
func (Restore) Help() string {
	return "Afterwards the store holds exactly what the backup holds; after an error it is unchanged. " +
		"The previous content is kept in the folder of the store until the next restore, so that a restore can be " +
		"undone. " +
		"A running daemon continues with the restored content, and its clients stay connected. " +
		"Folders of notes are not touched: ctxd import reads again what has changed in them."
}

// Examples are those of --help.
func (Restore) Examples() []term.Example {
	return []term.Example{
		{"ctxd restore notes.ctxdbackup --dry-run", "is it complete, and what would change?"},
		{"ctxd restore notes.ctxdbackup", "show that, ask, and restore"},
		{"ctxd restore notes.ctxdbackup --yes --checksum 6b1f…", "in a script"},
		{"ctxd restore notes.ctxdbackup --data ~/try", "restore into another folder; look at it with ctxd serve --data ~/try"},
	}
}

// restored is a restore, or a dry run of one, as --json prints it.
type restored struct {
	protocol.Restored
	Unreadable bool `json:"unreadable,omitempty"` // what was in the store before can't be told
}

// restorer restores a backup: a daemon does, or this process in a folder.
type restorer interface {
	// look checks the backup and finds out what it holds, and what the store
	// holds now.
	look(r *restored) error
	// restore restores it, after look or without.
	restore(r *restored) error
}

// Run runs the command.
func (c *Restore) Run(a *Options) error {
	path, err := backupPath(c.File)
	if err != nil {
		return err
	}
	at, err := c.reach(a.Link)
	if err != nil {
		return err
	}
	defer at.close()
	r := &restored{Restored: protocol.Restored{StoreManifest: kv.Manifest{Path: path}, DryRun: c.DryRun}}
	var by restorer = &folderRestorer{a: a, at: at, checksum: c.Checksum}
	if at.client != nil {
		by = &daemonRestorer{a: a, client: at.client, checksum: c.Checksum}
	}
	if c.DryRun || !c.Yes {
		if err := by.look(r); err != nil {
			return err
		}
	}
	if c.DryRun {
		return r.show(a, 0)
	}
	if !c.Yes {
		err := a.Confirm(a.Ctx, "Replace what is in "+at.name()+" with the backup?",
			"ctxd restore "+term.ShellQuoted(c.File)+" --yes", r.drawPlan)
		if err != nil {
			return err
		}
	}
	began := time.Now()
	if err := by.restore(r); err != nil {
		return err
	}
	return r.show(a, time.Since(began))
}

func (r *restored) show(a *Options, took time.Duration) error {
	switch {
	case a.JSON:
		return a.Out.JSON(r)
	case r.DryRun:
		r.drawPlan(a.Out)
		return nil
	}
	a.Out.Say(term.Styled(term.Good, "restored"), term.Text("  "), term.Styled(term.Strong, filepath.Base(r.Path)),
		term.Styled(term.Faint, "  in "+term.Elapsed(took)))
	r.compare(a.Out, "before", "now")
	if r.Previous != "" {
		a.Out.Say()
		a.Out.SayWhole(term.Labelled("kept"), term.Text(r.Previous))
		a.Out.SayWhole(term.Labelled("undo"), term.Text("ctxd restore "+term.ShellQuoted(r.Previous)))
	}
	return nil
}

// drawPlan shows what a restore would do.
func (r *restored) drawPlan(s *term.Screen) {
	(&madeBackup{Manifest: r.StoreManifest}).draw(s, "whole", "")
	s.Say()
	r.compare(s, "now", "after")
}

// compare shows the records before and after a restore by kind.
func (r *restored) compare(s *term.Screen, before, after string) {
	t := &term.Table{Indent: 2, Head: []string{"", before, after}, Right: []int{1, 2}}
	row := func(noun string, was, is int) {
		if was == 0 && is == 0 {
			return
		}
		had, changed := term.Line{term.Text(term.Number(was))}, term.Normal
		if r.Unreadable {
			had = term.Line{term.Styled(term.Warn, "?")}
		}
		if was != is {
			changed = term.Strong
		}
		_, nouns, _ := strings.Cut(term.Count(0, noun), " ")
		t.Row(term.Line{term.Text(nouns)}, had, term.Line{term.Styled(changed, term.Number(is))})
	}
	now := r.Current
	others, otherThen := now.Records, r.Records
	for _, k := range []struct {
		noun string // and the collection
		was  int
	}{{"note", now.Notes}, {"entity", now.Entities}, {"type", now.Types}, {"vault", now.Vaults}} {
		is := r.Collections[k.noun]
		row(k.noun, k.was, is)
		others, otherThen = others-k.was, otherThen-is
	}
	row("other record", others, otherThen)
	t.Draw(s)
}

// daemonRestorer has the daemon restore a backup.
type daemonRestorer struct {
	a        *Options
	client   *client.Client
	checksum string // that the file must have; "" for any
}

func (d *daemonRestorer) look(r *restored) error {
	if err := d.call(r, true); err != nil {
		return err
	}
	d.checksum = r.Checksum // what is restored is what was looked at
	return nil
}

func (d *daemonRestorer) restore(r *restored) error { return d.call(r, false) }

// restoreStages are the stages of a restore by the names that a daemon gives them.
var restoreStages = map[string]string{"verify": "checking the backup", "restore": "restoring"}

func (d *daemonRestorer) call(r *restored, dry bool) error {
	p := term.NewProgress(d.a.Err)
	defer p.Finish()
	params := protocol.Restore{Path: r.Path, Checksum: d.checksum, DryRun: dry}
	err := d.client.CallProgress(d.a.Ctx, "admin.restore", params, &r.Restored, p.WireShare(restoreStages))
	var known *fault.Error
	if errors.As(err, &known) && known.Field != "" {
		plain := *known
		plain.Field = "" // what it is called on the command line is another word
		return &plain
	}
	return err
}

// folderRestorer restores a backup into the folder of a store that no daemon has.
type folderRestorer struct {
	a        *Options
	at       *Access
	checksum string // that the file must have; "" for any

	looked  bool
	salvage bool // the store is so damaged that it can only be opened so
}

func (f *folderRestorer) look(r *restored) error {
	m, err := readBackup(f.a, r.Path)
	if err != nil {
		return err
	}
	if f.checksum != "" && !strings.EqualFold(f.checksum, m.Checksum) {
		return fault.New(fault.Invalid, "the backup has the checksum %s, not the one that was given", m.Checksum).
			WithHint("check that it is the right file; nothing was changed")
	}
	r.StoreManifest, f.looked = *m, true
	there, err := kv.Exists(nil, f.at.Dir)
	if err != nil || !there {
		return err
	}
	p := term.NewProgress(f.a.Err)
	p.Report("reading the store", 0, 0)
	defer p.Finish()
	opts := daemon.StoreOptions(f.at.Conf.Store)
	found, err := kv.Inspect(f.a.Ctx, f.at.Dir, opts)
	if err != nil {
		return err
	}
	if found.Refused != "" {
		if found.Condition != kv.Damaged { // it is of a newer format
			return fault.New(fault.Unavailable, "%s", found.Refused).WithHint("%s", found.Hint)
		}
		opts.Salvage, f.salvage = true, true
		found, err = kv.Inspect(f.a.Ctx, f.at.Dir, opts)
		if err != nil {
			return err
		}
	}
	n := found.Collections
	r.Current = protocol.Counts{
		Seq: found.Seq, Records: found.Records, Notes: n["note"], Entities: n["entity"],
		Types: n["type"], Vaults: n["vault"],
	}
	r.Unreadable = found.Refused != ""
	return nil
}

func (f *folderRestorer) restore(r *restored) error {
	if !f.looked {
		if err := f.look(r); err != nil {
			return err
		}
	}
	p := term.NewProgress(f.a.Err)
	defer p.Finish()
	p.Report("opening the store", 0, 0)
	db, err := f.at.Open(f.salvage)
	if err != nil {
		return f.explain(err)
	}
	if r.Current.Records > 0 {
		r.Previous = rpc.ReplacedStoreFile(f.at.Dir, time.Now())
	}
	_, err = db.Restore(f.a.Ctx, r.Path, kv.RestoreOptions{
		Checksum: r.Checksum, Keep: r.Previous, Program: term.ProgramName(),
		Progress: p.Share(restoreStages["restore"]),
	})
	if err != nil {
		if r.Previous != "" && db.Status().Mode == "read-write" {
			_ = os.Remove(r.Previous) // the state that it is a copy of stays; else that is not known
		}
		return errors.Join(err, db.Close())
	}
	if r.Previous != "" {
		rpc.RemoveReplacedStores(f.at.Dir, r.Previous)
	}
	r.Restored.Restored = true
	return nil
}

// explain says what to do about a store of which so little is left that it can't
// be opened: its own error would have a backup restored.
func (f *folderRestorer) explain(err error) error {
	if fault.KindOf(err) == fault.Unavailable {
		return term.WithHint(err,
			"move the folder away, and restore again: mv "+term.ShellQuoted(f.at.Dir)+" "+
				term.ShellQuoted(f.at.Dir+".damaged"))
	}
	return err
}

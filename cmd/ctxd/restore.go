package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type restoreCmd struct {
	File     string `arg:"" help:"The backup."`
	DryRun   bool   `help:"Check the backup, show what it holds and what the store holds now, and change nothing."`
	Yes      bool   `short:"y" help:"Do it without asking."`
	Checksum string `placeholder:"HEX" help:"Go on only if the file has this SHA-256, as ctxd backup printed it."`
	storeFlag
}

func (restoreCmd) Help() string {
	return "The store then holds what the backup does, and nothing else: all of it, or after an error none of it. " +
		"What it held before is kept in its folder until the next restore, so that one can be undone. " +
		"A running daemon goes on with the restored state, and its clients stay connected. " +
		"Folders of notes are not touched: ctxd import reads again what has changed in them."
}

func (restoreCmd) Examples() []example {
	return []example{
		{"ctxd restore notes.ctxdbackup --dry-run", "is it whole, and what would change?"},
		{"ctxd restore notes.ctxdbackup", "shows that, asks, and restores"},
		{"ctxd restore notes.ctxdbackup --yes --checksum 6b1f…", "in a script"},
		{"ctxd restore notes.ctxdbackup --data ~/try", "into another folder, to look at it: ctxd serve --data ~/try"},
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

func (c *restoreCmd) Run(a *app) error {
	path, err := backupPath(c.File)
	if err != nil {
		return err
	}
	at, err := c.reach(a)
	if err != nil {
		return err
	}
	defer at.close()
	r := &restored{Restored: protocol.Restored{Manifest: kv.Manifest{Path: path}, DryRun: c.DryRun}}
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
		err := a.confirm("Replace what is in "+at.name()+" with the backup?", "ctxd restore "+quoted(c.File)+" --yes", r.drawPlan)
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

func (r *restored) show(a *app, took time.Duration) error {
	switch {
	case a.JSON:
		return a.out.json(r)
	case r.DryRun:
		r.drawPlan(a.out)
		return nil
	}
	a.out.say(styled(good, "restored"), text("  "), styled(strong, filepath.Base(r.Path)), styled(faint, "  in "+elapsed(took)))
	r.compare(a.out, "before", "now")
	if r.Previous != "" {
		a.out.say()
		a.out.sayWhole(labelled("kept"), text(r.Previous))
		a.out.sayWhole(labelled("undo"), text("ctxd restore "+quoted(r.Previous)))
	}
	return nil
}

// drawPlan shows what a restore would do.
func (r *restored) drawPlan(s *screen) {
	(&madeBackup{Manifest: r.Manifest}).draw(s, "whole", "")
	s.say()
	r.compare(s, "now", "after")
}

// compare shows the records before and after a restore by kind.
func (r *restored) compare(s *screen, before, after string) {
	t := &table{indent: 2, head: []string{"", before, after}, right: []int{1, 2}}
	row := func(noun string, was, is int) {
		if was == 0 && is == 0 {
			return
		}
		had, changed := line{text(number(was))}, normal
		if r.Unreadable {
			had = line{styled(warn, "?")}
		}
		if was != is {
			changed = strong
		}
		_, nouns, _ := strings.Cut(count(0, noun), " ")
		t.row(line{text(nouns)}, had, line{styled(changed, number(is))})
	}
	was := r.Current
	row("note", was.Notes, r.Collections["note"])
	row("entity", was.Entities, r.Collections["entity"])
	row("type", was.Types, r.Collections["type"])
	row("vault", was.Vaults, r.Collections["vault"])
	row("other record", was.Records-was.Notes-was.Entities-was.Types-was.Vaults, otherRecords(r.Collections))
	t.draw(s)
}

// daemonRestorer has the daemon restore a backup.
type daemonRestorer struct {
	a        *app
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
	p := newProgress(d.a.err)
	defer p.finish()
	params := protocol.Restore{Path: r.Path, Checksum: d.checksum, DryRun: dry}
	err := d.client.CallProgress(d.a.ctx, "admin.restore", params, &r.Restored, p.wireShare(restoreStages))
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
	a        *app
	at       *storeAccess
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
			WithHint("see that it is the right file; nothing was changed")
	}
	r.Manifest, f.looked = *m, true
	there, err := kv.Exists(nil, f.at.dir)
	if err != nil || !there {
		return err
	}
	p := newProgress(f.a.err)
	p.report("reading the store", 0, 0)
	defer p.finish()
	opts := f.at.conf.store.options()
	found, err := kv.Inspect(f.a.ctx, f.at.dir, opts)
	if err != nil {
		return err
	}
	if found.Refused != "" {
		if found.Condition != kv.Damaged { // it is of a newer format
			return fault.New(fault.Unavailable, "%s", found.Refused).WithHint("%s", found.Hint)
		}
		opts.Salvage, f.salvage = true, true
		if found, err = kv.Inspect(f.a.ctx, f.at.dir, opts); err != nil {
			return err
		}
	}
	n := found.Collections
	r.Current = protocol.Counts{Seq: found.Seq, Records: found.Records, Notes: n["note"], Entities: n["entity"], Types: n["type"], Vaults: n["vault"]}
	r.Unreadable = found.Refused != ""
	return nil
}

func (f *folderRestorer) restore(r *restored) error {
	if !f.looked {
		if err := f.look(r); err != nil {
			return err
		}
	}
	p := newProgress(f.a.err)
	defer p.finish()
	p.report("opening the store", 0, 0)
	db, err := f.at.open(f.salvage)
	if err != nil {
		return f.explain(err)
	}
	if r.Current.Records > 0 {
		r.Previous = rpc.ReplacedFile(f.at.dir, time.Now())
	}
	_, err = db.Restore(f.a.ctx, r.Path, kv.RestoreOptions{
		Checksum: r.Checksum, Keep: r.Previous, Program: programName(), Progress: p.share(restoreStages["restore"]),
	})
	if err != nil {
		if r.Previous != "" && db.Status().Mode == "read-write" {
			_ = os.Remove(r.Previous) // the state that it is a copy of stays; else that is not known
		}
		return errors.Join(err, db.Close())
	}
	if r.Previous != "" {
		rpc.RemoveReplaced(f.at.dir, r.Previous)
	}
	r.Restored.Restored = true
	return nil
}

// explain says what to do about a store of which so little is left that it can't
// be opened: its own error would have a backup restored.
func (f *folderRestorer) explain(err error) error {
	if fault.KindOf(err) == fault.Unavailable {
		return hinted(err, "move the folder away, and restore again: mv "+quoted(f.at.dir)+" "+quoted(f.at.dir+".damaged"))
	}
	return err
}

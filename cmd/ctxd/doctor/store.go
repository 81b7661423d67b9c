package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/daemon"
	"github.com/ctxd/ctxd/cmd/ctxd/store"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type storeCmd struct {
	Compare bool `xor:"what" help:"Have the running daemon rebuild its indexes and views from the records, compare them with what it served, and use the rebuilt ones. Calls wait meanwhile; clients stay connected."`
	Salvage bool `xor:"what" help:"Recover what is intact when no daemon can open the store any more. The damaged files are kept."`
}

func (storeCmd) Help() string {
	return "Reads every file of the store and checks each record, as a daemon does when it starts, and changes nothing. " +
		"An unfinished write at the end is normal after a crash or a power cut: " +
		"nobody was told that it was stored. The exit status is 1 if the store is damaged."
}

func (storeCmd) Examples() []term.Example {
	return []term.Example{
		{"ctxd doctor store", "is everything there?"},
		{"ctxd doctor store --data /mnt/old/ctxd", "in another folder"},
		{"ctxd doctor store --compare", "does the daemon show what is stored?"},
		{"ctxd doctor store --salvage", "when no daemon starts any more, and there is no backup"},
		{"ctxd doctor store --json | jq .store.files", "for scripts"},
	}
}

func (c *storeCmd) Run(a *Options, parent *Command) error {
	conf, err := a.Load(config.Given{"data": term.NonEmpty(parent.Data)})
	if err != nil {
		return err
	}
	d, err := diagnose(a, conf)
	if err != nil {
		return err
	}
	if c.Salvage {
		return d.salvage(a)
	}
	if c.Compare && d.State != stateError {
		if err := d.compare(a); err != nil {
			return err
		}
	}
	if a.JSON {
		if err := a.Out.JSON(d); err != nil {
			return err
		}
	} else {
		d.draw(a.Out)
	}
	return d.err()
}

// diagnosis is what was found of a store and of the daemon that has it.
type diagnosis struct {
	State   string         `json:"state"` // ok, warning or error
	Verdict string         `json:"verdict"`
	Hint    string         `json:"hint,omitempty"`
	Store   *kv.Inspection `json:"store"`
	// Salvage is what --salvage would put together of a store that a start
	// refuses.
	Salvage *kv.Inspection `json:"salvage,omitempty"`
	Daemon  *holder        `json:"daemon,omitempty"`
	// Compared is what --compare found.
	Compared *protocol.Checked `json:"compared,omitempty"`

	conf *config.Config
}

// holder is the daemon that has a store, and what it says.
type holder struct {
	daemon.Owner
	Health *protocol.Health `json:"health,omitempty"` // absent when it does not answer
	Silent string           `json:"silent,omitempty"` // why it does not
}

// The states of what a doctor looks at.
const (
	stateOK      = "ok"
	stateWarning = "warning"
	stateError   = "error"
)

// diagnose looks at the store of a configuration. Without one the error is
// NotFound.
func diagnose(a *Options, conf *config.Config) (*diagnosis, error) {
	there, err := kv.Exists(nil, conf.Data)
	if err != nil {
		return nil, err
	}
	d := &diagnosis{conf: conf, Daemon: findHolder(a.Ctx, conf.Data)}
	switch {
	case there:
		err = d.read(a)
	case d.Daemon != nil: // somebody has deleted them
		d.Store = &kv.Inspection{
			Dir: conf.Data, Files: []kv.InspectedFile{}, Condition: kv.Damaged,
			Refused: "its files are missing",
		}
	default:
		err = fault.New(fault.NotFound, "there is no store in %q", conf.Data).WithRef(conf.Data).
			WithHint("give its folder with --data, or create one: ctxd serve --vault ~/Notes")
	}
	if err != nil {
		return nil, err
	}
	d.judge()
	return d, nil
}

// read reads the files of the store.
func (d *diagnosis) read(a *Options) (err error) {
	p := term.NewProgress(a.Err)
	p.Report("reading the store", 0, 0)
	defer p.Finish()
	opts := daemon.StoreOptions(d.conf.Store)
	// While a daemon writes, a look may fall between two steps of what belongs
	// together, so damage has to be seen again.
	for range 3 {
		d.Store, err = kv.Inspect(a.Ctx, d.conf.Data, opts)
		if err != nil || d.Daemon == nil || d.Store.Condition != kv.Damaged {
			break
		}
	}
	if err == nil && d.Store.Refused != "" && d.Store.Condition == kv.Damaged {
		opts.Salvage = true
		d.Salvage, err = kv.Inspect(a.Ctx, d.conf.Data, opts)
	}
	return store.WithReason(err)
}

// findHolder returns the daemon that has the data in a folder, nil when none has.
func findHolder(ctx context.Context, dir string) *holder {
	o, err := daemon.ReadSignature(dir)
	if err != nil || !daemon.Running(o.PID) {
		return nil
	}
	h := &holder{Owner: o}
	h.Health, err = connect.HealthFrom(ctx, o.Socket, connect.AnswerLimit)
	if err != nil {
		h.Silent = fault.Message(err)
	}
	return h
}

// What there is to do about a damaged store.
const (
	hintBackupFirst = "first back it up to another disk: ctxd backup FILE; then rebuild the store from that: ctxd restore FILE"
	hintSalvage     = "restore a backup with ctxd restore FILE, or recover what is intact: ctxd doctor store --salvage"
	hintNothing     = "restore a backup with ctxd restore FILE; without one, move the folder away and import your notes again: ctxd import ~/Notes"
	hintLoss        = "restore a backup with ctxd restore FILE, or continue with what is left: ctxd serve keeps the damaged files aside"
)

// judge finds the verdict.
func (d *diagnosis) judge() {
	set := func(state, verdict, hint string) { d.State, d.Verdict, d.Hint = state, verdict, hint }
	in := d.Store
	damaged := in.Condition == kv.Damaged
	switch {
	case damaged && d.Daemon != nil:
		set(stateError, "damaged on disk, but still complete in the memory of the daemon", hintBackupFirst)
	case in.Refused != "" && !damaged: // it is of a newer format
		set(stateError, "not for this version: "+in.Refused, in.Hint)
	case in.Refused != "" && d.Salvage.Records == 0:
		set(stateError, "damaged, and no daemon can open it", hintNothing)
	case in.Refused != "":
		set(stateError, "damaged, and no daemon can open it", hintSalvage)
	case damaged && in.Start.Lost == 0 && in.Start.LostPieces == 0:
		set(stateError, "damaged, but nothing is missing: other files hold the same records", "ctxd serve repairs it when it starts")
	case damaged:
		set(stateError, "damaged: "+lossInWords(in.Start), hintLoss)
	case in.Condition == kv.Torn && d.Daemon == nil:
		set(stateOK, "intact, with an unfinished write at the end, which is normal after a crash", "")
	default: // what a daemon is just writing is unfinished
		set(stateOK, "whole", "")
	}
	if d.State == stateOK && d.Daemon != nil {
		d.listen()
	}
}

// listen takes into account what the daemon says of itself.
func (d *diagnosis) listen() {
	h := d.Daemon.Health
	switch {
	case h == nil:
		d.State, d.Verdict, d.Hint = stateWarning, d.Verdict+"; the daemon that owns it does not answer", "ctxd inspect log"
	case h.Store.Seq > d.Store.Seq:
		d.State, d.Hint = stateError, hintBackupFirst
		d.Verdict = fmt.Sprintf("damaged: the daemon has transaction %s, the files end at %s", term.Number(h.Store.Seq),
			term.Number(d.Store.Seq))
	case h.Store.Reason != "":
		d.State, d.Verdict, d.Hint = stateError, d.Verdict+"; the daemon takes no writes: "+h.Store.Reason, "check the disk, then: ctxd stop && ctxd serve"
	}
}

// lossInWords says in one sentence what a start would find missing.
func lossInWords(r kv.Recovery) string {
	var parts []string
	if r.Lost > 0 {
		parts = append(parts, store.Counted(r.Lost, "acknowledged transaction", "missing"))
	}
	if r.LostPieces > 0 {
		parts = append(parts, store.Counted(r.LostPieces, "piece", "unreadable"))
	}
	return strings.Join(parts, ", ")
}

// err is the error that a damaged store is.
func (d *diagnosis) err() error {
	if d.State != stateError {
		return nil
	}
	return fault.New(fault.Unavailable, "the store is %s", d.Verdict).WithHint("%s", d.Hint)
}

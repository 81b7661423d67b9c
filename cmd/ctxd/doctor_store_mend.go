package main

import (
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// compare has the daemon compare what it serves with what is stored.
func (d *diagnosis) compare(a *app) error {
	if d.Daemon == nil {
		return fault.New(fault.Unavailable, "no daemon has the store, so there is nothing to compare").WithHint("ctxd serve, or leave --compare out")
	}
	cl, err := a.dialTo(d.Daemon.Socket, client.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = cl.Close() }() // the answer is here
	p := newProgress(a.err)
	defer p.finish()
	d.Compared = new(protocol.Checked)
	stages := map[string]string{"files": "reading the files", "views": "comparing"}
	if err := cl.CallProgress(a.ctx, "admin.check", nil, d.Compared, p.wireShare(stages)); err != nil {
		return err
	}
	switch {
	case len(d.Compared.Problems) > 0:
		d.State, d.Verdict, d.Hint = stateError, "damaged: "+d.Compared.Problems[0], hintBackupFirst
	case len(d.Compared.Drift) > 0:
		d.State, d.Verdict = stateWarning, d.Verdict+"; what the daemon made of it was not right, and is now"
	}
	return nil
}

// salvaged is what was put together of a damaged store, as --json prints it.
type salvaged struct {
	Salvaged  bool           `json:"salvaged"` // false: there was no need
	Recovered *kv.Recovery   `json:"recovered,omitempty"`
	Store     *kv.Inspection `json:"store"` // as it is now
}

// salvage puts together what is intact of a store that a start refuses.
func (d *diagnosis) salvage(a *app) error {
	out := salvaged{Store: d.Store}
	switch {
	case d.Store.Refused == "":
		if !a.JSON {
			a.out.say(styled(good, "nothing to put together"), text("  a daemon starts on this store"))
			drawPlain(a.out, "ctxd doctor store says what it would find.")
		}
	case d.Salvage == nil:
		return fault.New(fault.Unavailable, "%s", d.Store.Refused).WithHint("%s", d.Store.Hint)
	case d.Salvage.Records == 0:
		return fault.New(fault.Unavailable, "nothing of the store is intact").WithHint(hintNothing)
	default:
		if err := d.putTogether(a, &out); err != nil {
			return err
		}
	}
	if a.JSON {
		return a.out.json(out)
	}
	return nil
}

func (d *diagnosis) putTogether(a *app, out *salvaged) error {
	access := &storeAccess{dir: d.conf.data, conf: d.conf}
	db, err := access.open(true)
	if err != nil {
		return err
	}
	found := db.Status().Recovered
	if err := db.Close(); err != nil {
		return err
	}
	if out.Store, err = kv.Inspect(a.ctx, d.conf.data, d.conf.store.options()); err != nil {
		return err
	}
	out.Salvaged, out.Recovered = true, &found
	if a.JSON {
		return nil
	}
	a.out.say(styled(good, "put together"), text("  the store can be started on again"))
	drawWrapped(a.out, "holds", recordsInWords(out.Store.Collections))
	drawLines(a.out, "found", recoveredInWords(found))
	for _, name := range found.Damaged {
		a.out.sayWhole(labelled("kept"), text(name))
	}
	a.out.say(labelled("next"), text("ctxd serve"))
	return nil
}

package doctor

import (
	"fmt"

	"github.com/ctxd/ctxd/cmd/ctxd/daemon"
	"github.com/ctxd/ctxd/cmd/ctxd/store"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// compare has the daemon compare what it serves with what is stored.
func (d *diagnosis) compare(a *Options) error {
	if d.Daemon == nil {
		return fault.New(fault.Unavailable, "no daemon has the store open, so there is nothing to compare").
			WithHint("start ctxd serve, or leave out --compare")
	}
	cl, err := a.DialTo(d.Daemon.Socket, client.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = cl.Close() }() // the answer is here
	p := term.NewProgress(a.Err)
	defer p.Finish()
	d.Compared = new(protocol.Checked)
	stages := map[string]string{"files": "reading the files", "views": "comparing"}
	if err := cl.CallProgress(a.Ctx, "admin.check", nil, d.Compared, p.WireShare(stages)); err != nil {
		return err
	}
	switch {
	case len(d.Compared.Problems) > 0 && d.Compared.Compared: // the files are whole
		d.State, d.Verdict, d.Hint = stateError, "some records don't fit together: "+d.Compared.Problems[0], d.Compared.Hint
	case len(d.Compared.Problems) > 0:
		d.State, d.Verdict, d.Hint = stateError, "damaged: "+d.Compared.Problems[0], hintBackupFirst
	case len(d.Compared.Mended) > 0:
		d.State = stateWarning
		d.Verdict += fmt.Sprintf("; %d records did not fit together and have been mended: %s", len(d.Compared.Mended), d.Compared.Mended[0])
	case len(d.Compared.Drift) > 0:
		d.State, d.Verdict = stateWarning, d.Verdict+"; what the daemon had derived from it was wrong and has been repaired"
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
func (d *diagnosis) salvage(a *Options) error {
	out := salvaged{Store: d.Store}
	switch {
	case d.Store.Refused == "":
		if !a.JSON {
			a.Out.Say(term.Styled(term.Good, "nothing to recover"), term.Text("  a daemon can open this store"))
			term.DrawPlain(a.Out, "ctxd doctor store shows what it would find.")
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
		return a.Out.JSON(out)
	}
	return nil
}

func (d *diagnosis) putTogether(a *Options, out *salvaged) error {
	access := &store.Access{Dir: d.conf.Data, Conf: d.conf}
	db, err := access.Open(true)
	if err != nil {
		return err
	}
	found := db.Status().Recovered
	if err := db.Close(); err != nil {
		return err
	}
	out.Store, err = kv.Inspect(a.Ctx, d.conf.Data, daemon.StoreOptions(d.conf.Store))
	if err != nil {
		return err
	}
	out.Salvaged, out.Recovered = true, &found
	if a.JSON {
		return nil
	}
	a.Out.Say(term.Styled(term.Good, "put together"), term.Text("  a daemon can open the store again"))
	term.DrawWrapped(a.Out, "holds", store.RecordsInWords(out.Store.Collections))
	term.DrawLines(a.Out, "found", store.RecoveredInWords(found))
	for _, name := range found.Damaged {
		a.Out.SayWhole(term.Labelled("kept"), term.Text(name))
	}
	a.Out.Say(term.Labelled("next"), term.Text("ctxd serve"))
	return nil
}

package transfer

import (
	"context"
	"errors"
	"io"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/fault"
)

// A file of more than wholeBytes is written in groups of groupBytes. Tests set less.
var (
	wholeBytes int64 = chat.MaxGroup
	groupBytes int64 = chat.MaxGroup / 4
)

// JSONImportOptions say how to import. The zero value works.
type JSONImportOptions struct {
	DryRun   bool                    // only tell what would be done
	Private  bool                    // make a new conversation private
	Hide     bool                    // make the conversation private, also one that is there
	Progress func(done, total int64) // in bytes; nil: nobody asks
}

// JSONImportResult says what has become of an export.
type JSONImportResult struct {
	ConversationID string
	Begun          bool // the conversation was there
	Messages       int  // that were stored
	Known          int  // that were there
	HandleTaken    bool // it has another handle than in the file
}

// ImportJSON takes in an export as JSON of size bytes. A conversation that is there, with messages that the file begins
// with, goes on with those behind them; one that has all of them stays as it is.
//
// The errors are Invalid and Limit, with the place, for a file that no export can be, Conflict for a conversation that
// goes on otherwise here, and Unavailable for a reader who does not see everything. After these nothing is changed.
func ImportJSON(ctx context.Context, store *chat.Store, v *audience.View, r io.ReaderAt, size int64, o JSONImportOptions,
) (out *JSONImportResult, err error) {
	x := &importer{JSONImportOptions: o, ctx: ctx, store: store, view: v, size: size}
	if x.Progress == nil {
		x.Progress = func(int64, int64) {}
	}
	whole := func() io.Reader { return io.NewSectionReader(r, 0, size) }
	if err := read(ctx, whole(), x.begin, x.check); err != nil {
		return nil, err
	}
	planned, err := x.intake.Plan(ctx)
	if err != nil {
		return nil, underPath(err)
	}
	out = &JSONImportResult{ConversationID: x.id, Begun: planned.Begun, Messages: planned.Messages, Known: planned.Known}
	if o.Hide && planned.Begun && !o.DryRun {
		if _, err := store.Update(ctx, v, x.id, chat.Change{Settings: chat.Settings{Private: &o.Hide}}); err != nil {
			return nil, err
		}
	}
	if o.DryRun || planned.Begun && planned.Messages == 0 {
		return out, nil
	}
	same := func(*chat.Record) error { return nil }
	if err := read(ctx, whole(), same, x.take); err != nil {
		return nil, err
	}
	err = x.write(true)
	out.HandleTaken = x.handleTaken
	return out, err
}

// underPath names the parameter that an error is about.
func underPath(err error) error {
	var known *fault.Error
	if errors.As(err, &known) && known.Kind == fault.Invalid {
		e := *known
		e.Field = "path"
		return e.WithHint("give a file that ctxd chat export wrote, as it was written; nothing was imported")
	}
	return err
}

// importer is the state of one import.
type importer struct {
	JSONImportOptions
	ctx    context.Context
	store  *chat.Store
	view   *audience.View
	size   int64 // of the file
	id     string
	intake *chat.Intake

	group       []*chat.Message
	begun, at   int64 // offsets in the file: of the group, and behind it
	handleTaken bool
}

func (x *importer) begin(c *chat.Record) (err error) {
	c.Private = c.Private || x.Private || x.Hide
	x.id = c.ID
	x.intake, err = x.store.NewIntake(x.view, c)
	return err
}

func (x *importer) check(m *chat.Message, at int64) error {
	x.Progress(at/2, x.size)
	return x.intake.Check(m)
}

func (x *importer) take(m *chat.Message, at int64) error {
	x.group, x.at = append(x.group, m), at
	if x.size > wholeBytes && at-x.begun > groupBytes {
		return x.write(false)
	}
	return nil
}

func (x *importer) write(last bool) error {
	taken, err := x.intake.Write(x.ctx, x.group, last)
	if err != nil {
		return err
	}
	x.handleTaken = x.handleTaken || taken
	x.group, x.begun = x.group[:0], x.at
	x.Progress(x.size/2+x.at/2, x.size)
	return nil
}

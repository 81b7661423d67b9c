package send

// Spending is what language models were asked, as the store keeps it: tokens and requests by day, provider, model and
// whether somebody waited, in the collection chat-spending. Counting and refusing are done by the ledger of chat/llm,
// which lives as long as the daemon; this file gives it the rows of a store, and writes those that change.
//
// Rows are written after each answer, before its caller has it, in a transaction of its own: an answer takes seconds, a
// transaction milliseconds. A daemon that is killed loses at most the answers that were still arriving. A row that
// can't be written, since the disk is full, counts all the same and is written with the next.
//
// What was spent is spent: a store that is restored from a backup gets the rows that were counted since then, so a
// budget does not begin anew. Rows of days that are too long ago are deleted by the next write.
//
// The daemon calls it when it opens a store, and admin.check does. Nothing has to be closed: the ledger is given
// another store, or none. All functions may be called concurrently.

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

// row is what one model of one provider was given and gave on one day.
type row struct {
	Day        string `json:"day"`
	Provider   string `json:"provider"`
	Model      string `json:"model"`
	Background bool   `json:"background,omitempty"`
	Requests   int64  `json:"requests"`
	In         int64  `json:"in"`
	Out        int64  `json:"out"`
	Estimated  int64  `json:"estimated,omitempty"`
}

// rows begin with their day, so the oldest come first.
// rows are Local: they are what the ledger of this machine has counted.
var rows = kv.NewCollection[row]("chat-spending").Local()

func (r *row) id() string {
	who := "user"
	if r.Background {
		who = "background"
	}
	return fmt.Sprintf("%s/%s/%s/%s", r.Day, r.Provider, who, r.Model)
}

// sound reports whether a row is one that was written here.
func (r *row) sound(id string) bool {
	_, err := time.Parse(time.DateOnly, r.Day)
	return err == nil && r.id() == id && r.Requests > 0 && min(r.In, r.Out, r.Estimated) >= 0
}

// spendingWriteTimeout is how long the store may take before a row may be written; it then waits for the next.
const spendingWriteTimeout = 10 * time.Second

// OpenSpending gives a ledger the rows of a store, and has it keep those that change there from now on. Rows that
// can't be read count as none; the log says so.
func OpenSpending(db *kv.Store, ledger *llm.Ledger, log *slog.Logger) error {
	var kept []llm.Spent
	read := func(tx *kv.Tx) error {
		kept = nil
		for id, r := range rows.All(tx, "") {
			if r.sound(id) {
				kept = append(kept, llm.Spent(*r))
			} else if db.Unmended() {
				if err := rows.Delete(tx, id); err != nil {
					return err
				}
			}
		}
		return nil
	}
	open := db.View
	if db.Unmended() { // rows that are none go
		open = db.Update
	}
	err := open(context.Background(), read)
	if fault.KindOf(err) == fault.Unavailable {
		return err
	} else if err != nil {
		log.Warn("some of what was spent on language models can't be read, and counts as nothing", "error", fault.Message(err))
	}
	ledger.KeepIn(kept, func(changed []llm.Spent, oldest string) error {
		err := write(db, changed, oldest)
		if err != nil {
			log.Warn("what was spent on language models is not written yet", "error", fault.Message(err))
		}
		return err
	})
	return nil
}

// write keeps rows, and deletes those of days before the oldest.
func write(db *kv.Store, changed []llm.Spent, oldest string) error {
	ctx, cancel := context.WithTimeout(context.Background(), spendingWriteTimeout) // who asked may have left
	defer cancel()
	return db.Update(ctx, func(tx *kv.Tx) error {
		for i := range changed {
			r := row(changed[i])
			if err := rows.Put(tx, r.id(), &r); err != nil {
				return err
			}
		}
		for id := range rows.All(tx, "") {
			if id >= oldest {
				break
			}
			if err := rows.Delete(tx, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// CheckSpending says which rows are none that were written here. They are named by day and provider alone.
func CheckSpending(tx *kv.Tx) (problems []string, err error) {
	for id, r := range rows.All(tx, "") {
		if !r.sound(id) {
			problems = append(problems, fmt.Sprintf("what was spent on %s for the provider %s is not what was counted", r.Day, r.Provider))
		}
	}
	return problems, tx.Err()
}

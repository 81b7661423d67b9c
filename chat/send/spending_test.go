package send_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/chat/send"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// answers is a provider each of whose answers costs the same.
type answers struct{ llm.Provider }

func (answers) Info() llm.Info { return llm.Info{Name: "ours", Kind: llm.OpenAI} }

func (answers) Stream(context.Context, *llm.Request, func(llm.Delta) error) (llm.Answer, error) {
	return llm.Answer{Model: "m/1", Usage: llm.Usage{In: 10, Out: 5}}, nil
}

// ask asks for an answer over a ledger.
func ask(t *testing.T, l *llm.Ledger, background bool) error {
	t.Helper()
	r := &llm.Request{Background: background, Messages: []llm.Message{{Role: llm.User, Text: "Hi"}}}
	_, err := l.Over(answers{}).Stream(t.Context(), r, nil)
	return err
}

func ledgerAt(now *time.Time, b llm.Budget) *llm.Ledger {
	return llm.NewLedger(b, func() time.Time { return *now })
}

func openSpending(t *testing.T, dir string) *kv.Store {
	t.Helper()
	db, err := kv.Open(dir, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func attach(t *testing.T, db *kv.Store, l *llm.Ledger) *bytes.Buffer {
	t.Helper()
	var log bytes.Buffer
	if err := send.OpenSpending(db, l, slog.New(slog.NewTextHandler(&log, nil))); err != nil {
		t.Fatal(err)
	}
	return &log
}

func closed(t *testing.T, db *kv.Store) {
	t.Helper()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// stored is what a ledger finds in a store.
func stored(t *testing.T, db *kv.Store, now time.Time) []llm.Spent {
	t.Helper()
	l := ledgerAt(&now, llm.Budget{})
	attach(t, db, l)
	return l.Rows()
}

// TestCHAT38_SpendingIsKept over a restart, with what nobody waited for apart.
func TestCHAT38_SpendingIsKept(t *testing.T) {
	dir, now := t.TempDir(), noon
	db := openSpending(t, dir)
	l := ledgerAt(&now, llm.Budget{})
	attach(t, db, l)
	for _, background := range []bool{false, true, false} {
		if err := ask(t, l, background); err != nil {
			t.Fatal(err)
		}
	}
	closed(t, db)
	db = openSpending(t, dir)
	defer closed(t, db)
	want := []llm.Spent{
		{Day: "2026-03-01", Provider: "ours", Model: "m/1", Requests: 2, In: 20, Out: 10},
		{Day: "2026-03-01", Provider: "ours", Model: "m/1", Background: true, Requests: 1, In: 10, Out: 5},
	}
	if diff := cmp.Diff(want, stored(t, db, now)); diff != "" {
		t.Error(diff)
	}
	if err := db.View(t.Context(), func(tx *kv.Tx) error {
		problems, err := send.CheckSpending(tx)
		if len(problems) > 0 {
			t.Errorf("%v", problems)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}

// TestCHAT38_ABudgetHoldsOverARestart on the same day, and not on the next.
func TestCHAT38_ABudgetHoldsOverARestart(t *testing.T) {
	dir, now := t.TempDir(), noon
	for start, refused := range []bool{false, true} {
		db := openSpending(t, dir)
		l := ledgerAt(&now, llm.Budget{TokensPerDay: 15})
		attach(t, db, l)
		var f *fault.Error
		switch err := ask(t, l, false); {
		case !refused && err != nil:
			t.Errorf("start %d: %v", start, err)
		case refused && (!errors.As(err, &f) || f.Kind != fault.Limit || !f.Retryable || !strings.Contains(f.Msg, "15 of 15 tokens")):
			t.Errorf("start %d: %v", start, err)
		}
		if refused {
			now = now.Add(12 * time.Hour)
			if err := ask(t, l, false); err != nil {
				t.Errorf("the next day: %v", err)
			}
		}
		closed(t, db)
	}
}

// TestCHAT38_OldDaysAreDropped from the store, too.
func TestCHAT38_OldDaysAreDropped(t *testing.T) {
	db, now := openSpending(t, kv.InMemory), noon
	defer closed(t, db)
	l := ledgerAt(&now, llm.Budget{})
	attach(t, db, l)
	for _, days := range []int{0, 1, 400} {
		now = noon.AddDate(0, 0, days)
		if err := ask(t, l, false); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(stored(t, db, noon)); n != 3 {
		t.Errorf("%d rows after 400 days, want 3", n)
	}
	now = noon.AddDate(0, 0, 401)
	if err := ask(t, l, false); err != nil {
		t.Fatal(err)
	}
	got := stored(t, db, noon)
	if len(got) != 3 || got[0].Day != "2026-03-02" || len(l.Rows()) != 3 {
		t.Errorf("%+v, %+v", got, l.Rows())
	}
}

// TestCHAT38_ARestoreGivesNothingBack: what was spent since a backup stays spent.
func TestCHAT38_ARestoreGivesNothingBack(t *testing.T) {
	now, file := noon, filepath.Join(t.TempDir(), "backup")
	db := openSpending(t, t.TempDir())
	l := ledgerAt(&now, llm.Budget{})
	attach(t, db, l)
	for i := range 3 {
		if err := ask(t, l, false); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			if _, err := db.Backup(t.Context(), file, kv.BackupOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := db.Restore(t.Context(), file, kv.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	_ = db.Close() // it is replaced
	db = openSpending(t, db.Dir())
	defer closed(t, db)
	if got := stored(t, db, now); len(got) != 1 || got[0].Requests != 1 {
		t.Errorf("the backup holds %+v", got)
	}
	attach(t, db, l)
	if got := stored(t, db, now); len(got) != 1 || got[0].Requests != 3 || got[0].In != 30 || l.Rows()[0] != got[0] {
		t.Errorf("%+v", got)
	}
}

// TestCHAT38_WhatCantBeWrittenIsWrittenLater, and an answer is given all the same.
func TestCHAT38_WhatCantBeWrittenIsWrittenLater(t *testing.T) {
	now := noon
	db := openSpending(t, kv.InMemory)
	l := ledgerAt(&now, llm.Budget{})
	log := attach(t, db, l)
	closed(t, db)
	if err := ask(t, l, false); err != nil || !strings.Contains(log.String(), "not written yet") {
		t.Errorf("%v, %s", err, log)
	}
	db = openSpending(t, kv.InMemory)
	defer closed(t, db)
	attach(t, db, l)
	if got := stored(t, db, now); len(got) != 1 || got[0].Requests != 1 {
		t.Errorf("%+v", got)
	}
	if err := ask(t, l, false); err != nil {
		t.Fatal(err)
	}
	if got := stored(t, db, now); len(got) != 1 || got[0].Requests != 2 {
		t.Errorf("%+v", got)
	}
}

// TestREL16_RowsThatAreNoneGo when a check has found them.
func TestREL16_RowsThatAreNoneGo(t *testing.T) {
	db := openSpending(t, t.TempDir())
	defer closed(t, db)
	type any map[string]interface{}
	if err := db.Update(t.Context(), func(tx *kv.Tx) error {
		return kv.NewCollection[any]("chat-spending").Put(tx, "soon/ours/user/n", &any{"day": "soon", "provider": "ours", "model": "n", "requests": 1})
	}); err != nil {
		t.Fatal(err)
	}
	problems := func() (list []string) {
		if err := db.View(t.Context(), func(tx *kv.Tx) (err error) {
			list, err = send.CheckSpending(tx)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return list
	}
	attach(t, db, ledgerAt(new(time.Time), llm.Budget{}))
	if list := problems(); len(list) != 1 {
		t.Fatalf("%q", list)
	}
	if err := db.Unfit(); err != nil {
		t.Fatal(err)
	}
	attach(t, db, ledgerAt(new(time.Time), llm.Budget{}))
	if list := problems(); len(list) != 0 {
		t.Errorf("%q", list)
	}
}

// TestCHAT38_RowsThatAreNoneCountAsNone, and Check names them.
func TestCHAT38_RowsThatAreNoneCountAsNone(t *testing.T) {
	db := openSpending(t, kv.InMemory)
	defer closed(t, db)
	type any map[string]interface{}
	raw := kv.NewCollection[any]("chat-spending")
	if err := db.Update(t.Context(), func(tx *kv.Tx) error {
		return errors.Join(
			raw.Put(tx, "2026-03-01/ours/user/m", &any{"day": "2026-03-01", "provider": "ours", "model": "m", "requests": 1, "in": -5}),
			raw.Put(tx, "2026-03-01/ours/user/n", &any{"day": "2026-03-02", "provider": "ours", "model": "n", "requests": 1}),
			raw.Put(tx, "soon/ours/user/n", &any{"day": "soon", "provider": "ours", "model": "n", "requests": 1}),
			raw.Put(tx, "2026-03-01/ours/user/o", &any{"day": "2026-03-01", "provider": "ours", "model": "o", "requests": 1, "in": 7}),
		)
	}); err != nil {
		t.Fatal(err)
	}
	if got := stored(t, db, noon); len(got) != 1 || got[0].Model != "o" {
		t.Errorf("%+v", got)
	}
	if err := db.View(t.Context(), func(tx *kv.Tx) error {
		problems, err := send.CheckSpending(tx)
		if len(problems) != 3 {
			t.Errorf("%q", problems)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}

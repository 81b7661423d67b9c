package kv

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/tidwall/buntdb"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/disk"
	"github.com/ctxd/ctxd/entities/kv/outbox"
)

// formatKey holds the format of the records, written by the transaction that
// brought them into it.
const formatKey = disk.FormatKey

// stampFormat adds the format to the writes of a transaction when the store
// is not marked with it yet. Called with the writer lock held.
func (s *Store) stampFormat(writes []write) []write {
	if s.format == s.opts.Format {
		return writes
	}
	old, had := s.latest(formatKey)
	return append(writes, write{key: formatKey, raw: strconv.Itoa(s.opts.Format), old: old, had: had})
}

// Format returns the format that the applied records say they have, 0
// when they say nothing.
func (s *Store) Format() (format int) {
	_ = s.db.View(func(b *buntdb.Tx) error {
		raw, err := b.Get(formatKey)
		if err == nil {
			format, err = strconv.Atoi(raw)
		}
		return err
	})
	return format
}

// checkFormat refuses a store whose records are newer than the program.
func (s *Store) checkFormat() error {
	raw, ok := s.latest(formatKey)
	if !ok {
		return nil
	}
	format, err := strconv.Atoi(raw)
	if err != nil {
		return fault.Wrap(fault.Unavailable, disk.ErrDamaged, "the store does not say which format it has").
			WithHint("restore a backup; the files are unchanged")
	}
	if format > s.opts.Format {
		return fault.New(fault.Unavailable, "the store has records of format %d, this program knows formats up to %d",
			format, s.opts.Format).WithHint("install the newer version of ctxd that wrote it")
	}
	s.format = format
	return nil
}

// upgrade brings the records of an older store into the program's format. The
// old state is kept beside as a backup, since an older program can't read the
// new one.
func (s *Store) upgrade() error {
	from, to := s.format, s.opts.Format
	if s.opts.Upgrade == nil && s.opts.Log == nil || s.opts.Replace || s.seq.Load() == 0 || from == to {
		return nil
	}
	ctx := context.Background()
	writes, err := s.upgraded(from)
	keep := filepath.Join(s.dir, fmt.Sprintf("before-format-%d%s", to, disk.BackupSuffix))
	if err == nil {
		s.beginCapture()
		_, err = s.writeBackup(ctx, keep, BackupOptions{Overwrite: true})
		s.endCapture()
	}
	if err == nil {
		err = s.applyUpgrade(ctx, writes)
		if err != nil && s.writable() == nil && s.format == from {
			_ = s.opts.FS.Remove(keep) // the state that it is a copy of stays, and the next try needs the room
		}
	}
	if err != nil {
		return fault.Wrap(fault.Unavailable, err,
			"the store has records of format %d, and they could not be brought into format %d", from, to).
			WithHint(hintUpgrade)
	}
	s.log.Info("kv: the records were brought into a newer format", "from", from, "to", to, "records", len(writes),
		"backup", filepath.Base(keep))
	return nil
}

const hintUpgrade = "see that the disk has room for three times the data, and start again; nothing was changed"

// upgraded returns what the records have to become.
func (s *Store) upgraded(from int) ([]write, error) {
	tx := Tx{s: s, writable: true}
	defer func() { tx.over = true }()
	// What waits is done again by the new program, on records of the new format.
	err := outbox.TakeBack(rawTx{&tx})
	if err == nil {
		err = s.settle(&tx, from)
	}
	if err == nil && s.opts.Upgrade != nil {
		err = errors.Join(s.opts.Upgrade(&tx, from), tx.err)
	}
	if err != nil {
		return nil, err
	}
	for i := range tx.writes {
		if w := &tx.writes[i]; !w.deleted && w.of != nil {
			if _, err := w.of.Decode(w.raw); err != nil {
				_, id := w.of.Split(w.key)
				return nil, fault.Wrap(fault.Internal, err, "an upgraded record can't be read back").WithRef(id)
			}
		}
	}
	return tx.writes, nil
}

// applyUpgrade changes the records in memory and replaces the state on disk.
func (s *Store) applyUpgrade(ctx context.Context, writes []write) error {
	in := s.batch()
	writes = s.stampFormat(writes)
	for i := range writes {
		w := &writes[i]
		if err := in.Write([]byte(w.key), []byte(w.raw), w.deleted); err != nil {
			return errors.Join(err, in.Close())
		}
	}
	if err := in.Close(); err != nil {
		return err
	}
	seq := s.seq.Load() + 1
	err := s.replaceState(ctx, seq, func() (func([]disk.Pair) ([]disk.Pair, bool, error), func(), error) {
		s.beginCapture()
		return s.nextChunk, s.endCapture, nil
	})
	if err != nil {
		return err
	}
	s.format, s.written = s.opts.Format, seq
	s.seq.Store(seq)
	s.at.Store(0)
	s.synced.Store(seq)
	if err := s.rotate(seq + 1); err != nil {
		return err
	}
	s.journal.bytes.Store(0)
	s.files.segments = []disk.ID{s.journal.ID}
	return nil
}

// settle has an upgrade begin with everything of the older format that is in the log. Where it
// can't be used, the upgrade begins with what is here.
func (s *Store) settle(tx *Tx, from int) error {
	raw, known := s.latest(logKey)
	at, err := outbox.ParseApplied(raw)
	if s.opts.Log == nil || s.opts.Leave || !known || err != nil {
		return nil //nolint:nilerr // openReplica says what is wrong
	}
	at, err = outbox.SettleFormat(s.opts.Log, at, from, s.opts.Format, func(sent outbox.SentTransaction, t *outbox.Transaction) error {
		for _, w := range t.Writes {
			if isLocal(disk.Pair{Key: w.Key}) {
				return fault.New(fault.Unavailable, "another machine wrote a record that this one can't have")
			}
			if err := tx.write(w.Key, w.Value, w.Deleted, nil, nil); err != nil {
				return err
			}
		}
		return outbox.Found(rawTx{tx}, sent)
	})
	at.Unmarked = err != nil
	if at.Unmarked {
		s.log.Warn("kv: the records are brought into a newer format without all that other machines have written", "err", err)
	}
	return tx.put(logKey, at.String(), nil)
}

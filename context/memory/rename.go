package memory

import (
	"context"
	"errors"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// errSame ends a transaction that would change nothing.
var errSame = errors.New("the record has the handle already")

// Rename gives a memory another handle; the one that it had goes on leading to it. One that it had before
// may come back. The errors are those of Update, and Conflict for a handle that is taken.
func (s *Store) Rename(ctx context.Context, v *audience.View, id, asked string) (*record.Memory, error) {
	out, err := s.change(ctx, v, id, nil, func(tx *kv.Tx, m *Record, _ time.Time) error {
		if err := writable(m); err != nil {
			return err
		}
		r, err := refs.RenameHandle(refs.MemoryHandle, m.Handle, m.Aliases, asked)
		switch {
		case err != nil:
			return err
		case r.Same:
			return errSame
		}
		m.Handle, m.Aliases = r.Handle, r.Former
		if r.Had {
			return nil
		}
		return s.claim(tx, v, m, asked)
	})
	if errors.Is(err, errSame) {
		return s.after(v, id)
	}
	return out, err
}

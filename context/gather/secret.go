package gather

import (
	"context"
	"crypto/rand"
	"sync"

	"github.com/ctxd/ctxd/entities/kv"
)

// secretRecord is what makes the boundaries of a store its own. It lies among the
// records, so it outlives a restart and comes along with a backup.
type secretRecord struct {
	Key []byte `json:"key"`
}

var secrets = kv.NewCollection[secretRecord]("prompt-secret")

const (
	secretID   = "boundary"
	secretSize = 32
)

// secret keeps the key in memory once it is known.
type secret struct {
	mu     sync.Mutex // guards all, and lets one caller at a time look
	key    []byte
	stored bool
}

// boundaryKey returns the key of the store and makes one when it has none. A
// store that takes no writes is answered for with a key that lasts until
// something can be written, at most as long as the process.
func (g *Gatherer) boundaryKey(ctx context.Context) ([]byte, error) {
	s := &g.secret
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stored {
		return s.key, nil
	}
	var found *secretRecord
	if err := g.store.View(ctx, func(tx *kv.Tx) error {
		found = storedSecret(tx)
		return nil
	}); err != nil {
		return nil, err
	}
	if found == nil {
		if s.key == nil {
			s.key = g.opts.NewSecret()
		}
		err := g.store.Update(ctx, func(tx *kv.Tx) error {
			found = storedSecret(tx)
			if found != nil {
				return nil
			}
			found = &secretRecord{Key: s.key}
			return secrets.Put(tx, secretID, found)
		})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return s.key, nil // the prompt is worth more than the record
		}
	}
	s.key, s.stored = found.Key, true
	return s.key, nil
}

// storedSecret returns nil for a store without a key, or with a damaged one.
func storedSecret(tx *kv.Tx) *secretRecord {
	if r, err := secrets.Get(tx, secretID); err == nil && r != nil && len(r.Key) == secretSize {
		return r
	}
	return nil
}

func newSecret() []byte {
	key := make([]byte, secretSize)
	rand.Read(key) //nolint:errcheck // it never fails
	return key
}

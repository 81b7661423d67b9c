package books

import (
	"context"

	"github.com/ctxd/ctxd/entities/kv"
)

// Resume reads the books that a stop has left pending, and removes those whose conversation is gone. A file
// that is not there any more makes its book failed.
func (s *Store) Resume(ctx context.Context) error {
	if err := s.Sweep(ctx); err != nil {
		return err
	}
	var waiting []string
	err := s.db.View(ctx, func(tx *kv.Tx) error {
		for id, b := range Records.All(tx, "") {
			if unread(b) && b.Vault == "" { // else its file is read by who follows the vault
				waiting = append(waiting, id)
			}
		}
		return tx.Err()
	})
	if err != nil {
		return err
	}
	for _, id := range waiting {
		if err := s.resume(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// Sweep removes the books whose conversation is gone.
func (s *Store) Sweep(ctx context.Context) error {
	var lost []string
	err := s.db.View(ctx, func(tx *kv.Tx) error {
		for id, b := range Records.All(tx, "") {
			if b.ConversationID != "" && s.opts.Conversation != nil {
				if _, found, err := s.opts.Conversation(tx, b.ConversationID); err != nil || !found {
					if err != nil {
						return err
					}
					lost = append(lost, id)
				}
			}
		}
		return tx.Err()
	})
	if err != nil {
		return err
	}
	for _, id := range lost {
		if err := s.remove(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// resume reads one book, unless somebody does.
func (s *Store) resume(ctx context.Context, id string) error {
	s.mu.RLock()
	busy := s.busy[id] != nil
	b := s.byID[id]
	s.mu.RUnlock()
	if busy || b == nil || !unread(b) {
		return ctx.Err()
	}
	within, mine := s.begin(ctx, id)
	err := s.process(within, id, func(string, int, int) {})
	s.finish(id, mine, err)
	return ctx.Err() // what is wrong with one file stands in its record
}

package notes

import (
	"context"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"

	"github.com/ctxd/ctxd/entities/kv"
)

// privateFolders reads patterns as in .gitignore.
func privateFolders(list []string) gitignore.Matcher {
	var patterns []gitignore.Pattern
	for _, line := range list {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			patterns = append(patterns, gitignore.ParsePattern(line, nil))
		}
	}
	return gitignore.NewMatcher(patterns)
}

// PrivateFolders returns the patterns of the folders whose notes are private.
func (s *Store) PrivateFolders() []string { return slices.Clone(s.opts.PrivateFolders) }

// PrivatePlace reports whether a note is private because of its path.
func (s *Store) PrivatePlace(p string) bool {
	return p != "" && len(s.opts.PrivateFolders) > 0 && s.private.Match(strings.Split(p, "/"), false)
}

// hide makes the notes private that lie in private folders and were written when
// those were not private. That a folder is private no longer, a note learns when
// it is written next: in doubt it stays private.
func (s *Store) hide() error {
	if len(s.opts.PrivateFolders) == 0 {
		return nil
	}
	var due []string
	ctx := context.Background()
	err := s.db.View(ctx, func(tx *kv.Tx) error {
		for id, n := range Records.All(tx, "") {
			if !n.Private && s.PrivatePlace(n.Path) {
				due = append(due, id)
			}
		}
		return tx.Err()
	})
	if err != nil {
		return err
	}
	const batch = 200
	for part := range slices.Chunk(due, batch) {
		err := s.db.Update(ctx, func(tx *kv.Tx) error {
			for _, id := range part {
				n, err := Records.Get(tx, id)
				if err != nil {
					return err
				}
				hidden := *n
				hidden.Private = true
				hidden.Version++
				if err := Records.Put(tx, id, &hidden); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

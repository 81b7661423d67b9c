package memory

import (
	"context"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/kv"
)

// PutContext writes a context; see [contextTree.Put].
func (s *Store) PutContext(ctx context.Context, v *audience.View, d ContextDraft, ifVersion *int) (*Context, error) {
	c, err := s.tree.Put(ctx, v, d, ifVersion)
	return s.written(v, c, err)
}

// RenameContext is Rename for a context.
func (s *Store) RenameContext(ctx context.Context, v *audience.View, id, asked string) (*Context, error) {
	c, err := s.tree.Rename(ctx, v, id, asked)
	return s.written(v, c, err)
}

// written returns a context that was written as a reader sees it.
func (s *Store) written(v *audience.View, c *StoredContext, err error) (*Context, error) {
	if err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.shownContext(v, c), nil
}

// DeleteContext removes a context; see [contextTree.Delete].
func (s *Store) DeleteContext(ctx context.Context, v *audience.View, id string,
	subtree bool,
) (moved, unlinked int, err error) {
	return s.tree.Delete(ctx, v, id, subtree)
}

// Link has memories belong to a context, or no more. It returns how many did not before, or did.
func (s *Store) Link(ctx context.Context, v *audience.View, id string, memoryIDs []string, belong bool) (changed int, err error) {
	if memoryIDs, err = checkIDs("memoryIds", memoryIDs, maxReferences); err != nil {
		return 0, err
	}
	return s.tree.Link(ctx, v, id, memoryIDs, belong)
}

// joinOnly has a memory belong to these contexts, and of those that the reader sees to no other;
// nil changes nothing.
func (s *Store) joinOnly(tx *kv.Tx, v *audience.View, memoryID string, list *[]string, now time.Time) error {
	if list == nil {
		return nil
	}
	wanted, err := checkIDs("contexts", *list, maxReferences)
	if err != nil {
		return err
	}
	return s.tree.JoinOnly(tx, v, memoryID, wanted, now)
}

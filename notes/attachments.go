package notes

import (
	"context"
	"maps"
	"slices"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes/markdown"
)

// LinkToAttachment is the kind of a link that leads to a file which is no note.
const LinkToAttachment = "attachment"

// loadNames loads the names of files that are no notes, and what notes were called.
func (s *Store) loadNames() error {
	return s.db.View(context.Background(), func(tx *kv.Tx) (err error) {
		s.former, err = loadFormerNames(tx)
		if err != nil {
			return err
		}
		s.attachments, err = LoadAttachments(tx)
		return err
	})
}

// Attachments returns the paths of the files of a vault that are no notes, in no order.
func (s *Store) Attachments(vault string) []string {
	s.mu.Early().RLock()
	defer s.mu.Early().RUnlock()
	return s.attachments.Paths(vault)
}

// CountAttachments counts them; with public, those alone that lie in no private folder.
func (s *Store) CountAttachments(vault string, public bool) int {
	s.mu.Early().RLock()
	defer s.mu.Early().RUnlock()
	return s.attachments.Count(vault, s.attachmentSeen(public))
}

// FindAttachment returns the file of any vault that a link of no note means, "" for none; with public, of those that lie in no
// private folder. Of several vaults the first by name counts.
func (s *Store) FindAttachment(target string, public bool) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, vault := range slices.Sorted(maps.Keys(s.attachments.vaults)) {
		if p := s.attachments.Find(vault, "", target, s.attachmentSeen(public)); p != "" {
			return p
		}
	}
	return ""
}

// attachmentSeen tells which attachments there are for a reader.
func (s *Store) attachmentSeen(public bool) func(vault, path string) bool {
	if !public {
		return nil
	}
	return s.PublicPlace
}

// PublicPlace reports whether a path of a vault lies in no private folder.
func (s *Store) PublicPlace(vault, path string) bool { return !s.InPrivateFolder(vault, path, "") }

// attachment returns the path of the file that a link of a note leads to which leads to no
// note, "" for none. The caller has the lock.
func (s *Store) attachment(from *Note, l markdown.Link, public bool) string {
	if l.Target == "" {
		return ""
	}
	return s.attachments.Find(from.Vault, from.Folder, l.Target, s.attachmentSeen(public))
}

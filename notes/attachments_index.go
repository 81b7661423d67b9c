package notes

// Attachments know the files of vaults that are no notes by their names, so that a link to a
// picture is not taken for a broken one. Nothing in such a file is read here: context/books reads those that it
// knows the format of, and needs their sizes and times to tell which have changed.
//
// They are what the store of notes holds of the records of the collection "vault-attachment", one
// for each file, by vault and path. The store loads them and keeps them current with each commit;
// notes/vault, which scans vaults, writes the records.
//
// Attachments are not safe for concurrent use: their owner has the lock.

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
)

// attachmentRecord is that of one file. Its key says where it is.
type attachmentRecord struct {
	Size     int64 `json:"size,omitempty"`
	Modified int64 `json:"modified,omitempty"`
}

// Attachment is a file of a vault that is no note.
type Attachment struct {
	Path string
	// Size, in bytes, and Modified, in Unix nanoseconds, are those of a file whose text is read; of others they are 0.
	Size, Modified int64
}

// They are Local: each machine has the files of its own folder.
var attachmentRecords = kv.NewCollection[attachmentRecord]("vault-attachment").Local() // by vault name, /, path

// Attachments has the files of all vaults. The zero value is empty.
type Attachments struct {
	vaults map[string]*files
}

// files are those of one vault.
type files struct {
	byPath map[string]string   // paths by their folds
	twins  map[string][]string // all paths with a fold that several have, the shortest first
	byName map[string][]string // paths by the folds of the file names, the shortest first
}

// LoadAttachments returns the files that are stored.
func LoadAttachments(tx *kv.Tx) (Attachments, error) {
	var s Attachments
	for key := range attachmentRecords.All(tx, "") {
		s.put(key)
	}
	return s, tx.Err()
}

// newAttachments returns the set of some files of one vault.
func newAttachments(vault string, paths []string) *Attachments {
	s := new(Attachments)
	for _, p := range paths {
		s.put(vault + "/" + p)
	}
	return s
}

// Take makes the set current after a commit.
func (s *Attachments) Take(cs *kv.ChangeSet) {
	for _, ch := range cs.Changes {
		_, now, ok := attachmentRecords.Of(ch)
		switch {
		case !ok:
		case now != nil:
			s.put(ch.ID)
		default:
			s.delete(ch.ID)
		}
	}
}

func (s *Attachments) put(key string) {
	vault, p, _ := strings.Cut(strings.Clone(key), "/")
	if s.vaults == nil {
		s.vaults = make(map[string]*files)
	}
	f := s.vaults[vault]
	if f == nil {
		f = &files{byPath: make(map[string]string), twins: make(map[string][]string), byName: make(map[string][]string)}
		s.vaults[vault] = f
	}
	fold := entities.Fold(p)
	name := path.Base(fold)
	var had bool
	f.byName[name], had = withPath(f.byName[name], p)
	if had {
		return
	}
	first, taken := f.byPath[fold]
	if !taken {
		f.byPath[fold] = p
		return
	}
	if f.twins[fold] == nil {
		f.twins[fold] = []string{first}
	}
	f.twins[fold], _ = withPath(f.twins[fold], p)
	f.byPath[fold] = f.twins[fold][0]
}

// withPath returns a list, the shortest first, with a path in it, and whether that was there.
func withPath(list []string, p string) (out []string, had bool) {
	at, had := slices.BinarySearchFunc(list, p, shorter)
	if had {
		return list, true
	}
	return slices.Insert(list, at, p), false
}

// withoutPath returns such a list without a path, and whether that was there.
func withoutPath(list []string, p string) (out []string, had bool) {
	at, had := slices.BinarySearchFunc(list, p, shorter)
	if !had {
		return list, false
	}
	return slices.Delete(list, at, at+1), true
}

func (s *Attachments) delete(key string) {
	vault, p, _ := strings.Cut(key, "/")
	f, fold := s.vaults[vault], entities.Fold(p)
	if f == nil {
		return
	}
	name := path.Base(fold)
	var had bool
	f.byName[name], had = withoutPath(f.byName[name], p)
	if !had {
		return
	}
	if others, _ := withoutPath(f.twins[fold], p); len(others) == 0 {
		delete(f.byPath, fold)
	} else {
		f.twins[fold], f.byPath[fold] = others, others[0]
		if len(others) == 1 {
			delete(f.twins, fold)
		}
	}
	if len(f.byName[name]) == 0 {
		delete(f.byName, name)
	}
	if len(f.byName) == 0 {
		delete(s.vaults, vault)
	}
}

// shorter orders paths: the shortest first, then by their bytes.
func shorter(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) }

// Paths returns the paths of the files of a vault, in no order.
func (s *Attachments) Paths(vault string) []string {
	var out []string
	if f := s.vaults[vault]; f != nil {
		for _, paths := range f.byName {
			out = append(out, paths...)
		}
	}
	return out
}

// Count returns the number of files of a vault that sees says yes to; nil: of all.
func (s *Attachments) Count(vault string, sees func(vault, path string) bool) (count int) {
	for _, p := range s.Paths(vault) {
		if sees == nil || sees(vault, p) {
			count++
		}
	}
	return count
}

// maxTails is how many files of one name are looked at for one whose path ends with that
// of a link, the shortest first.
const maxTails = 1000

// Find returns the file of a vault that a link in a folder means, "" for none: a path from
// the folder or from the root, the tail of a path, or a file name, of which the shortest
// path counts. Letter case does not matter. sees is that of Count.
func (s *Attachments) Find(vault, folder, target string, sees func(vault, path string) bool) string {
	f := s.vaults[vault]
	if f == nil {
		return ""
	}
	fold := entities.Fold(strings.TrimSpace(target))
	shown := func(p string) bool { return p != "" && (sees == nil || sees(vault, p)) }
	rooted := strings.HasPrefix(fold, "/")
	if !rooted {
		if p := f.byPath[path.Join(entities.Fold(folder), fold)]; shown(p) {
			return p
		}
	}
	file := strings.TrimPrefix(path.Clean(fold), "/")
	if p := f.byPath[file]; shown(p) && !strings.HasPrefix(fold, "./") {
		return p
	}
	if rooted || strings.HasPrefix(fold, ".") && strings.HasPrefix(strings.TrimLeft(fold, "."), "/") {
		return ""
	}
	named := f.byName[path.Base(file)]
	for _, p := range named[:min(len(named), maxTails)] {
		if strings.HasSuffix("/"+entities.Fold(p), "/"+file) && shown(p) {
			return p
		}
	}
	return ""
}

// AttachmentsTx returns the files of a vault, by path.
func AttachmentsTx(tx *kv.Tx, vault string) (map[string]Attachment, error) {
	out := make(map[string]Attachment)
	for key, r := range attachmentRecords.All(tx, vault+"/") {
		p := strings.TrimPrefix(key, vault+"/")
		out[p] = Attachment{p, r.Size, r.Modified}
	}
	return out, tx.Err()
}

// HasAttachment reports whether a vault has a file as it is given.
func HasAttachment(tx *kv.Tx, vault string, a Attachment) (bool, error) {
	r, err := attachmentRecords.Get(tx, vault+"/"+a.Path)
	return r != nil && *r == attachmentRecord{a.Size, a.Modified}, err
}

// PutAttachment records a file of a vault.
func PutAttachment(tx *kv.Tx, vault string, a Attachment) error {
	return attachmentRecords.Put(tx, vault+"/"+a.Path, &attachmentRecord{a.Size, a.Modified})
}

// DeleteAttachment forgets a file of a vault.
func DeleteAttachment(tx *kv.Tx, vault, p string) error {
	return attachmentRecords.Delete(tx, vault+"/"+p)
}

// ForgetSomeAttachments deletes at most limit of the files of a vault and returns how many.
func ForgetSomeAttachments(tx *kv.Tx, vault string, limit int) (count int, err error) {
	for key := range attachmentRecords.All(tx, vault+"/") {
		if count == limit {
			break
		}
		if err := attachmentRecords.Delete(tx, key); err != nil {
			return count, err
		}
		count++
	}
	return count, tx.Err()
}

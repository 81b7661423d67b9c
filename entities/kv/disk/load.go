package disk

import "path/filepath"

// LoadSnapshot hands over what a snapshot holds, and returns the size of the file. It returns
// ErrDamaged when the file is not exactly what was written.
//
// The file is read, its pieces are checked and split into keys and values, and what they hold is
// handed over, all at the same time. Keys and values are parts of the memory
// that the file was read into: to copy each would take as long as all the rest, and
// a tenth more memory. So what is left of a segment keeps all of it in memory,
// however little that is; all together never more than the size of the file, and
// only until the store is opened again.
func LoadSnapshot(fsys FS, dir string, want ID, set func(key, value string) error) (size int64, err error) {
	f, w, id, ok, err := Open(fsys, filepath.Join(dir, want.Name(SnapshotPrefix)), SnapshotMagic)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if !ok || id != want {
		return 0, ErrDamaged
	}
	for pairs, err := range SnapshotPairs(f, w.Size, id) {
		if err != nil {
			return 0, err
		}
		for _, p := range pairs {
			if err := set(p.Key, p.Value); err != nil {
				return 0, err
			}
		}
	}
	return w.Size, nil
}

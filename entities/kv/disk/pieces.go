package disk

import "path/filepath"

// IntactPieces calls fn with every record in the intact pieces of a damaged
// snapshot, and returns how many pieces are not intact, as far as the numbers of
// the others tell.
func IntactPieces(fsys FS, dir string, id ID, fn func(key, raw []byte) error) (bad uint64, err error) {
	f, w, _, _, err := Open(fsys, filepath.Join(dir, id.Name(SnapshotPrefix)), SnapshotMagic)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	seed, expected, ended := id.Seed(), uint64(0), false
	for off := int64(FileHeaderSize); off < w.Size; {
		h, payload, next, v, err := w.Record(off, seed)
		if err != nil {
			return 0, err
		}
		if v != Good || h.Seq != id.Seq || h.Kind != KindChunk && h.Kind != KindEnd ||
			h.Kind == KindChunk && CheckOps(payload) != nil {
			off, _, err = w.Resync(off+1, seed)
			if err != nil {
				return 0, err
			}
			continue
		}
		if h.Durable > expected {
			bad += h.Durable - expected
		}
		expected = h.Durable + 1
		if h.Kind == KindEnd {
			ended = true
		} else if err := EachOp(payload, func(key, raw []byte, _ bool) error { return fn(key, raw) }); err != nil {
			return 0, err
		}
		off = next
	}
	if !ended {
		bad++ // at least
	}
	return bad, nil
}

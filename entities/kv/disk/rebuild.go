package disk

import (
	"errors"
	"slices"
)

// Rebuild puts together what is intact of damaged snapshots, the oldest last, and the journal.
//
// A snapshot is pieces in key order, each with a checksum, so those that are
// intact still tell the state of their keys. The oldest snapshot and the journal
// since give the present state of every key that either holds. What is in none
// of them stood in a damaged piece and was not written since, and so may be
// found in a newer snapshot as it was. It returns how many pieces of the oldest are lost.
func Rebuild(fsys FS, dir string, damaged, segments []ID, r *Replay) (bad uint64, err error) {
	if len(damaged) == 0 {
		return 0, r.Journal(segments)
	}
	oldest := damaged[len(damaged)-1]
	seen := make(map[string]uint64)
	bad, err = IntactPieces(fsys, dir, oldest, func(key, raw []byte) error {
		seen[string(key)] = oldest.Seq
		return r.In.Write(key, raw, false)
	})
	if err != nil {
		return 0, errors.Join(err, r.In.Close())
	}
	r.Start, r.Last = oldest.Seq, oldest.Seq
	r.Touched = seen
	if err := r.Journal(segments); err != nil {
		return bad, err
	}
	for _, id := range slices.Backward(damaged[:len(damaged)-1]) {
		_, err := IntactPieces(fsys, dir, id, func(key, raw []byte) error {
			if at, ok := seen[string(key)]; ok && at > id.Seq {
				return nil
			}
			seen[string(key)] = id.Seq
			return r.In.Write(key, raw, false)
		})
		err = errors.Join(err, r.In.Close())
		if err != nil {
			return bad, err
		}
	}
	return bad, nil
}

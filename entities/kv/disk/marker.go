package disk

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
)

// CleanName is the file that a store which was closed leaves: the sequence number it
// stopped at. It is not removed at the next start. An old one promises less than the
// journal holds, so it does no harm, and a journal that holds less than the marker
// promises has lost something.
const CleanName = "clean"

// cleanMagic begins that file.
const cleanMagic = "ctxdstop"

// LossName is the file that keeps the report of a loss while a store is put in
// order. Once the damaged files are set aside, nothing else would tell of the loss
// to a start that follows a crash. It goes before Open returns the report.
const LossName = "loss"

// UnmendedName is the file that says that transactions were lost, or another state was put in the place of
// the former one, and that whoever keeps records has not made them fit together since. A report is told once;
// this outlives a process that was killed before it acted on it, and one that only opened the store.
const UnmendedName = "unmended"

// WriteClean writes that a store stopped at a sequence number.
func WriteClean(fsys FS, dir string, seq uint64) error {
	b := binary.LittleEndian.AppendUint64([]byte(cleanMagic), seq)
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, Checksums))
	return Replace(fsys, dir, CleanName, b)
}

// ReadClean reads what WriteClean wrote. ok is false when there is no such file, or it
// is damaged.
func ReadClean(fsys FS, dir string) (seq uint64, ok bool, err error) {
	b, err := ReadAll(fsys, filepath.Join(dir, CleanName), 1024)
	if errors.Is(err, os.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	if len(b) != 20 || string(b[:8]) != cleanMagic ||
		crc32.Checksum(b[:16], Checksums) != binary.LittleEndian.Uint32(b[16:]) {
		return 0, false, nil
	}
	return binary.LittleEndian.Uint64(b[8:]), true, nil
}

// noteBytes is more than any note has.
const noteBytes = 1 << 20

// WriteNote writes a small value durably, as JSON with a checksum behind it.
func WriteNote(fsys FS, dir, name string, value any) error {
	b, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return Replace(fsys, dir, name, binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, Checksums)))
}

// RemoveNote removes durably what WriteNote wrote, if it is there.
func RemoveNote(fsys FS, dir, name string) error {
	err := fsys.Remove(filepath.Join(dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return errors.Join(err, fsys.SyncDir(dir))
}

// ReadNote reads what WriteNote wrote. It reports false for no such file, and for one that
// is damaged.
func ReadNote(fsys FS, dir, name string, value any) (ok bool, err error) {
	b, err := ReadAll(fsys, filepath.Join(dir, name), noteBytes)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil || len(b) < 4 {
		return false, err
	}
	content, sum := b[:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	return crc32.Checksum(content, Checksums) == sum && json.Unmarshal(content, value) == nil, nil
}

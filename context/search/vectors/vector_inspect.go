package vectors

import (
	"os"

	"github.com/ctxd/ctxd/context/embed"
)

// FileContents is what a file holds.
type FileContents struct {
	Model        embed.Model
	Items        int   // in their last versions
	Vectors      int   // sound ones, those that nothing refers to any more included
	Bytes        int64 // of the file
	DamagedBytes int64 // that no sound record is, such as the last one of a crash
}

// InspectFile reads a file of vectors and changes nothing. Somebody may write to it
// meanwhile: what is just being written may count as damaged. A beginning that
// can't be read is an error. O(size of the file).
func InspectFile(name string) (in FileContents, err error) {
	if err := plain(name); err != nil {
		return in, err
	}
	f, err := os.Open(name)
	if err != nil {
		return in, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return in, err
	}
	in.Bytes = info.Size()
	var start int64
	in.Model, start, err = readHeader(f)
	if err != nil {
		return in, err
	}
	w := &window{r: f, size: in.Bytes}
	items := make(map[string]bool)
	for at := start; at < w.size; {
		kind, record, err := w.record(at)
		if err != nil {
			return in, err
		}
		if record == nil {
			step := min(align, w.size-at)
			in.DamagedBytes += step
			at += step
			continue
		}
		switch held := record[headSize:]; kind {
		case rowRecord:
			in.Vectors++
		case itemRecord:
			if _, id, _, ok := decodeItem(held); ok {
				items[id] = true
			}
		}
		at += int64(aligned(len(record)))
	}
	in.Items = len(items)
	return in, nil
}

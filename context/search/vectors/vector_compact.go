package vectors

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
)

// tempSuffix ends the name of a file that is to take the place of another.
const tempSuffix = ".tmp"

// leastWaste is how much of a file may be wasted whatever its size.
const leastWaste = 1 << 20

// Wasteful reports whether half of the file is of no use, and much.
func (x *FlatIndex) Wasteful() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.file != nil && x.file.waste > leastWaste && x.file.waste > x.file.size/2
}

// Check reads every vector on disk and compares it with what is in memory.
// What is damaged is taken out: those items have no Key then, and their ids are
// returned. O(size of the file).
func (x *FlatIndex) Check(ctx context.Context) (damaged []string, err error) {
	x.writing.Lock()
	defer x.writing.Unlock()
	for _, it := range x.snapshot() {
		if ctx.Err() != nil {
			return damaged, ctx.Err()
		}
		if x.checkItem(it) {
			continue
		}
		damaged = append(damaged, it.id)
		x.mu.Lock()
		if x.items[it.id] == it {
			x.removeRows(it)
			it.key = TextKey{}
		}
		x.mu.Unlock()
	}
	x.mu.RLock()
	if x.file != nil {
		x.file.broken.Store(false)
	}
	x.mu.RUnlock()
	return damaged, nil
}

// snapshot returns the items of the moment. The caller has x.writing, so that
// they stay.
func (x *FlatIndex) snapshot() []*item {
	x.mu.RLock()
	defer x.mu.RUnlock()
	list := make([]*item, 0, len(x.items))
	for _, it := range x.items {
		list = append(list, it)
	}
	slices.SortFunc(list, func(a, b *item) int { return int(a.at - b.at) })
	return list
}

// checkItem reports whether the rows of an item are as they were written.
func (x *FlatIndex) checkItem(it *item) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	unit, codes := make([]float32, x.dims), make([]int8, x.stride)
	for part, row := range it.rows {
		if row == noRow {
			continue
		}
		b, i := x.at(int(row))
		if b.owners[i] != it || int(b.parts[i]) != part {
			return false
		}
		if x.file == nil {
			copy(unit, b.floats[i*x.dims:][:x.dims])
		} else if !x.file.vector(unit, b.at[i]) {
			return false
		}
		if quantise(codes, unit) != b.scales[i] || !slices.Equal(codes, b.codes[i*x.stride:][:x.stride]) {
			return false
		}
	}
	return true
}

// Compact writes the file anew without what is of no use. Searches go on
// meanwhile. It fails when a vector is damaged: Check first.
func (x *FlatIndex) Compact(ctx context.Context) error {
	if x.Name() == "" {
		return ctx.Err()
	}
	x.writing.Lock()
	defer x.writing.Unlock()
	if err := x.flush(); err != nil {
		return err
	}
	fresh, moved, err := x.copyTo(ctx, x.file.name+tempSuffix)
	if err != nil {
		return errors.Join(err, fresh.discard())
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.exchange(fresh, moved)
}

// discard closes and removes a file that is not to be.
func (f *file) discard() error {
	if f == nil {
		return nil
	}
	return errors.Join(f.f.Close(), os.Remove(f.name))
}

// copyTo writes what is of use to another file, and returns where the records
// lie there by where they are. The caller has x.writing.
func (x *FlatIndex) copyTo(ctx context.Context, name string) (*file, map[int64]int64, error) {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	out, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, nil, err
	}
	head := header(x.file.model)
	f := &file{f: out, name: name, model: x.file.model, start: int64(len(head)), size: int64(len(head))}
	w := bufio.NewWriterSize(out, 256<<10)
	_, err = w.Write(head)
	moved := make(map[int64]int64, x.Len())
	for _, it := range x.snapshot() {
		err = errors.Join(err, ctx.Err())
		if err != nil {
			return f, nil, err
		}
		buf, err := x.copyItem(it, f.size, moved)
		if err == nil {
			_, err = w.Write(buf)
		}
		if err != nil {
			return f, nil, err
		}
		f.size += int64(len(buf))
	}
	return f, moved, errors.Join(err, w.Flush(), out.Sync())
}

var errChanged = errors.New("a vector was damaged while the file was written anew")

// copyItem returns the records of an item as they will lie from a place on.
func (x *FlatIndex) copyItem(it *item, at int64, moved map[int64]int64) (buf []byte, err error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	unit := make([]float32, x.dims)
	rows := make([]int64, len(it.rows))
	for part, row := range it.rows {
		if row == noRow {
			continue
		}
		b, i := x.at(int(row))
		rows[part] = at + int64(len(buf))
		moved[b.at[i]] = rows[part]
		if !x.file.row(b.at[i], x.dims, func(held []byte) {
			decodeRow(unit, held)
			buf = appendRow(buf, b.keys[i], unit, held[rowBytes(x.dims):])
		}) {
			return nil, errChanged
		}
	}
	moved[it.at] = at + int64(len(buf))
	return appendItem(buf, it.key, it.id, rows), nil
}

// exchange puts a file that was written in the place of the one that is. The
// caller has both locks.
func (x *FlatIndex) exchange(fresh *file, moved map[int64]int64) error {
	old := x.file
	if err := errors.Join(old.unmap(), old.f.Close(), fresh.f.Close()); err != nil {
		return err
	}
	failed := os.Rename(fresh.name, old.name)
	f, err := os.OpenFile(old.name, os.O_RDWR, 0o600)
	if err != nil {
		return errors.Join(failed, err)
	}
	if failed != nil {
		old.f = f
		return errors.Join(failed, old.remap(true), os.Remove(fresh.name))
	}
	fresh.f, fresh.name = f, old.name
	for _, b := range x.blocks {
		for i, owner := range b.owners {
			if owner != nil {
				b.at[i] = moved[b.at[i]]
			}
		}
	}
	for _, it := range x.items {
		it.at = moved[it.at]
	}
	x.file = fresh
	return fresh.remap(true)
}

// Rename gives the file another name, over one that is there.
func (x *FlatIndex) Rename(name string) error {
	x.writing.Lock()
	defer x.writing.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.file == nil {
		return nil
	}
	old := x.file
	if err := errors.Join(old.f.Sync(), old.unmap(), old.f.Close()); err != nil {
		return err
	}
	failed := os.Rename(old.name, name)
	if failed == nil {
		old.name = name
	}
	f, err := os.OpenFile(old.name, os.O_RDWR, 0o600)
	if err != nil {
		return errors.Join(failed, err)
	}
	old.f = f
	return errors.Join(failed, old.remap(true))
}

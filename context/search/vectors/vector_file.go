package vectors

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync/atomic"

	"github.com/ctxd/ctxd/context/embed"
)

// mapAgain is how much of a file is read by calls before it is mapped anew.
const mapAgain = 1 << 20

// file is where the vectors of an Index lie.
type file struct {
	f      *os.File
	name   string
	model  embed.Model
	start  int64  // of the records
	size   int64  // where the next record goes
	mapped []byte // its beginning; nil where files are not mapped
	waste  int64  // bytes that no record is, and void ones
	dead   []int64
	broken atomic.Bool // a vector could not be read
}

// placed says where an item and its rows were written; 0 stands for nowhere.
type placed struct {
	rows []int64
	item int64
}

// OpenFlatIndex reads the index in a file, which is made when there is none, or when it is
// of another model, or not to be read; a link or a pipe of that name is removed,
// and where a link leads nothing is touched. What is damaged in it is left out: an
// item that has lost vectors has no Key. The file is the caller's alone. O(size of the
// file).
func OpenFlatIndex(name string, model embed.Model) (*FlatIndex, error) {
	return openFlatIndex(context.Background(), name, model)
}

// openFlatIndex is OpenFlatIndex until ctx ends, of which it returns the error.
func openFlatIndex(ctx context.Context, name string, model embed.Model) (*FlatIndex, error) {
	if model.Dims < 1 || model.Dims > maxDims {
		return nil, fmt.Errorf("vectors of %d dimensions", model.Dims)
	}
	if err := plain(name); err != nil {
		err = os.Remove(name)
		if err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	x := NewFlatIndex(model.Dims)
	x.file = &file{f: f, name: name, model: model}
	err = x.file.begin()
	if err == nil {
		err = x.load(ctx)
	}
	if err == nil {
		err = x.file.remap(true)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return x, nil
}

// plain refuses what has a name but is no file: opening a pipe would wait for its
// other end, and what a link leads to is somebody else's.
func plain(name string) error {
	info, err := os.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no file", filepath.Base(name))
	}
	return nil // what else there is to say, opening it says
}

// begin reads the header, or starts the file anew.
func (f *file) begin() error {
	if err := f.f.Chmod(0o600); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	m, start, err := readHeader(f.f)
	if err == nil && m == f.model {
		f.start = start
		return nil
	}
	if err := f.f.Truncate(0); err != nil {
		return err
	}
	head := header(f.model)
	_, err = f.f.WriteAt(head, 0)
	f.start = int64(len(head))
	return err
}

// window reads a file from its beginning to its end, some of it twice.
type window struct {
	r    io.ReaderAt
	size int64
	base int64
	buf  []byte
}

const windowSize = 1 << 20

// get returns n bytes, valid until the next call; nil when there are not so many.
func (w *window) get(at int64, n int) ([]byte, error) {
	if at < 0 || at+int64(n) > w.size {
		return nil, nil
	}
	if at < w.base || at+int64(n) > w.base+int64(len(w.buf)) {
		size := int(min(int64(max(windowSize, n)), w.size-at))
		if cap(w.buf) < size {
			w.buf = make([]byte, size)
		}
		w.base, w.buf = at, w.buf[:size]
		if _, err := w.r.ReadAt(w.buf, at); err != nil {
			w.buf = w.buf[:0]
			return nil, err
		}
	}
	return w.buf[at-w.base:][:n], nil
}

// record returns the whole record at a place, nil when there is none that is sound.
func (w *window) record(at int64) (kind byte, record []byte, err error) {
	head, err := w.get(at, headSize)
	if head == nil || err != nil {
		return 0, nil, err
	}
	kind, size, ok := readHead(head)
	if !ok {
		return 0, nil, nil
	}
	record, err = w.get(at, recordSize(size))
	if record == nil || err != nil || !sound(record, size) {
		return 0, nil, err
	}
	return kind, record[:headSize+size], nil
}

// storedItem is an item as it is read.
type storedItem struct {
	at   int64
	key  TextKey
	rows []int64
}

// load takes in what the file holds, cuts off what was not written to its end,
// and notes as dead what nothing refers to.
func (x *FlatIndex) load(ctx context.Context) error {
	f := x.file
	info, err := f.f.Stat()
	if err != nil {
		return err
	}
	w := &window{r: f.f, size: info.Size()}
	var rows []int64 // in order
	items := make(map[string]storedItem)
	f.size = f.start
	for at := f.start; at < w.size; {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		kind, record, err := w.record(at)
		if err != nil {
			return err
		}
		if record == nil {
			at += align // a record may follow what is damaged
			continue
		}
		f.waste += at - f.size // what was passed over
		switch held := record[headSize:]; kind {
		case voidRecord:
			f.waste += int64(aligned(len(record)))
		case rowRecord:
			if isRow(len(held), x.dims) {
				rows = append(rows, at)
			}
		case itemRecord:
			if key, id, list, ok := decodeItem(held); ok {
				if old, twice := items[id]; twice {
					f.dead = append(f.dead, old.at)
				}
				items[id] = storedItem{at, key, list}
			}
		}
		at += int64(aligned(len(record)))
		f.size = at
	}
	if f.size < w.size {
		if err := f.f.Truncate(f.size); err != nil {
			return err
		}
		w.size = f.size
	}
	return x.takeIn(ctx, w, rows, items)
}

// takeIn makes the items that were found.
func (x *FlatIndex) takeIn(ctx context.Context, w *window, rows []int64, items map[string]storedItem) error {
	ids := slices.Collect(maps.Keys(items))
	if ctx.Err() != nil { // sorting takes a while
		return ctx.Err()
	}
	slices.SortFunc(ids, func(a, b string) int { return int(items[a].at - items[b].at) })
	used := make([]bool, len(rows))
	unit := make([]float32, x.dims)
	for _, id := range ids {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s := items[id]
		it := &item{id: id, key: s.key, at: s.at, rows: make([]int32, len(s.rows))}
		x.items[id] = it
		for part, at := range s.rows {
			it.rows[part] = noRow
			if at == 0 {
				continue
			}
			i, ok := slices.BinarySearch(rows, at)
			if !ok || used[i] {
				it.key = TextKey{}
				continue
			}
			used[i] = true
			_, record, err := w.record(at)
			if err != nil {
				return err
			}
			if record == nil { // it has changed since
				it.key = TextKey{}
				continue
			}
			decodeRow(unit, record[headSize:])
			if !x.usable(unit) {
				it.key = TextKey{}
				x.file.dead = append(x.file.dead, at)
				continue
			}
			it.rows[part] = x.append(it, part, TextKey(record[headSize:][:keySize]), unit, at)
		}
	}
	for i, at := range rows {
		if !used[i] {
			x.file.dead = append(x.file.dead, at)
		}
	}
	return nil
}

// write writes the records of an item. The caller has x.writing.
func (x *FlatIndex) write(it *Item, at *placed) error {
	f := x.file
	var buf []byte
	unit := make([]float32, x.dims)
	rows := make([]int64, len(it.Parts)) // those that were known included
	x.mu.RLock()
	known := x.known(x.items[it.ID])
	for i, key := range it.Parts {
		if it.New[i] != nil {
			at.rows[i] = f.size + int64(len(buf))
			rows[i] = at.rows[i]
			normalise(unit, it.New[i])
			buf = appendRow(buf, key, unit, it.tokens(i))
		} else if row := known.take(key); row != noRow {
			b, j := x.at(int(row))
			rows[i] = b.at[j]
		}
	}
	x.mu.RUnlock()
	at.item = f.size + int64(len(buf))
	if itemBytes(it.ID, len(rows)) > maxRecord {
		return fmt.Errorf("an item of %d parts", len(rows))
	}
	buf = appendItem(buf, it.Key, it.ID, rows)
	if _, err := f.f.WriteAt(buf, f.size); err != nil {
		return errors.Join(err, f.f.Truncate(f.size))
	}
	x.mu.Lock()
	f.size += int64(len(buf))
	x.mu.Unlock()
	return nil
}

// drop notes that records are of no use. The caller has the lock.
func (x *FlatIndex) drop(at placed) {
	if x.file == nil {
		return
	}
	for _, row := range append(at.rows, at.item) {
		if row != 0 {
			x.file.dead = append(x.file.dead, row)
		}
	}
}

// vector reads the vector of a row and reports whether that is as it was written.
func (f *file) vector(unit []float32, at int64) bool {
	return f.row(at, len(unit), func(held []byte) { decodeRow(unit, held) })
}

// row has a function read what the record of a row holds, and reports whether that is as it was written. What it is given
// is valid in the call alone.
func (f *file) row(at int64, dims int, read func(held []byte)) bool {
	if at < int64(len(f.mapped)) {
		ok, whole := mappedRow(f.mapped[at:], dims, read)
		if whole {
			return ok
		}
	}
	head := make([]byte, headSize)
	if _, err := f.f.ReadAt(head, at); err != nil {
		return false
	}
	_, size, ok := readHead(head)
	if !ok {
		return false
	}
	record := make([]byte, recordSize(size))
	_, err := f.f.ReadAt(record, at)
	return err == nil && soundRow(record, dims, read)
}

// mappedRow is soundRow for memory that may fail to be there: of a disk that is
// broken, or a file that somebody has cut. whole tells whether all of the record is in it.
func mappedRow(mapped []byte, dims int, read func(held []byte)) (ok, whole bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() != nil {
			ok, whole = false, true
		}
	}()
	if len(mapped) < headSize {
		return false, false
	}
	if _, size, sane := readHead(mapped); sane && recordSize(size) > len(mapped) {
		return false, false
	}
	return soundRow(mapped, dims, read), true
}

func soundRow(record []byte, dims int, read func(held []byte)) bool {
	kind, size, ok := readHead(record)
	if !ok || kind != rowRecord || !isRow(size, dims) || !sound(record, size) {
		return false
	}
	read(record[headSize:][:size])
	return true
}

// remap maps the file anew when enough has been added to it; when that fails it
// is read by calls. The caller has the lock.
func (x *FlatIndex) remap() {
	if x.file != nil {
		_ = x.file.remap(false)
	}
}

func (f *file) remap(now bool) error {
	if grown := f.size - int64(len(f.mapped)); !now && grown < max(mapAgain, int64(len(f.mapped)/4)) {
		return nil
	}
	if err := f.unmap(); err != nil {
		return err
	}
	var err error
	f.mapped, err = mapFile(f.f, f.size)
	return err
}

func (f *file) unmap() error {
	old := f.mapped
	f.mapped = nil
	if old == nil {
		return nil
	}
	return unmapFile(old)
}

// Broken reports whether a vector could not be read since the last Check.
func (x *FlatIndex) Broken() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.file != nil && x.file.broken.Load()
}

// Flush overwrites on disk what was taken out.
func (x *FlatIndex) Flush() error {
	x.writing.Lock()
	defer x.writing.Unlock()
	return x.flush()
}

// flush is Flush. The caller has x.writing.
func (x *FlatIndex) flush() error {
	if x.file == nil {
		return nil
	}
	x.mu.Lock()
	dead := x.file.dead
	x.file.dead = nil
	x.mu.Unlock()
	for i, at := range dead {
		n, err := x.file.void(at)
		x.mu.Lock()
		x.file.waste += n
		if err != nil {
			x.file.dead = append(x.file.dead, dead[i:]...)
		}
		x.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// void overwrites a record with zeros and returns its size, 0 when there is none,
// as when somebody has cut the file.
func (f *file) void(at int64) (int64, error) {
	head := make([]byte, headSize)
	switch _, err := f.f.ReadAt(head, at); {
	case errors.Is(err, io.EOF):
		return 0, nil
	case err != nil:
		return 0, err
	}
	kind, size, ok := readHead(head)
	if !ok || kind == voidRecord || at+int64(recordSize(size)) > f.size {
		return 0, nil
	}
	record := make([]byte, recordSize(size))
	seal(record, voidRecord, size)
	_, err := f.f.WriteAt(record, at)
	return int64(len(record)), err
}

// FlatSizes are what an index takes, in bytes.
type FlatSizes struct {
	Memory int64
	Disk   int64
	Waste  int64 // of Disk
}

// Sizes returns what the index takes. O(items).
func (x *FlatIndex) Sizes() (s FlatSizes) {
	const perItem = 160 // an item, its id, its place in the map
	x.mu.RLock()
	defer x.mu.RUnlock()
	s.Memory = int64(len(x.blocks)) * blockRows * int64(x.stride+4+keySize+8+4)
	if x.file != nil {
		s.Memory += int64(len(x.blocks)) * blockRows * 8
		s.Disk, s.Waste = x.file.size, x.file.waste
	} else {
		s.Memory += int64(len(x.blocks)) * blockRows * int64(4*x.dims)
	}
	for _, it := range x.items {
		s.Memory += perItem + 4*int64(len(it.rows))
	}
	return s
}

// Name is the name of the file, "" for none.
func (x *FlatIndex) Name() string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.file == nil {
		return ""
	}
	return x.file.name
}

// Close overwrites what was taken out, and closes the file. The index holds
// nothing afterwards.
func (x *FlatIndex) Close() error {
	x.writing.Lock()
	defer x.writing.Unlock()
	err := x.flush()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.blocks, x.count, x.items = nil, 0, map[string]*item{}
	if x.file == nil {
		return err
	}
	f := x.file
	x.file = nil
	return errors.Join(err, f.f.Sync(), f.unmap(), f.f.Close())
}

// Remove closes the index and removes its file.
func (x *FlatIndex) Remove() error {
	name := x.Name()
	err := x.Close()
	if name == "" {
		return nil
	}
	if gone := os.Remove(name); gone == nil || errors.Is(gone, fs.ErrNotExist) {
		return nil
	}
	return err
}

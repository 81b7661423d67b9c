package kv_test

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/ctxd/ctxd/entities/kv"
)

// disk is a file system in memory that knows what a power cut would leave: it
// keeps apart what was written and what was made durable. Every operation
// asks the hook first, which may fail it, block it, or take a picture. Copies
// share the content of files until one of them writes.
type disk struct {
	mu      sync.Mutex
	dirs    map[string]bool
	names   map[string]*inode // as a process sees them
	durable map[string]*inode // as of the last SyncDir
	pending []nameOp          // since then
	locks   map[string]bool
	counts  map[string]int
	hook    func(op, name string) error
}

type inode struct {
	data    []byte // as a process sees it
	durable []byte // as of the last Sync
	shared  bool   // with another disk: neither slice may be written to
	pending []dataOp
	mode    fs.FileMode
}

type nameOp struct {
	name string
	to   *inode // nil removes
}

type dataOp struct {
	off  int64
	b    []byte
	trim bool // truncate to off
	// dropped says that a Sync failed to write it: it may be on the disk or
	// not, and no later Sync writes it.
	dropped bool
}

var (
	errDisk  = errors.New("disk: injected failure")
	errShort = errors.New("disk: injected short write")
)

func newDisk() *disk {
	return &disk{
		dirs:  map[string]bool{},
		names: map[string]*inode{}, durable: map[string]*inode{},
		locks: map[string]bool{}, counts: map[string]int{},
	}
}

func (d *disk) setHook(h func(op, name string) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hook = h
}

func (d *disk) count(op string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.counts[op]
}

func (d *disk) ask(op, name string) error {
	d.mu.Lock()
	h := d.hook
	d.counts[op]++
	d.mu.Unlock()
	if h == nil {
		return nil
	}
	return h(op, filepath.Base(name))
}

func (o dataOp) apply(b []byte) []byte {
	end := o.off + int64(len(o.b))
	if o.trim {
		if int64(len(b)) > o.off {
			return b[:o.off:o.off]
		}
	}
	if n := end - int64(len(b)); n > 0 {
		b = append(b, make([]byte, n)...)
	}
	copy(b[o.off:], o.b)
	return b
}

func clone(nodes map[*inode]*inode, n *inode) *inode {
	if c, ok := nodes[n]; ok || n == nil {
		return c
	}
	n.shared = true
	c := &inode{data: n.data, durable: n.durable, shared: true, pending: slices.Clone(n.pending), mode: n.mode}
	nodes[n] = c
	return c
}

// own makes the content of a file that of this disk alone.
func (n *inode) own() {
	if n.shared {
		n.data, n.durable, n.shared = slices.Clone(n.data), slices.Clone(n.durable), false
	}
}

// change does to a file what a process does.
func (n *inode) change(op dataOp) {
	n.own()
	n.data, n.pending = op.apply(n.data), append(n.pending, op)
}

// damage changes what a file holds behind the back of everybody, so that it
// stays that way.
func (d *disk) damage(name string, fn func([]byte) []byte) {
	n := d.names[name]
	data := fn(slices.Clone(n.data))
	n.data, n.durable, n.shared, n.pending = data, data, true, nil
}

// flip damages one bit.
func (d *disk) flip(name string, bit int) {
	d.damage(name, func(b []byte) []byte { b[bit/8] ^= 1 << (bit % 8); return b })
}

// restart returns the disk as the next process finds it: everything written
// is there, no lock is held.
func (d *disk) restart() *disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	c, nodes := newDisk(), map[*inode]*inode{}
	maps.Copy(c.dirs, d.dirs)
	for name, n := range d.names {
		c.names[name] = clone(nodes, n)
	}
	for name, n := range d.durable {
		c.durable[name] = clone(nodes, n)
	}
	for _, op := range d.pending {
		c.pending = append(c.pending, nameOp{op.name, clone(nodes, op.to)})
	}
	return c
}

// powerCut returns the disk as it is after losing power: of what was not made
// durable, any part may be there, in any order, and a write may be torn.
func (d *disk) powerCut(rng *rand.Rand) *disk {
	c := d.restart()
	chance := []float64{0, 0.5, 0.9, 1}[rng.IntN(4)]
	names := c.durable
	for _, op := range c.pending {
		switch {
		case rng.Float64() >= chance:
		case op.to == nil:
			delete(names, op.name)
		default:
			names[op.name] = op.to
		}
	}
	out := newDisk()
	out.dirs = c.dirs
	for name, n := range names {
		b := slices.Clone(n.durable)
		for _, op := range n.pending {
			if rng.Float64() >= chance {
				continue
			}
			if !op.trim && rng.IntN(3) == 0 {
				cut := rng.IntN(len(op.b) + 1)
				switch rng.IntN(3) {
				case 0: // the end is missing
					op.b = op.b[:cut]
				case 1: // the beginning is missing
					op.off, op.b = op.off+int64(cut), op.b[cut:]
				default: // the length is there, the content is what was there before
					lost := make([]byte, cut)
					copy(lost, b[min(op.off, int64(len(b))):])
					op.b = slices.Concat(lost, op.b[cut:])
				}
			}
			b = op.apply(b)
		}
		m := &inode{data: b, durable: b, shared: true, mode: n.mode}
		out.names[name], out.durable[name] = m, m
	}
	return out
}

// file returns the content of the one file whose base name begins with the
// prefix.
func (d *disk) file(prefix string) (name string, n *inode) {
	for path, node := range d.names {
		if base := filepath.Base(path); len(base) >= len(prefix) && base[:len(prefix)] == prefix {
			if n != nil && path < name {
				continue
			}
			name, n = path, node
		}
	}
	return name, n
}

// list returns the names of the files of the store.
func (d *disk) list() []string { return d.in(dir) }

func (d *disk) in(dir string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []string
	for path := range d.names {
		if filepath.Dir(path) == filepath.Clean(dir) {
			out = append(out, filepath.Base(path))
		}
	}
	slices.Sort(out)
	return out
}

func (d *disk) MkdirAll(dir string, _ fs.FileMode) error {
	if err := d.ask("mkdir", dir); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dirs[filepath.Clean(dir)] = true // and at once durable
	return nil
}

func (d *disk) Chmod(name string, _ fs.FileMode) error { return d.ask("chmod", name) }

func (d *disk) change(name string, to *inode) {
	d.pending = append(d.pending, nameOp{name, to})
	if to == nil {
		delete(d.names, name)
	} else {
		d.names[name] = to
	}
}

func (d *disk) ReadDir(dir string) ([]string, error) {
	if err := d.ask("readdir", dir); err != nil {
		return nil, err
	}
	if !d.has(dir) {
		return nil, fs.ErrNotExist
	}
	return d.in(dir), nil
}

func (d *disk) has(dir string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dirs[filepath.Clean(dir)]
}

func (d *disk) OpenFile(name string, flag int, perm fs.FileMode) (kv.File, error) {
	if err := d.ask("open", name); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	n, ok := d.names[name]
	switch {
	case ok && flag&os.O_EXCL != 0:
		return nil, fs.ErrExist
	case !ok && (flag&os.O_CREATE == 0 || !d.dirs[filepath.Dir(name)]):
		return nil, fs.ErrNotExist
	case !ok:
		n = &inode{mode: perm}
		d.change(name, n)
	}
	if flag&os.O_TRUNC != 0 {
		n.change(dataOp{trim: true})
	}
	return &handle{d, n, name}, nil
}

func (d *disk) Rename(from, to string) error {
	if err := d.ask("rename", from); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	n, ok := d.names[from]
	if !ok {
		return fs.ErrNotExist
	}
	// One operation, but a cut may keep both names, as link and unlink would.
	d.change(to, n)
	d.change(from, nil)
	return nil
}

func (d *disk) Remove(name string) error {
	if err := d.ask("remove", name); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.names[name]; !ok {
		return fs.ErrNotExist
	}
	d.change(name, nil)
	return nil
}

func (d *disk) SyncDir(dir string) error {
	if err := d.ask("syncdir", dir); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	rest := d.pending[:0]
	for _, op := range d.pending {
		switch {
		case filepath.Dir(op.name) != filepath.Clean(dir):
			rest = append(rest, op)
		case op.to == nil:
			delete(d.durable, op.name)
		default:
			d.durable[op.name] = op.to
		}
	}
	d.pending = rest
	return nil
}

func (d *disk) Lock(name string) (io.Closer, error) {
	if err := d.ask("lock", name); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.locks[name] {
		return nil, kv.ErrLocked
	}
	d.locks[name] = true
	return unlock(func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.locks, name)
	}), nil
}

type unlock func()

func (u unlock) Close() error { u(); return nil }

type handle struct {
	d    *disk
	n    *inode
	name string
}

func (h *handle) ReadAt(b []byte, off int64) (int, error) {
	if err := h.d.ask("read", h.name); err != nil {
		return 0, err
	}
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	if off >= int64(len(h.n.data)) {
		return 0, io.EOF
	}
	n := copy(b, h.n.data[off:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (h *handle) WriteAt(b []byte, off int64) (int, error) {
	err := h.d.ask("write", h.name)
	if errors.Is(err, errShort) {
		b = b[:len(b)*2/3]
	} else if err != nil {
		return 0, err
	}
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	h.n.change(dataOp{off: off, b: slices.Clone(b)})
	return len(b), err
}

func (h *handle) Truncate(size int64) error {
	if err := h.d.ask("truncate", h.name); err != nil {
		return err
	}
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	h.n.change(dataOp{off: size, trim: true})
	return nil
}

func (h *handle) Sync() error {
	h.d.mu.Lock()
	begun := len(h.n.pending) // what is written while it flushes need not be in it
	h.d.mu.Unlock()
	err := h.d.ask("sync", h.name)
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	begun = min(begun, len(h.n.pending)) // another flush was faster
	if err != nil {
		// Linux takes the pages for clean now: no later fsync writes them,
		// though every process goes on to see them.
		for i := range begun {
			h.n.pending[i].dropped = true
		}
		return err
	}
	h.n.own()
	for _, op := range h.n.pending[:begun] {
		if !op.dropped {
			h.n.durable = op.apply(h.n.durable)
		}
	}
	h.n.pending = slices.Clone(h.n.pending[begun:])
	return nil
}

func (h *handle) Size() (int64, error) {
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	return int64(len(h.n.data)), nil
}

func (h *handle) Close() error { return nil }

func (h *handle) Linked(name string) bool {
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	return h.d.names[name] == h.n
}

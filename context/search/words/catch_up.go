package words

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ctxd/ctxd/context/search/text"
)

// load takes in what is on disk, as far as it is still true, and notes which notes
// are left to be read. The caller has the lock, and the index is empty.
func (x *Index) load() {
	err := x.restore()
	if err != nil {
		x.reset()
		clear(x.waiting)
		if !errors.Is(err, fs.ErrNotExist) {
			x.file.anew = reasonOf(err)
			x.log.Info("search: the index of words is made anew", "reason", err)
		}
		for n := range x.src.All() {
			x.waiting[n.ID()] = struct{}{}
		}
		return
	}
	if x.file.late > 0 {
		x.log.Info("search: notes changed since the index of words was written", "notes", x.file.late)
	}
	x.enterFew()
}

// reasonOf says without more words what is wrong with a file.
func reasonOf(err error) string { return strings.TrimPrefix(err.Error(), errUnusable.Error()+": ") }

func stampOf(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.UnixNano()
}

// restore takes the index over from the file: the documents that are still of the
// notes that are there. The others are taken out, and notes that are not in it wait.
func (x *Index) restore() error {
	if x.opts.Dir == "" {
		return fs.ErrNotExist
	}
	if err := removeTemps(x.opts.Dir); err != nil {
		x.log.Warn("search: a file of a writer that was interrupted can't be removed", "error", err)
	}
	s, err := x.opts.Ahead.of(x.opts.Dir)
	switch {
	case err != nil:
		return err
	case s.literal != x.opts.Literal:
		return fmt.Errorf("%w: it is of another version", errUnusable)
	}
	s.x.stem = x.stem
	x.x, x.heads, x.number, x.free = s.x, s.heads, s.number, s.free
	x.docs = make([]text.Doc, len(s.docs))
	x.file.head, x.file.docs, x.file.sums = s.head, len(s.docs), s.sums
	x.match(s)
	gone := x.missing(s)
	x.file.taken = len(x.number) - len(gone)
	x.file.late = max(len(gone), len(x.waiting))
	return x.leave(gone)
}

// match finds the notes of the documents. A note is the one that the file is of when
// it has the same version, time and text. The text need not be looked at when the
// last transaction of the store is the one that the file has seen last.
func (x *Index) match(s *stored) {
	for n := range x.src.All() {
		if d, ok := s.number[n.ID()]; ok && s.docs[d] == (storedDoc{n.Version(), n.UpdatedAt().UnixNano()}) {
			x.docs[d] = n
		} else {
			x.waiting[n.ID()] = struct{}{}
		}
	}
	if s.at != 0 && s.seq == x.seq && s.at == x.at && x.db.Seq() == x.seq { // a commit may be under way
		return
	}
	var next atomic.Int64
	const some = 512
	differ := make([][]docID, runtime.GOMAXPROCS(0))
	inParallel(len(differ), func(k, _ int) {
		for {
			from := int(next.Add(some)) - some
			if from >= len(x.docs) {
				return
			}
			for d := from; d < min(from+some, len(x.docs)); d++ {
				if n := x.docs[d]; n != nil && textsOf(n) != s.sums[d] {
					differ[k] = append(differ[k], docID(d))
				}
			}
		}
	})
	for _, d := range slices.Concat(differ...) {
		x.waiting[x.docs[d].ID()] = struct{}{}
		x.docs[d] = nil
	}
}

// missing returns the documents of which the note is not there, or another one.
func (x *Index) missing(s *stored) (gone []docID) {
	free := 0
	for d, n := range x.docs {
		switch {
		case n != nil:
		case free < len(s.free) && s.free[free] == docID(d):
			free++
		default:
			gone = append(gone, docID(d))
		}
	}
	return gone
}

// leave takes documents out, of which the file must tell the words.
func (x *Index) leave(gone []docID) error {
	if len(gone) == 0 {
		return nil
	}
	if len(gone) > len(x.number)/2 {
		return fmt.Errorf("%w: %d of its %d notes have changed", errUnusable, len(gone), len(x.number))
	}
	r := removal{x: x.x, hidden: make(map[wordID]uint32)}
	from := x.openVariants()
	defer from.close()
	var v variantsOf
	left := gone
	for d := docID(0); len(left) > 0; d++ {
		if !from.next(&v) {
			return fmt.Errorf("%w: a frame is damaged", errUnusable)
		}
		if d != left[0] {
			continue
		}
		left = left[1:]
		if !r.take(d, &v) {
			return fmt.Errorf("%w: the words of a note are damaged", errUnusable)
		}
		x.file.put(d, nil)
	}
	if !r.run() {
		return fmt.Errorf("%w: the words of a note are damaged", errUnusable)
	}
	was := make(map[docID]bool, len(gone))
	for _, d := range gone {
		was[d] = true
		x.free = append(x.free, d)
	}
	for id, d := range x.number {
		if was[d] {
			delete(x.number, id)
		}
	}
	x.x.average()
	return nil
}

// Up to so many notes that wait, and bytes of their texts, are entered before the
// first search: in less time than it takes to ask again.
const (
	fewWaiting = 1000
	fewBytes   = 1 << 20
)

// enterFew enters the notes that wait, when they are few.
func (x *Index) enterFew() {
	if len(x.waiting) == 0 || len(x.waiting) > fewWaiting {
		return
	}
	var list []change
	size := 0
	for id := range x.waiting {
		n := x.src.Get(id)
		if n == nil { // the commit that took it away waits for the index
			delete(x.waiting, id)
			continue
		}
		size += n.Size()
		list = append(list, change{id: id, now: n})
	}
	if size > fewBytes {
		return
	}
	slices.SortFunc(list, func(a, b change) int { return strings.Compare(a.id, b.id) })
	if len(list) == 0 {
		return
	}
	var parts []part
	for _, some := range shares(list, runtime.GOMAXPROCS(0)) {
		parts = append(parts, part{new(reading), some})
	}
	inParallel(len(parts), func(k, _ int) { parts[k].read(x.fields) })
	x.takeAll(parts)
}

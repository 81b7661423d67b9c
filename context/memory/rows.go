package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

// Row is one piece of all that the room keeps: exactly one member but File and Line is set.
type Row struct {
	File     string // where an import has it from, where that is several files
	Line     int
	Synonyms *Synonyms
	Context  *StoredContext
	Memory   *Whole
	Version  *Former
	Used     *Numbers
	Draft    *Draft // of another program; its ID says whether it was taken in before
}

// Whole is a memory with what is kept apart from it.
type Whole struct {
	Record
	Use      *Use // nil where nothing was ever counted
	Contexts []Membership
}

// Membership says since when a memory belongs to a context.
type Membership struct {
	ID string    `json:"id"`
	At time.Time `json:"at"`
}

// Former is what the memory of the row before, or a few before, said once.
type Former struct {
	MemoryID string `json:"memory"`
	Version
}

// Numbers are numbers that were used and that nobody has any more, the last one included.
type Numbers struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// LastNumber is the last number that was given, 0 for none.
func (s *Store) LastNumber(context.Context) (int64, error) { return s.taken.Last(), nil }

// rowGroup is how many memories are read or written at a time: commits wait for a reader.
const rowGroup = 200

// wholeOnly refuses readers who do not see everything.
func wholeOnly(v *audience.View) error {
	if !v.Hides() {
		return nil
	}
	return fault.New(fault.Unavailable, "exports and imports hold private memories, and the reader is remote").
		WithHint("ask for it as a local reader")
}

// Rows gives all that the room keeps to yield, in an order in which an Intake takes it: synonyms by their ids,
// contexts, each behind the one above it, then memories by their numbers, each before what it said once. done and
// total count memories. What is written meanwhile may be in it or not; each memory is from one moment. A memory
// that is private by its source is given as private. The error of a reader who does not see everything is
// Unavailable. O(all), in memory O(ids).
func (s *Store) Rows(ctx context.Context, v *audience.View, yield func(r Row, done, total int) error) error {
	if err := wholeOnly(v); err != nil {
		return err
	}
	sets, tree, order, err := s.outline(ctx)
	if err != nil {
		return err
	}
	for _, set := range sets {
		if err := yield(Row{Synonyms: set}, 0, len(order)); err != nil {
			return err
		}
	}
	for _, c := range tree {
		if err := yield(Row{Context: c}, 0, len(order)); err != nil {
			return err
		}
	}
	done := 0
	var unused *Numbers // are given together
	flush := func() error {
		if unused == nil {
			return nil
		}
		r := Row{Used: unused}
		unused = nil
		return yield(r, done, len(order))
	}
	for group := range slices.Chunk(order, rowGroup) {
		rows, err := s.rows(ctx, group)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if r.Used != nil && unused != nil && unused.To+1 == r.Used.From {
				unused.To = r.Used.To
				continue
			}
			if err := flush(); err != nil {
				return err
			}
			if r.Used != nil {
				unused = r.Used
				continue
			}
			if r.Memory != nil {
				done++
			}
			if err := yield(r, done, len(order)); err != nil {
				return err
			}
		}
	}
	return flush()
}

// given is a number and who has it: nobody where the id is empty.
type given struct {
	n  int64
	id string
}

// outline returns the synonyms, the contexts, each behind the one above it, and all numbers.
func (s *Store) outline(ctx context.Context) (sets []*Synonyms, tree []*StoredContext, order []given, err error) {
	below := make(map[string][]*StoredContext)
	known := make(map[string]bool)
	err = s.db.View(ctx, func(tx *kv.Tx) error {
		for _, set := range synonymSets.All(tx, "") {
			sets = append(sets, set)
		}
		for id, c := range StoredContexts.All(tx, "") {
			below[c.ParentID] = append(below[c.ParentID], c)
			known[id] = true
		}
		for key := range numbers.All(tx, "") {
			n, err := strconv.ParseInt(strings.TrimLeft(key, "0"), 10, 64)
			if err != nil { // no number that was ever given
				continue
			}
			order = append(order, given{n, ""})
		}
		s.mu.RLock()
		for id, m := range s.byID {
			order = append(order, given{m.Number, id})
		}
		s.mu.RUnlock()
		return tx.Err()
	})
	slices.SortFunc(order, func(a, b given) int { return cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(a.id, b.id)) })
	tops := []string{""}
	for parent := range below {
		if parent != "" && !known[parent] { // damaged: what lies above is gone
			tops = append(tops, parent)
		}
	}
	slices.Sort(tops)
	for i := 0; i < len(tops); i++ {
		for _, c := range below[tops[i]] { // by their ids
			tree, tops = append(tree, c), append(tops, c.ID)
		}
	}
	return sets, tree, order, err
}

// rows returns the memories of a group of numbers as they are now.
func (s *Store) rows(ctx context.Context, group []given) (list []Row, err error) {
	err = s.db.View(ctx, func(tx *kv.Tx) error {
		list = list[:0]
		for _, g := range group {
			m, err := Records.Get(tx, g.id)
			if err != nil {
				return err
			}
			if m == nil || m.Number != g.n {
				list = append(list, Row{Used: &Numbers{g.n, g.n}})
				continue
			}
			w := &Whole{Record: *m}
			if w.Use, err = uses.Get(tx, m.ID); err != nil {
				return err
			}
			private, err := s.fromPrivate(tx, &m.Source)
			if err != nil {
				return err
			}
			w.Private = w.Private || private
			if w.Contexts, err = s.membership(tx, m.ID); err != nil {
				return err
			}
			list = append(list, Row{Memory: w})
			for _, was := range versions.All(tx, m.ID+"/") {
				list = append(list, Row{Version: &Former{m.ID, *was}})
			}
		}
		return tx.Err()
	})
	return list, err
}

// membership returns the contexts of a memory, by their ids.
func (s *Store) membership(tx *kv.Tx, id string) ([]Membership, error) {
	s.mu.RLock()
	in := slices.Sorted(maps.Keys(s.groups.Inside(id)))
	s.mu.RUnlock()
	var list []Membership
	for _, c := range in {
		since, err := contextMembers.Get(tx, memberKey(c, id))
		if err != nil {
			return nil, err
		}
		if since != nil {
			list = append(list, Membership{c, since.At})
		}
	}
	slices.SortFunc(list, func(a, b Membership) int { return cmp.Compare(a.ID, b.ID) })
	return list, nil
}

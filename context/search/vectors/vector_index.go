package vectors

// A [FlatIndex] (vector_*.go) finds texts by their vectors: it is in memory, every search
// looks at every row of it, and it is kept in a file.
//
// It knows nothing of documents: an [Item] is an id with the vectors of its parts.
// [Index] keeps the chunks of documents in it. Nothing is shared with the index of
// words: words have dictionaries and postings, vectors have rows.
//
// # The scan
//
// A row is kept as int8 codes with a scale. A scan compares the codes of all rows with
// the widest instructions of the processor (AVX2; plain Go elsewhere). It then ranks the
// best rows by their exact vectors, in float32. A search that may find no more than 1,024
// rows, because of its filters, compares the exact vectors of all of these and scans none.
//
// There is no graph or tree of neighbours: a scan of a million rows takes some 20 ms, and
// sees a change at once.
//
// # Memory and the file
//
// Codes are in memory, dims+36 bytes a row. Exact vectors stay in the file: a
// search reads some fifty of them. On unix the file is mapped into memory, what was
// added to it since is read by calls, as all is elsewhere. Each vector is
// compared with its checksum as it is read, and one that is damaged, or whose
// page can't be read, counts by its codes until Check has taken it out. Numbers
// are little-endian.
//
//	header  magic "ctxdvecs", length 4, model as JSON (name, dims, sha256),
//	        CRC-32C of all that 4, zeros up to a multiple of 8
//	record  magic "vcrd", kind 4, length 4, CRC-32C of kind, length and what
//	        follows 4, what it holds, zeros up to a multiple of 8
//	void    kind 1: zeros, which the checksum does not cover
//	row     kind 2: key of the text 16, vector 4*dims, and of each token, if the model gives any,
//	        dims codes of 2 bits (see embed.Tokens)
//	item    kind 3: key 16, length of the id 4, id, for each part where the
//	        record of its row begins, 0 for none 8
//
// Records are only appended; of two items with an id the later holds. A record
// that is of no use any more is overwritten with zeros soon (see Flush): nothing of
// a text that was deleted stays on disk, not even its vector. When half of the file
// is waste it is written anew beside, and takes its place (see Compact).
//
// # What a crash leaves
//
// Nothing is synced on the way, since all of it can be made again. A file is read
// to its last sound record and cut there; a damaged record in between is passed
// over. An item that has lost a row keeps the others and has the zero TextKey: it is to
// be put again, which costs what is missing only. Whether an item is still what
// its id stands for is for the caller to say, by its TextKey: so an index of other
// notes than those that are there can do no harm.

import (
	"cmp"
	"container/heap"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/ctxd/ctxd/entities/fault"
)

const (
	// exactRows is up to how many rows that count a search compares every vector in
	// float32; above it int8 chooses the candidates.
	exactRows = 1024
	// candidates is how many rows int8 chooses at least; float32 ranks them.
	candidates = 50
	// blockRows is how many rows are kept, and scanned, together.
	blockRows = 1024
)

// TextKey stands for a text. The zero Key stands for none.
type TextKey [16]byte

// NewTextKey returns the Key of a text in parts: the head of a SHA-256.
func NewTextKey(parts ...string) (k TextKey) {
	h := sha256.New()
	var size [8]byte
	for _, p := range parts {
		binary.LittleEndian.PutUint64(size[:], uint64(len(p)))
		h.Write(size[:])
		h.Write([]byte(p))
	}
	copy(k[:], h.Sum(nil))
	return k
}

// Item is something that is found by the vectors of its parts.
type Item struct {
	ID    string
	Key   TextKey     // of all that the vectors are made of
	Parts []TextKey   // of the text of each part
	New   [][]float32 // vectors of the parts; nil: the one that is known, or none
	// Tokens are what the model says of the tokens of each part of New, see embed.Tokens; nil: nothing of any.
	Tokens [][]byte
}

// tokens are those of a part.
func (it *Item) tokens(part int) []byte {
	if it.Tokens == nil {
		return nil
	}
	return it.Tokens[part]
}

// FlatHit is the part of an item that is nearest to a question.
type FlatHit struct {
	ID    string
	Part  int     // its place in Item.Parts
	Score float32 // cosine, from -1 to 1
}

// FlatIndex is a flat index of vectors. Each search looks at every row, so that its
// result is exact but for the rounding of int8, and a change is seen by the next
// search. New makes one in memory, Open one in a file.
//
// All methods may be called concurrently; a change waits for running searches.
type FlatIndex struct {
	dims   int
	stride int // dims, padded so that the scan takes whole steps

	writing sync.Mutex // held by whoever changes more than the memory

	mu     sync.RWMutex // guards what follows
	exact  int          // exactRows, but in tests
	coarse bool         // no more is kept than what int8 says; see NewCoarseIndex
	blocks []*block
	count  int // rows in all: all blocks but the last are full
	items  map[string]*item
	file   *file // nil: in memory; see vector_file.go
}

// block is up to blockRows rows, in columns.
type block struct {
	codes  []int8    // blockRows * stride
	scales []float32 // a value is scale times code
	floats []float32 // blockRows * dims, without a file
	tokens [][]byte  // without a file
	at     []int64   // where the records of the rows lie, in a file
	keys   []TextKey
	owners []*item
	parts  []int32
}

// item is what is known of an Item.
type item struct {
	id   string
	key  TextKey
	rows []int32 // by part; noRow for one without a vector
	at   int64   // where its record lies, in a file; 0 for none
}

const noRow = -1

// NewFlatIndex makes an empty index in memory for vectors of dims values. It costs
// dims+36 bytes a row, and 4*dims for the exact vectors.
func NewFlatIndex(dims int) *FlatIndex {
	return &FlatIndex{
		dims: dims, stride: (dims + scanStep - 1) / scanStep * scanStep, exact: exactRows,
		items: map[string]*item{},
	}
}

// NewCoarseIndex makes an empty index in memory as NewFlatIndex does, in which a vector is what int8 says of it: for those
// that were read from another index, as Mean gives them. It costs dims+36 bytes a row.
func NewCoarseIndex(dims int) *FlatIndex {
	x := NewFlatIndex(dims)
	x.coarse = true
	return x
}

// Len is the number of vectors.
func (x *FlatIndex) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.count
}

// Items is the number of items.
func (x *FlatIndex) Items() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.items)
}

// Has reports whether an item has any vector.
func (x *FlatIndex) Has(id string) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	it := x.items[id]
	return it != nil && slices.ContainsFunc(it.rows, func(row int32) bool { return row != noRow })
}

// All returns the keys of all items by their ids.
func (x *FlatIndex) All() map[string]TextKey {
	x.mu.RLock()
	defer x.mu.RUnlock()
	all := make(map[string]TextKey, len(x.items))
	for id, it := range x.items {
		all[id] = it.key
	}
	return all
}

// Key returns the key of an item, the zero Key when it is not there or not whole.
func (x *FlatIndex) Key(id string) TextKey {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if it := x.items[id]; it != nil {
		return it.key
	}
	return TextKey{}
}

// Vector is the vector of the first part of an item, nil for none.
func (x *FlatIndex) Vector(id string) []float32 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	b, i := x.first(id)
	if b == nil {
		return nil
	}
	return slices.Clone(x.vector(make([]float32, x.dims), b, i))
}

// Cosine is that of the first parts of two items by int8, 0 where one has none.
func (x *FlatIndex) Cosine(id, other string) float64 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	a, i := x.first(id)
	b, j := x.first(other)
	if a == nil || b == nil {
		return 0
	}
	sum, codes := int32(0), b.codes[j*x.stride:][:x.dims]
	for d, c := range a.codes[i*x.stride:][:x.dims] {
		sum += int32(c) * int32(codes[d])
	}
	return float64(sum) * float64(a.scales[i]) * float64(b.scales[j])
}

// first finds the row of the first part of an item, in no block for none. Hold x.mu.
func (x *FlatIndex) first(id string) (*block, int) {
	it := x.items[id]
	if it == nil || len(it.rows) == 0 || it.rows[0] == noRow {
		return nil, 0
	}
	return x.at(int(it.rows[0]))
}

// Put makes the vectors of it the only ones of that item. They are copied, and
// need not have length 1. current, if not nil, is asked at the moment when
// they become visible: when it says no, nothing does, and Put returns false. It
// must not call the index. An error of the file leaves the item as it was.
func (x *FlatIndex) Put(it Item, current func() bool) (bool, error) {
	for i, v := range it.New {
		if v != nil && (!x.usable(v) || !isRow(rowBytes(x.dims)+len(it.tokens(i)), x.dims)) {
			return false, &fault.Error{
				Kind: fault.Invalid, Op: "vector.put", Ref: it.ID,
				Msg: fmt.Sprintf("vector %d is not %d finite numbers, or all zero", i, x.dims),
			}
		}
	}
	x.writing.Lock()
	defer x.writing.Unlock()
	at := placed{rows: make([]int64, len(it.Parts))}
	if x.file != nil {
		if err := x.write(&it, &at); err != nil {
			return false, err
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if current != nil && !current() {
		x.drop(at)
		return false, nil
	}
	x.install(&it, at)
	x.remap()
	return true, nil
}

// install puts an item in the place of its former version. The caller has the
// lock.
func (x *FlatIndex) install(it *Item, at placed) {
	old := x.items[it.ID]
	known := x.known(old)
	now := &item{id: it.ID, key: it.Key, at: at.item, rows: make([]int32, len(it.Parts))}
	unit := make([]float32, x.dims)
	for i, key := range it.Parts {
		now.rows[i] = noRow
		if it.New[i] != nil {
			normalise(unit, it.New[i])
			now.rows[i] = x.append(now, i, key, unit, at.rows[i])
			if x.file == nil && it.Tokens != nil {
				b, j := x.at(int(now.rows[i]))
				b.tokens[j] = slices.Clone(it.Tokens[i])
			}
		} else if row := known.take(key); row != noRow {
			b, j := x.at(int(row))
			old.rows[b.parts[j]] = noRow
			b.owners[j], b.parts[j] = now, int32(i)
			now.rows[i] = row
		}
	}
	x.items[it.ID] = now
	if old != nil {
		x.removeRows(old)
		x.drop(placed{item: old.at})
	}
}

// knownRows are the rows of an item by the keys of their parts, of which
// several may say the same.
type knownRows map[TextKey][]int32

func (x *FlatIndex) known(it *item) knownRows {
	if it == nil {
		return nil
	}
	known := make(knownRows, len(it.rows))
	for _, row := range it.rows {
		if row != noRow {
			if b, j := x.at(int(row)); b.keys[j] != (TextKey{}) {
				known[b.keys[j]] = append(known[b.keys[j]], row)
			}
		}
	}
	return known
}

// take returns a row for a key, each once, or noRow.
func (k knownRows) take(key TextKey) int32 {
	rows := k[key]
	if len(rows) == 0 {
		return noRow
	}
	k[key] = rows[1:]
	return rows[0]
}

// Keep gives an item the parts that its text has now: vectors of parts that it
// had before stay, in their new places, the others go. It reports which parts
// have one. The key of the item is forgotten: it is not whole until it is put.
func (x *FlatIndex) Keep(id string, parts []TextKey) (has []bool) {
	has = make([]bool, len(parts))
	x.writing.Lock()
	defer x.writing.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	old := x.items[id]
	if old == nil {
		return has
	}
	known := x.known(old)
	now := &item{id: id, at: old.at, rows: make([]int32, len(parts))}
	for i, key := range parts {
		row := known.take(key)
		now.rows[i] = row
		if row != noRow {
			b, j := x.at(int(row))
			old.rows[b.parts[j]] = noRow
			b.owners[j], b.parts[j] = now, int32(i)
			has[i] = true
		}
	}
	x.items[id] = now
	x.removeRows(old)
	return has
}

// Delete takes an item out. No later search finds it.
func (x *FlatIndex) Delete(id string) {
	x.writing.Lock()
	defer x.writing.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	if it := x.items[id]; it != nil {
		delete(x.items, id)
		x.removeRows(it)
		x.drop(placed{item: it.at})
	}
}

// usable refuses what has no direction: it would win or spoil every search.
func (x *FlatIndex) usable(v []float32) bool {
	l := length(v)
	return len(v) == x.dims && l > 0 && !math.IsInf(l, 0) && !math.IsNaN(l)
}

func length(v []float32) float64 {
	var squares float64
	for _, f := range v {
		squares += float64(f) * float64(f)
	}
	return math.Sqrt(squares)
}

// normalise writes v at length 1. It divides in float64: the inverse of a tiny
// length does not fit float32.
func normalise(unit, v []float32) {
	l := length(v)
	for i, f := range v {
		unit[i] = float32(float64(f) / l)
	}
}

// append adds a row; unit has length 1, and is copied.
func (x *FlatIndex) append(owner *item, part int, key TextKey, unit []float32, at int64) int32 {
	if x.count == len(x.blocks)*blockRows {
		b := &block{
			codes: make([]int8, blockRows*x.stride), scales: make([]float32, blockRows),
			keys: make([]TextKey, blockRows), owners: make([]*item, blockRows), parts: make([]int32, blockRows),
		}
		if x.file != nil {
			b.at = make([]int64, blockRows)
		} else if !x.coarse {
			b.floats, b.tokens = make([]float32, blockRows*x.dims), make([][]byte, blockRows)
		}
		x.blocks = append(x.blocks, b)
	}
	b, i := x.at(x.count)
	if x.file != nil {
		b.at[i] = at
	} else if !x.coarse {
		copy(b.floats[i*x.dims:][:x.dims], unit)
	}
	b.scales[i] = quantise(b.codes[i*x.stride:][:x.stride], unit)
	b.owners[i], b.parts[i], b.keys[i] = owner, int32(part), key
	x.count++
	return int32(x.count - 1)
}

func (x *FlatIndex) at(row int) (*block, int) { return x.blocks[row/blockRows], row % blockRows }

// removeRows puts the last row in the place of each row of the item, so that no
// gap is ever scanned.
func (x *FlatIndex) removeRows(it *item) {
	for part := range it.rows {
		row := int(it.rows[part]) // which may have moved with one before
		if row == noRow {
			continue
		}
		it.rows[part] = noRow
		x.count--
		from, i := x.at(x.count)
		to, j := x.at(row)
		if x.file != nil {
			x.file.dead = append(x.file.dead, to.at[j])
		}
		if row != x.count {
			copy(to.codes[j*x.stride:][:x.stride], from.codes[i*x.stride:])
			if x.file != nil {
				to.at[j] = from.at[i]
			} else {
				copy(to.floats[j*x.dims:][:x.dims], from.floats[i*x.dims:])
				to.tokens[j] = from.tokens[i]
			}
			to.scales[j], to.keys[j], to.owners[j], to.parts[j] = from.scales[i], from.keys[i], from.owners[i], from.parts[i]
			to.owners[j].rows[to.parts[j]] = int32(row)
		}
		from.owners[i] = nil
		if from.tokens != nil {
			from.tokens[i] = nil
		}
		if i == 0 {
			x.blocks = x.blocks[:len(x.blocks)-1]
		}
	}
}

// quantise writes row as int8 and gives the scale that leads back.
func quantise(codes []int8, row []float32) (scale float32) {
	var most float32
	for _, f := range row {
		most = max(most, f, -f)
	}
	for i, f := range row {
		codes[i] = int8(math.RoundToEven(float64(f / most * 127)))
	}
	return most / 127
}

// Search gives the k items nearest to the question, each with its best part,
// best first, ties by id. allowed, if not nil, says which items count; the
// others take no place from them. It must not call the index.
//
// Time grows with the number of vectors: some 2 ms for 100,000 of 384 values on
// amd64 with AVX2.
func (x *FlatIndex) Search(question []float32, k int, allowed func(id string) bool) []FlatHit {
	if k <= 0 || !x.usable(question) {
		return nil
	}
	unit := make([]float32, x.dims)
	normalise(unit, question)
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.search(unit, k, allowed)
}

// search is Search of a vector of length 1. Hold x.mu.
func (x *FlatIndex) search(unit []float32, k int, allowed func(id string) bool) []FlatHit {
	rows, few := x.few(allowed)
	if few {
		return x.rank(unit, rows, k)
	}
	if allowed == nil {
		allowed = func(string) bool { return true }
	}
	// Several parts of one item may fill the list: then it has to be longer.
	for most := max(candidates, 4*k); ; most *= 4 {
		rows := x.scan(unit, most, allowed)
		hits := x.rank(unit, rows, k)
		if len(hits) == k || len(rows) < most {
			return hits
		}
	}
}

// few returns the rows of items that count, when they are so few that all of them are
// compared exactly. Others have no part in that: who may not see them can't tell that they
// are there.
func (x *FlatIndex) few(allowed func(id string) bool) (rows []int, few bool) {
	if allowed == nil && x.count > x.exact {
		return nil, false
	}
	rows = make([]int, 0, min(x.count, x.exact))
	var last *item // the rows of one mostly lie together
	counts := false
	for row := range x.count {
		b, i := x.at(row)
		if b.owners[i] != last {
			last = b.owners[i]
			counts = allowed == nil || allowed(last.id)
		}
		if !counts {
			continue
		}
		if len(rows) == x.exact {
			return nil, false
		}
		rows = append(rows, row)
	}
	return rows, true
}

// rank orders rows by their exact cosine and keeps the best of each item.
func (x *FlatIndex) rank(unit []float32, rows []int, k int) []FlatHit {
	best := make(map[string]FlatHit, len(rows))
	exact := make([]float32, x.dims)
	for _, row := range rows {
		b, i := x.at(row)
		h := FlatHit{ID: b.owners[i].id, Part: int(b.parts[i]), Score: dot(unit, x.vector(exact, b, i))}
		if old, ok := best[h.ID]; !ok || h.Score > old.Score || h.Score == old.Score && h.Part < old.Part {
			best[h.ID] = h
		}
	}
	hits := make([]FlatHit, 0, len(best))
	for _, h := range best {
		hits = append(hits, h)
	}
	slices.SortFunc(hits, func(a, b FlatHit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	return hits[:min(k, len(hits))]
}

// vector returns the exact vector of a row, which may lie in buf; when it can't
// be read, what its codes say.
func (x *FlatIndex) vector(buf []float32, b *block, i int) []float32 {
	if b.floats != nil {
		return b.floats[i*x.dims:][:x.dims]
	}
	if x.file != nil {
		if x.file.vector(buf, b.at[i]) {
			return buf
		}
		x.file.broken.Store(true)
	}
	for j, c := range b.codes[i*x.stride:][:x.dims] {
		buf[j] = float32(c) * b.scales[i]
	}
	return buf
}

func dot(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	b = b[:len(a)]
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return s0 + s1 + s2 + s3
}

// scan gives up to most rows of allowed items that are nearest by int8, in no
// order. allowed is asked only about rows that would be among them, which
// finds the same as asking first.
func (x *FlatIndex) scan(unit []float32, most int, allowed func(string) bool) []int {
	q := newScanQuery(unit, x.stride)
	found := make(nearRows, 0, most)
	var dots [blockRows]int32
	var asked *item // last; the rows of one mostly lie together
	var answer bool
	ask := func(it *item) bool {
		if it != asked {
			asked, answer = it, allowed(it.id)
		}
		return answer
	}
	for n, b := range x.blocks {
		rows := min(blockRows, x.count-n*blockRows)
		scanRows(dots[:rows], b.codes, q)
		for i, d := range dots[:rows] {
			score := float32(d) * b.scales[i]
			switch {
			case len(found) == most && score <= found[0].score, !ask(b.owners[i]):
			case len(found) < most:
				heap.Push(&found, nearRow{score, int32(n*blockRows + i)})
			default:
				found[0] = nearRow{score, int32(n*blockRows + i)}
				heap.Fix(&found, 0)
			}
		}
	}
	rows := make([]int, len(found))
	for i, f := range found {
		rows[i] = int(f.row)
	}
	return rows
}

type nearRow struct {
	score float32 // cosine by int8, but for a factor common to all
	row   int32
}

// nearRows is a heap with the farthest row on top.
type nearRows []nearRow

func (h nearRows) Len() int           { return len(h) }
func (h nearRows) Less(i, j int) bool { return h[i].score < h[j].score }
func (h nearRows) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *nearRows) Push(x any)        { *h = append(*h, x.(nearRow)) }
func (h *nearRows) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

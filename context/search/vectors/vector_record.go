package vectors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"

	"github.com/ctxd/ctxd/context/embed"
)

// The shape of the file; doc.go describes it.
const (
	fileMagic   = "ctxdvecs"
	recordMagic = 0x64726376 // "vcrd"
	headSize    = 16
	keySize     = len(TextKey{})
	align       = 8       // records begin at multiples of it
	maxRecord   = 1 << 24 // bytes of what a record holds
	maxDims     = 1 << 16
)

// The kinds of records.
const (
	voidRecord byte = iota + 1 // of what is gone: only zeros
	rowRecord                  // key of the part, vector, tokens
	itemRecord                 // key of the item, the length of its id and that, where its rows lie
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// aligned is the size of n bytes with what fills them up.
func aligned(n int) int { return (n + align - 1) / align * align }

// recordSize is the size of a record that holds n bytes.
func recordSize(n int) int { return aligned(headSize + n) }

// seal writes the head of a record over its first bytes.
func seal(record []byte, kind byte, size int) {
	binary.LittleEndian.PutUint32(record, recordMagic)
	binary.LittleEndian.PutUint32(record[4:], uint32(kind))
	binary.LittleEndian.PutUint32(record[8:], uint32(size))
	binary.LittleEndian.PutUint32(record[12:], sumOf(record[:headSize], record[headSize:headSize+size]))
}

// sumOf is the checksum of a record. What a void one holds is no part of it.
func sumOf(head, held []byte) uint32 {
	sum := crc32.Checksum(head[4:12], castagnoli)
	if head[4] == voidRecord {
		return sum
	}
	return crc32.Update(sum, castagnoli, held)
}

// readHead returns what the head of a record says, and whether it can be one.
func readHead(head []byte) (kind byte, size int, ok bool) {
	word := binary.LittleEndian.Uint32(head[4:])
	n := binary.LittleEndian.Uint32(head[8:])
	ok = binary.LittleEndian.Uint32(head) == recordMagic && word >= uint32(voidRecord) && word <= uint32(itemRecord) &&
		n <= maxRecord
	return byte(word), int(n), ok
}

// sound reports whether a whole record is as it was written.
func sound(record []byte, size int) bool {
	return binary.LittleEndian.Uint32(record[12:]) == sumOf(record[:headSize], record[headSize:headSize+size])
}

// rowBytes is what the record of a row without tokens holds.
func rowBytes(dims int) int { return keySize + 4*dims }

// isRow reports whether the record of a row can be so long.
func isRow(size, dims int) bool {
	return size == rowBytes(dims) || size > rowBytes(dims) && dims%4 == 0 && (size-rowBytes(dims))%tokenBytes(dims) == 0
}

// appendRow appends the record of a row.
func appendRow(buf []byte, key TextKey, unit []float32, tokens []byte) []byte {
	from, n := len(buf), rowBytes(len(unit))+len(tokens)
	buf = append(buf, make([]byte, recordSize(n))...)
	r := buf[from:]
	copy(r[headSize:], key[:])
	for i, f := range unit {
		binary.LittleEndian.PutUint32(r[headSize+keySize+4*i:], math.Float32bits(f))
	}
	copy(r[headSize+rowBytes(len(unit)):], tokens)
	seal(r, rowRecord, n)
	return buf
}

// decodeRow reads the vector out of what the record of a row holds.
func decodeRow(unit []float32, held []byte) {
	held = held[keySize:][:4*len(unit)]
	for i := range unit {
		unit[i] = math.Float32frombits(binary.LittleEndian.Uint32(held[4*i:]))
	}
}

// itemBytes is what the record of an item holds.
func itemBytes(id string, parts int) int { return keySize + 4 + len(id) + 8*parts }

// appendItem appends the record of an item.
func appendItem(buf []byte, key TextKey, id string, rows []int64) []byte {
	from, n := len(buf), itemBytes(id, len(rows))
	buf = append(buf, make([]byte, recordSize(n))...)
	r := buf[from:]
	at := headSize + copy(r[headSize:], key[:])
	binary.LittleEndian.PutUint32(r[at:], uint32(len(id)))
	at += 4 + copy(r[at+4:], id)
	for _, row := range rows {
		binary.LittleEndian.PutUint64(r[at:], uint64(row))
		at += 8
	}
	seal(r, itemRecord, n)
	return buf
}

// decodeItem reads what the record of an item holds; ok tells whether that can be.
func decodeItem(held []byte) (key TextKey, id string, rows []int64, ok bool) {
	if len(held) < keySize+4 {
		return key, "", nil, false
	}
	n := uint64(binary.LittleEndian.Uint32(held[copy(key[:], held):]))
	held = held[keySize+4:]
	if n > uint64(len(held)) || (uint64(len(held))-n)%8 != 0 {
		return key, "", nil, false
	}
	id, held = string(held[:n]), held[n:]
	rows = make([]int64, len(held)/8)
	for i := range rows {
		rows[i] = int64(binary.LittleEndian.Uint64(held[8*i:]))
	}
	return key, id, rows, true
}

// header is the beginning of a file: magic, length of the model, model as JSON,
// checksum of all that.
func header(m embed.Model) []byte {
	text, err := json.Marshal(m)
	if err != nil {
		panic(err) // three plain members
	}
	h := append([]byte(fileMagic), 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(h[8:], uint32(len(text)))
	h = append(h, text...)
	h = binary.LittleEndian.AppendUint32(h, crc32.Checksum(h, castagnoli))
	return append(h, make([]byte, aligned(len(h))-len(h))...)
}

// readHeader returns the model of a file and where its records begin.
func readHeader(r io.ReaderAt) (m embed.Model, start int64, err error) {
	damaged := fmt.Errorf("the beginning of the file is damaged")
	head := make([]byte, 12)
	if _, err := r.ReadAt(head, 0); err != nil {
		return m, 0, err
	}
	n := binary.LittleEndian.Uint32(head[8:])
	if !bytes.HasPrefix(head, []byte(fileMagic)) || n > 1<<16 {
		return m, 0, damaged
	}
	all := make([]byte, 12+int(n)+4)
	if _, err := r.ReadAt(all, 0); err != nil {
		return m, 0, err
	}
	body := all[:len(all)-4]
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(all[len(body):]) {
		return m, 0, damaged
	}
	if json.Unmarshal(body[12:], &m) != nil || m.Dims < 1 || m.Dims > maxDims {
		return m, 0, damaged
	}
	return m, int64(aligned(len(all))), nil
}

// FileModel returns the model of the vectors in a file.
func FileModel(name string) (embed.Model, error) {
	if err := plain(name); err != nil {
		return embed.Model{}, err
	}
	f, err := os.Open(name)
	if err != nil {
		return embed.Model{}, err
	}
	defer f.Close()
	m, _, err := readHeader(f)
	return m, err
}

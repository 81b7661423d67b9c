package nats

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// KeptFile is beside the key file: the newest messages of the log as this machine has written or
// read them, sealed as they are on the servers. Servers that have lost the end of the log get it
// back from there, byte for byte, so that it continues the same chain of hashes.
//
// The file begins with the id of the store. A message in it has a header of 16 bytes, big endian:
// sequence (8), length (4), CRC-32C of both and of the message (4). It is written before a write is
// acknowledged, and flushed once a second: a power cut of this machine loses a second of it, never
// a record of the store.
const KeptFile = "newest"

const (
	// keptAtLeast is how many bytes of the newest messages stay when the file is cut, which is when
	// it has twice as many.
	keptAtLeast = 16 << 20
	keptHeader  = 16
	keptFlush   = time.Second
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// kept are the newest messages of a log in a file. What can't be written or read is not kept, and
// nothing else fails for it. A nil one keeps nothing.
type kept struct {
	path  string
	store StoreID

	mu     sync.Mutex // of all below
	file   *os.File   // nil: not open yet, or broken
	broken bool
	dirty  bool
	size   int64
	first  uint64      // sequence of places[0]
	places []keptPlace // of messages, without a gap
}

type keptPlace struct {
	at  int64 // of the message, behind its header
	n   int
	sum uint32
}

// newKept keeps messages beside a key file; "": nowhere.
func newKept(keyPath string, store StoreID) *kept {
	if keyPath == "" {
		return nil
	}
	return &kept{path: filepath.Join(filepath.Dir(keyPath), KeptFile), store: store}
}

// add keeps a message. Those behind it are dropped if there was another one in its place, and all
// if it does not follow on what is kept.
func (k *kept) add(seq uint64, message []byte) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.open() {
		return
	}
	sum := keptSum(seq, message)
	i := seq - k.first
	switch {
	case len(k.places) == 0 || seq < k.first || i > uint64(len(k.places)):
		k.cut(0)
		k.first = seq
	case i < uint64(len(k.places)) && k.places[i].sum == sum:
		return
	case i < uint64(len(k.places)):
		k.cut(int(i))
	}
	k.append(seq, sum, message)
	if k.size > 2*keptAtLeast {
		k.shrink(k.bound())
	}
}

// get returns a message that is kept.
func (k *kept) get(seq uint64) ([]byte, bool) {
	if k == nil {
		return nil, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.open() || seq < k.first || seq-k.first >= uint64(len(k.places)) {
		return nil, false
	}
	return k.read(seq)
}

// forget drops the messages before a sequence, which the servers do not have any more.
func (k *kept) forget(before uint64) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.open() && len(k.places) > 0 && before > k.first {
		k.shrink(before)
	}
}

// flushing flushes until ctx ends.
func (k *kept) flushing(ctx context.Context) {
	if k == nil {
		return
	}
	tick := time.NewTicker(keptFlush)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			k.flush()
		case <-ctx.Done():
			return
		}
	}
}

// flush makes durable what is kept.
func (k *kept) flush() {
	if k == nil {
		return
	}
	k.mu.Lock()
	f, dirty := k.file, k.dirty
	k.dirty = false
	k.mu.Unlock()
	if f != nil && dirty {
		_ = f.Sync() // what it has lost is not put back; a file that was replaced meanwhile is closed
	}
}

func (k *kept) close() {
	if k == nil {
		return
	}
	k.flush()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.file != nil {
		_ = k.file.Close()
	}
	k.file, k.broken = nil, true
}

// All below are called with mu held.

func keptSum(seq uint64, message []byte) uint32 {
	var head [12]byte
	binary.BigEndian.PutUint64(head[:], seq)
	binary.BigEndian.PutUint32(head[8:], uint32(len(message)))
	return crc32.Update(crc32.Checksum(head[:], castagnoli), castagnoli, message)
}

func (k *kept) fail() {
	if k.file != nil {
		_ = k.file.Close()
	}
	k.file, k.broken, k.places = nil, true, nil
}

// open reads what is there, up to the first message that is not whole.
func (k *kept) open() bool {
	if k.file != nil || k.broken {
		return k.file != nil
	}
	f, err := os.OpenFile(k.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		k.broken = true
		return false
	}
	k.file = f
	data, err := io.ReadAll(f)
	if err != nil {
		k.fail()
		return false
	}
	k.size = int64(len(k.store))
	if len(data) < len(k.store) || StoreID(data[:len(k.store)]) != k.store {
		_, err = f.WriteAt(k.store[:], 0)
		data = nil
	}
	for at := k.size; at+keptHeader <= int64(len(data)); at = k.size {
		seq, n := binary.BigEndian.Uint64(data[at:]), int64(binary.BigEndian.Uint32(data[at+8:]))
		sum := binary.BigEndian.Uint32(data[at+12:])
		at += keptHeader
		if n > int64(len(data))-at || keptSum(seq, data[at:at+n]) != sum || len(k.places) > 0 && seq != k.first+uint64(len(k.places)) {
			break
		}
		if len(k.places) == 0 {
			k.first = seq
		}
		k.places = append(k.places, keptPlace{at, int(n), sum})
		k.size = at + n
	}
	if err != nil || f.Truncate(k.size) != nil {
		k.fail()
	}
	return k.file != nil
}

func (k *kept) read(seq uint64) ([]byte, bool) {
	p := k.places[seq-k.first]
	message := make([]byte, p.n)
	_, err := k.file.ReadAt(message, p.at)
	return message, err == nil && keptSum(seq, message) == p.sum
}

// cut keeps the first n messages.
func (k *kept) cut(n int) {
	k.size = int64(len(k.store))
	k.places = k.places[:n]
	if n > 0 {
		k.size = k.places[n-1].at + int64(k.places[n-1].n)
	}
	if k.file.Truncate(k.size) != nil {
		k.fail()
	}
}

func (k *kept) append(seq uint64, sum uint32, message []byte) {
	if k.file == nil {
		return
	}
	record := make([]byte, keptHeader, keptHeader+len(message))
	binary.BigEndian.PutUint64(record, seq)
	binary.BigEndian.PutUint32(record[8:], uint32(len(message)))
	binary.BigEndian.PutUint32(record[12:], sum)
	_, err := k.file.WriteAt(append(record, message...), k.size)
	if err != nil {
		k.fail()
		return
	}
	k.places = append(k.places, keptPlace{k.size + keptHeader, len(message), sum})
	k.size += keptHeader + int64(len(message))
	k.dirty = true
}

// bound is from which sequence on the newest messages have keptAtLeast bytes.
func (k *kept) bound() uint64 {
	for i := len(k.places) - 1; i > 0; i-- {
		if k.size-k.places[i].at >= keptAtLeast {
			return k.first + uint64(i)
		}
	}
	return k.first
}

// shrink writes the file anew with the messages from a sequence on.
func (k *kept) shrink(from uint64) {
	data := append([]byte(nil), k.store[:]...)
	for seq := from; seq < k.first+uint64(len(k.places)); seq++ {
		p := k.places[seq-k.first]
		record := make([]byte, keptHeader+p.n)
		_, err := k.file.ReadAt(record, p.at-keptHeader)
		if err != nil {
			k.fail()
			return
		}
		data = append(data, record...)
	}
	_ = k.file.Close() // before it is replaced, which Windows wants
	k.file, k.places, k.first = nil, nil, 0
	if writeFile(k.path, data) != nil {
		k.broken = true
		return
	}
	k.open()
}

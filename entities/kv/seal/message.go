package seal

import (
	"bytes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"golang.org/x/crypto/chacha20poly1305"
)

// Sizes of a message in bytes.
const (
	HeaderSize = 124
	Overhead   = HeaderSize + chacha20poly1305.Overhead
)

const magic = "CTX1"

// Bits of the flags of a header.
const (
	flagLast   = 1 << iota // of the parts of an entry
	flagPacked             // the entry is compressed
	knownFlags = flagLast | flagPacked
)

// Mark is a hash over the log up to an entry.
type Mark = [32]byte

// StoreID is the identity of a store.
type StoreID [16]byte

// NewStoreID returns a random one.
func NewStoreID() (id StoreID) {
	_, _ = rand.Read(id[:])
	return id
}

// Header is what a message says of itself.
type Header struct {
	Epoch   uint32
	Machine uint32   // who has written it
	Seq     uint64   // place of the message in the log, from 1
	Group   [16]byte // the same for all parts of an entry
	Part    uint32   // from 0
	Last    bool     // it completes the entry
	Packed  bool     // the entry is compressed, as a whole
	Prev    Mark     // of the entry before
}

// Ring holds the keys of a store by epoch. It is not changed after it was made.
type Ring struct {
	store StoreID
	check [16]byte // of the store in messages
	keys  map[uint32]*keys
}

// keys are those of an epoch.
type keys struct {
	id      [8]byte
	entries cipher.AEAD
	records cipher.AEAD
}

// NewRing makes the keys of secrets by epoch.
func NewRing(store StoreID, secrets map[uint32]Secret) *Ring {
	r := &Ring{store: store, keys: make(map[uint32]*keys, len(secrets))}
	sum := sha256.Sum256(append([]byte("ctxd store 1"), store[:]...))
	copy(r.check[:], sum[:])
	for epoch, s := range secrets {
		k := &keys{entries: aead(s.derive(store[:], "ctxd entries 1")), records: aead(s.derive(store[:], "ctxd records 1"))}
		copy(k.id[:], s.derive(store[:], "ctxd key id 1"))
		r.keys[epoch] = k
	}
	return r
}

func aead(key []byte) cipher.AEAD {
	a, err := chacha20poly1305.NewX(key)
	if err != nil { // only of a key of another length
		panic(err)
	}
	return a
}

// Seal returns the message of a part of an entry. The epoch must be one that the ring has.
func (r *Ring) Seal(h *Header, part []byte) []byte {
	k := r.keys[h.Epoch]
	m := make([]byte, 0, Overhead+len(part))
	m = append(m, magic...)
	var flags byte
	if h.Last {
		flags |= flagLast
	}
	if h.Packed {
		flags |= flagPacked
	}
	m = append(m, flags, 0, 0, 0)
	m = binary.BigEndian.AppendUint32(m, h.Epoch)
	m = binary.BigEndian.AppendUint32(m, h.Machine)
	m = append(m, k.id[:]...)
	m = binary.BigEndian.AppendUint64(m, h.Seq)
	m = append(m, h.Group[:]...)
	m = binary.BigEndian.AppendUint32(m, h.Part)
	m = append(m, h.Prev[:]...)
	m = append(m, r.check[:]...)
	var nonce [chacha20poly1305.NonceSizeX]byte
	_, _ = rand.Read(nonce[:])
	m = append(m, nonce[:]...)
	return k.entries.Seal(m, nonce[:], part, m[:HeaderSize])
}

// Peek reads the header of a message without opening it: nothing of it is proven.
func Peek(message []byte) (h Header, err error) {
	if len(message) < Overhead || string(message[:4]) != magic || message[4]&^knownFlags != 0 ||
		message[5]|message[6]|message[7] != 0 {
		return Header{}, Refuse(Malformed)
	}
	h = Header{
		Last: message[4]&flagLast != 0, Packed: message[4]&flagPacked != 0,
		Epoch: binary.BigEndian.Uint32(message[8:]), Machine: binary.BigEndian.Uint32(message[12:]),
		Seq: binary.BigEndian.Uint64(message[24:]), Part: binary.BigEndian.Uint32(message[48:]),
	}
	copy(h.Group[:], message[32:])
	copy(h.Prev[:], message[52:])
	return h, nil
}

// Open opens the message that stands at a place of the log, after an entry of mark prev. What
// it returns was sealed by somebody with the key, for this place of this log.
func (r *Ring) Open(message []byte, seq uint64, prev Mark) (Header, []byte, error) {
	h, err := Peek(message)
	if err != nil {
		return Header{}, nil, err
	}
	k := r.keys[h.Epoch]
	switch {
	case !bytes.Equal(message[84:100], r.check[:]):
		return h, nil, Refuse(Moved)
	case k == nil || !bytes.Equal(message[16:24], k.id[:]):
		return h, nil, Refuse(WrongKey)
	}
	part, err := k.entries.Open(nil, message[100:HeaderSize], message[HeaderSize:], message[:HeaderSize])
	switch {
	case err != nil:
		return h, nil, Refuse(Altered)
	case h.Seq != seq:
		return h, nil, Refuse(Moved)
	case h.Prev != prev:
		return h, nil, Refuse(Cut)
	}
	return h, part, nil
}

// NextMark returns the mark of an entry from the mark before and the messages of its parts.
func NextMark(prev Mark, parts ...[]byte) Mark {
	sum := sha256.New()
	sum.Write([]byte("ctxd mark 1"))
	sum.Write(prev[:])
	var size [8]byte
	for _, p := range parts {
		binary.BigEndian.PutUint64(size[:], uint64(len(p)))
		sum.Write(size[:])
		sum.Write(p)
	}
	return Mark(sum.Sum(nil))
}

// SealRecord encrypts what is kept beside the log under a name. The name is bound to it.
func (r *Ring) SealRecord(epoch uint32, name string, record []byte) []byte {
	k := r.keys[epoch]
	m := make([]byte, 0, recordHeader+chacha20poly1305.Overhead+len(record))
	m = binary.BigEndian.AppendUint32(append(m, magic...), epoch)
	m = append(m, k.id[:]...)
	var nonce [chacha20poly1305.NonceSizeX]byte
	_, _ = rand.Read(nonce[:])
	m = append(m, nonce[:]...)
	return k.records.Seal(m, nonce[:], record, r.about(m[:16], name))
}

// recordHeader is the size of what stands before the ciphertext of a record.
const recordHeader = 40

// about is what is authenticated with a record.
func (r *Ring) about(header []byte, name string) []byte {
	return append(append(slices.Clone(header), r.store[:]...), name...)
}

// OpenRecord opens what SealRecord has made under the same name, and returns its epoch.
func (r *Ring) OpenRecord(name string, sealed []byte) (epoch uint32, record []byte, err error) {
	if len(sealed) < recordHeader+chacha20poly1305.Overhead || string(sealed[:4]) != magic {
		return 0, nil, Refuse(Malformed)
	}
	epoch = binary.BigEndian.Uint32(sealed[4:])
	k := r.keys[epoch]
	if k == nil || !bytes.Equal(sealed[8:16], k.id[:]) {
		return epoch, nil, Refuse(WrongKey)
	}
	record, err = k.records.Open(nil, sealed[16:recordHeader], sealed[recordHeader:], r.about(sealed[:16], name))
	if err != nil {
		return epoch, nil, Refuse(Altered)
	}
	return epoch, record, nil
}

// EpochOfRecord reads the epoch of a record without opening it: it is not proven.
func EpochOfRecord(sealed []byte) (uint32, error) {
	if len(sealed) < recordHeader+chacha20poly1305.Overhead || string(sealed[:4]) != magic {
		return 0, Refuse(Malformed)
	}
	return binary.BigEndian.Uint32(sealed[4:]), nil
}

package nats

// seal_*.go make messages of what leaves this machine: compressed, encrypted, and bound to
// one place of one log. The servers that keep them see sizes, times, machine numbers and key
// numbers, nothing else. Nothing here uses a network, files or a clock.
//
// # Keys
//
// A store has an identity (16 random bytes) and one Secret of 32 random bytes for each epoch.
// Epoch 0 begins with the log. Each removal of a machine begins another one, whose secret the
// removed machine does not get. From a secret and the identity come, by HKDF-SHA256, a key for
// entries and one for records beside the log. A Secret is written down as 24 words of BIP-39
// (256 bits and 8 bits of checksum); Check tells two secrets apart and says nothing of them.
//
// The secret of a new epoch is encrypted for each machine that stays: an ephemeral X25519 key
// pair, HKDF-SHA256 over the shared secret and both public keys, XChaCha20-Poly1305. This is
// what sealed boxes do, made of the standard library and x/crypto.
//
// # Messages
//
// All integers are big-endian. A message is a header of 124 bytes, which is readable, and the
// ciphertext with its tag of 16 bytes:
//
//	magic 4 "CTX1", flags 1, zero 3, epoch 4, machine 4, key id 8, sequence 8,
//	group 16, part 4, previous mark 32, store check 16, nonce 24
//
// XChaCha20-Poly1305 authenticates the header with the ciphertext. The sequence is the place of
// the message in the log; the mark before is the hash of the log up to the entry before. So a
// message that was altered, moved, repeated or put into another log is not opened, and one
// that is missing shows in the next. The nonce is random: with 24 bytes no counter has to
// survive a crash.
//
// An entry over the limit of a message is cut into parts. They share a group, are numbered from
// 0, and the last one is flagged. Mark is SHA-256 over the mark before and all parts.
//
// # What it costs
//
// Sealing and opening are linear in the size. PackEntry compresses with zstd (fastest level) where
// that makes it smaller; UnpackEntry refuses what would become larger than a limit. An observer
// who can also write into a store learns from sizes whether two texts in one entry are alike,
// as with any compression before encryption.
//
// # Errors
//
// Everything refused is a *fault.Error of kind Unavailable, not retryable; ReasonOf says why.
// A malformed list of words is an Invalid one. These values may be used concurrently
// unless said otherwise.

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
	MessageHeaderSize = 124
	MessageOverhead   = MessageHeaderSize + chacha20poly1305.Overhead
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

// newStoreID returns a random one.
func newStoreID() (id StoreID) {
	_, _ = rand.Read(id[:])
	return id
}

// MessageHeader is what a message says of itself.
type MessageHeader struct {
	Epoch   uint32
	Machine uint32   // who has written it
	Seq     uint64   // place of the message in the log, from 1
	Group   [16]byte // the same for all parts of an entry
	Part    uint32   // from 0
	Last    bool     // it completes the entry
	Packed  bool     // the entry is compressed, as a whole
	Prev    Mark     // of the entry before
}

// KeyRing holds the keys of a store by epoch. It is not changed after it was made.
type KeyRing struct {
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

// NewKeyRing makes the keys of secrets by epoch.
func NewKeyRing(store StoreID, secrets map[uint32]Secret) *KeyRing {
	r := &KeyRing{store: store, keys: make(map[uint32]*keys, len(secrets))}
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
func (r *KeyRing) Seal(h *MessageHeader, part []byte) []byte {
	k := r.keys[h.Epoch]
	m := make([]byte, 0, MessageOverhead+len(part))
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
	return k.entries.Seal(m, nonce[:], part, m[:MessageHeaderSize])
}

// PeekHeader reads the header of a message without opening it: nothing of it is proven.
func PeekHeader(message []byte) (h MessageHeader, err error) {
	if len(message) < MessageOverhead || string(message[:4]) != magic || message[4]&^knownFlags != 0 ||
		message[5]|message[6]|message[7] != 0 {
		return MessageHeader{}, refuseMessage(ReasonMalformed)
	}
	h = MessageHeader{
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
func (r *KeyRing) Open(message []byte, seq uint64, prev Mark) (MessageHeader, []byte, error) {
	h, err := PeekHeader(message)
	if err != nil {
		return MessageHeader{}, nil, err
	}
	k := r.keys[h.Epoch]
	switch {
	case !bytes.Equal(message[84:100], r.check[:]):
		return h, nil, refuseMessage(ReasonMoved)
	case k == nil || !bytes.Equal(message[16:24], k.id[:]):
		return h, nil, refuseMessage(ReasonWrongKey)
	}
	part, err := k.entries.Open(nil, message[100:MessageHeaderSize], message[MessageHeaderSize:], message[:MessageHeaderSize])
	switch {
	case err != nil:
		return h, nil, refuseMessage(ReasonAltered)
	case h.Seq != seq:
		return h, nil, refuseMessage(ReasonMoved)
	case h.Prev != prev:
		return h, nil, refuseMessage(ReasonCut)
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
func (r *KeyRing) SealRecord(epoch uint32, name string, record []byte) []byte {
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
func (r *KeyRing) about(header []byte, name string) []byte {
	return append(append(slices.Clone(header), r.store[:]...), name...)
}

// OpenRecord opens what SealRecord has made under the same name, and returns its epoch.
func (r *KeyRing) OpenRecord(name string, sealed []byte) (epoch uint32, record []byte, err error) {
	if len(sealed) < recordHeader+chacha20poly1305.Overhead || string(sealed[:4]) != magic {
		return 0, nil, refuseMessage(ReasonMalformed)
	}
	epoch = binary.BigEndian.Uint32(sealed[4:])
	k := r.keys[epoch]
	if k == nil || !bytes.Equal(sealed[8:16], k.id[:]) {
		return epoch, nil, refuseMessage(ReasonWrongKey)
	}
	record, err = k.records.Open(nil, sealed[16:recordHeader], sealed[recordHeader:], r.about(sealed[:16], name))
	if err != nil {
		return epoch, nil, refuseMessage(ReasonAltered)
	}
	return epoch, record, nil
}

// recordEpoch reads the epoch of a record without opening it: it is not proven.
func recordEpoch(sealed []byte) (uint32, error) {
	if len(sealed) < recordHeader+chacha20poly1305.Overhead || string(sealed[:4]) != magic {
		return 0, refuseMessage(ReasonMalformed)
	}
	return binary.BigEndian.Uint32(sealed[4:]), nil
}

package nats

import (
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"

	"golang.org/x/crypto/chacha20poly1305"
)

// BoxOverhead is what a box is larger than its content, in bytes.
const BoxOverhead = 32 + chacha20poly1305.Overhead

// NewMachineKey returns a random X25519 private key.
func NewMachineKey() *ecdh.PrivateKey {
	k, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil { // crypto/rand ends the program first
		panic(err)
	}
	return k
}

// SealBox encrypts content so that only the owner of a key can open it, and only with the same
// words about it. Who has made it is not proven: it belongs into what is.
func SealBox(to *ecdh.PublicKey, about string, content []byte) ([]byte, error) {
	once := NewMachineKey()
	shared, err := once.ECDH(to) // fails for a point of low order
	if err != nil {
		return nil, refuseMessage(ReasonMalformed)
	}
	public := once.PublicKey().Bytes()
	return boxed(shared, public, to.Bytes()).Seal(public, make([]byte, chacha20poly1305.NonceSizeX), content, []byte(about)), nil
}

// OpenBox opens a box.
func OpenBox(key *ecdh.PrivateKey, about string, box []byte) ([]byte, error) {
	if len(box) < BoxOverhead {
		return nil, refuseMessage(ReasonMalformed)
	}
	once, err := ecdh.X25519().NewPublicKey(box[:32])
	if err != nil {
		return nil, refuseMessage(ReasonMalformed)
	}
	shared, err := key.ECDH(once)
	if err != nil {
		return nil, refuseMessage(ReasonMalformed)
	}
	content, err := boxed(shared, box[:32], key.PublicKey().Bytes()).Open(nil, make([]byte, chacha20poly1305.NonceSizeX), box[32:], []byte(about))
	if err != nil {
		return nil, refuseMessage(ReasonAltered)
	}
	return content, nil
}

// boxed is the cipher of one box. Its key is used once, so its nonce may be zero.
func boxed(shared, once, to []byte) interface {
	Seal(dst, nonce, plaintext, additionalData []byte) []byte
	Open(dst, nonce, ciphertext, additionalData []byte) ([]byte, error)
} {
	salt := append(append([]byte{}, once...), to...)
	key, err := hkdf.Key(sha256.New, shared, salt, "ctxd box 1", chacha20poly1305.KeySize)
	if err != nil { // only of a length that SHA-256 can't give
		panic(err)
	}
	return aead(key)
}

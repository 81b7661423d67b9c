// Package seal makes messages of what leaves this machine: compressed, encrypted, and bound to
// one place of one log. The servers that keep them see sizes, times, machine numbers and key
// numbers, nothing else. It is pure: no network, no files, no clock.
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
// Sealing and opening are linear in the size. Pack compresses with zstd (fastest level) where
// that makes it smaller; Unpack refuses what would become larger than a limit. An observer
// who can also write into a store learns from sizes whether two texts in one entry are alike,
// as with any compression before encryption.
//
// # Errors
//
// Everything refused is a *fault.Error of kind Unavailable, not retryable; ReasonOf says why.
// A malformed list of words is an Invalid one. Values of this package may be used concurrently
// unless said otherwise.
package seal

package nats

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	_ "embed" // the list of words
	"encoding/hex"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
)

// Secret is what all keys of an epoch are made from. It must not be shown or logged; its
// String method gives nothing away.
type Secret [32]byte

// newSecret returns a random one.
func newSecret() (s Secret) {
	_, _ = rand.Read(s[:]) // it never fails: crypto/rand ends the program first
	return s
}

// String is what a log shows of a secret.
func (Secret) String() string { return "[secret]" }

// GoString is what %#v shows of a secret.
func (Secret) GoString() string { return "[secret]" }

// Check returns 32 hexadecimal digits by which a secret is recognised.
func (s Secret) Check() string {
	return hex.EncodeToString(s.derive(nil, "ctxd check 1")[:16])
}

// derive returns a key of 32 bytes for one purpose.
func (s Secret) derive(salt []byte, purpose string) []byte {
	key, err := hkdf.Key(sha256.New, s[:], salt, purpose, 32)
	if err != nil { // only of a length that SHA-256 can't give
		panic(err)
	}
	return key
}

// english is the list of BIP-39, one word a line, in order: MIT, the authors of the Bitcoin
// improvement proposals. Its first four letters tell each word from all others.
//
//go:embed english.txt
var english string

var words = strings.Fields(english)

// The shape of what a person writes down.
const (
	secretWords = 24
	bitsOfAWord = 11
)

// Words returns the secret as Words words, separated by blanks: the bits of the secret and the
// first 8 bits of its SHA-256, 11 a word.
func (s Secret) Words() string {
	sum := sha256.Sum256(s[:])
	bits := append(slices.Clone(s[:]), sum[0])
	list := make([]string, secretWords)
	for i := range list {
		n := 0
		for b := i * bitsOfAWord; b < (i+1)*bitsOfAWord; b++ {
			n = n<<1 | int(bits[b/8]>>(7-b%8)&1)
		}
		list[i] = words[n]
	}
	return strings.Join(list, " ")
}

// ParseSecret reads what Words has written, in any case and spacing. A word may be cut to its
// first four letters. The errors show no word that the list holds.
func ParseSecret(text string) (s Secret, err error) {
	given := strings.Fields(strings.ToLower(text))
	if len(given) != secretWords {
		return Secret{}, fault.Field("words", "these are %d words, %d are needed", len(given), secretWords).
			WithHint("give all words in their order, separated by blanks")
	}
	var bits [len(s) + 1]byte
	for i, w := range given {
		n, ok := number(w)
		if !ok {
			return Secret{}, fault.Field("words", "word %d is not in the list of recovery words", i+1).
				WithHint("correct word %d", i+1)
		}
		for b := range bitsOfAWord {
			at := i*bitsOfAWord + b
			bits[at/8] |= byte(n>>(bitsOfAWord-1-b)&1) << (7 - at%8)
		}
	}
	copy(s[:], bits[:])
	if sum := sha256.Sum256(s[:]); sum[0] != bits[len(s)] {
		return Secret{}, fault.Field("words", "one of the words is wrong, or two are exchanged").
			WithHint("compare them with what was written down")
	}
	return s, nil
}

// number returns the place of a word in the list.
func number(word string) (int, bool) {
	at, found := slices.BinarySearch(words, word)
	if found {
		return at, true
	}
	const enough = 4 // letters, which tell all words apart
	if len(word) == enough && at < len(words) && strings.HasPrefix(words[at], word) {
		return at, true
	}
	return 0, false
}

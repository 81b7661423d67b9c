package refs

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/names"
)

// untitled stands for a name without any word that tells.
const untitled = "untitled"

// How many hexadecimal digits end the handle of a memory, and how often handles with the
// fewer ones are tried before those with the more.
const (
	ShortHandleHex = 4
	LongHandleHex  = 8
	MaxHandleTries = 8
)

// conversationWords is how many words of its title the handle of a conversation takes.
const conversationWords = 2

// Digits of base 36, of the hash that ends the handle of a conversation, and of that which
// names a message.
const (
	conversationDigits = 4
	messageDigits      = 6
)

// HandleWords returns the one to three words of a text that a handle takes, none when no word of
// it tells.
func HandleWords(text string) []string {
	return names.TellingWords(beginning(text), names.HandleWords)
}

// wordsWithin is in how many bytes of a text the words of its handle are looked for: a handle is chosen in a
// transaction, for which others wait.
const wordsWithin = 1 << 10

func beginning(text string) string {
	if len(text) <= wordsWithin {
		return text
	}
	end := wordsWithin
	for end > wordsWithin-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// NewMemoryHandle returns a handle for a memory of some kind: words of its statement, and so many
// hexadecimal digits, at most LongHex, of what random gives. Its only error is random's.
func NewMemoryHandle(statement, kind string, digits int, random io.Reader) (string, error) {
	end, err := randomHex(digits, random)
	if err != nil {
		return "", err
	}
	words := HandleWords(statement)
	if len(words) == 0 {
		words = HandleWords(snakeCase(kind))
	}
	return join(words, "_"+end), nil
}

// NewContextHandle returns the handle of a context with a name.
func NewContextHandle(name string) string { return join(HandleWords(name), ContextHandle.Suffix()) }

// NewRandomContextHandle returns a handle of a context with a name for which that of ForContext is
// taken: one with four hexadecimal digits of what random gives.
func NewRandomContextHandle(name string, random io.Reader) (string, error) {
	digits, err := randomHex(ShortHandleHex, random)
	if err != nil {
		return "", err
	}
	return join(HandleWords(name), "_"+digits+ContextHandle.Suffix()), nil
}

// NewTagHandle returns the handle of a tag, which other tags may have too.
func NewTagHandle(tag string) string { return join(HandleWords(tag), TagHandle.Suffix()) }

// NewDomainHandle returns the handle of a domain, which other domains may have too.
func NewDomainHandle(domain string) string { return join(HandleWords(domain), DomainHandle.Suffix()) }

// NewConversationHandle returns the handle of a conversation: one or two words of its title, and
// four digits of base 36 of the SHA-256 of title and time. Where that is taken, the next
// counter gives another one.
func NewConversationHandle(title string, createdAt time.Time, counter int) string {
	digits := base36(conversationDigits, title, createdAt.UTC().Format(time.RFC3339Nano), strconv.Itoa(counter))
	return join(names.TellingWords(title, conversationWords), "_"+digits)
}

// MessageHash returns the name of a message within the conversation with a handle: six
// digits of base 36 of the SHA-256 of handle and text, of which one at least is a letter,
// since a number is an index. Where that is taken, the next counter gives another one.
func MessageHash(handle, text string, counter int) string {
	for attempt := 0; ; attempt++ {
		hash := base36(messageDigits, handle, text, strconv.Itoa(counter), strconv.Itoa(attempt))
		if !allDigits(hash) {
			return hash
		}
	}
}

// join puts the words before the end of a handle, as many as it may have beside that.
func join(words []string, end string) string {
	if len(words) == 0 {
		words = []string{untitled}
	}
	return names.JoinHandleWords(words, MaxHandle-utf8.RuneCountInString(end)) + end
}

// randomHex returns so many hexadecimal digits, at most LongHex.
func randomHex(digits int, random io.Reader) (string, error) {
	var random8 [LongHandleHex / 2]byte
	if _, err := io.ReadFull(random, random8[:(digits+1)/2]); err != nil {
		return "", fault.Wrap(fault.Internal, err, "the source of random numbers failed")
	}
	return hex.EncodeToString(random8[:])[:digits], nil
}

// base36 returns so many digits of base 36, at most twelve, of the SHA-256 of texts.
func base36(digits int, texts ...string) string {
	hash := sha256.New()
	for _, text := range texts {
		// Its length before each text: two lists of texts don't run together into the same bytes.
		_, _ = hash.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
		_, _ = io.WriteString(hash, text)
	}
	s := strconv.FormatUint(binary.BigEndian.Uint64(hash.Sum(nil)), 36)
	if missing := digits - len(s); missing > 0 {
		s = strings.Repeat("0", missing) + s
	}
	return s[len(s)-digits:]
}

// snakeCase writes memoryBank as memory_bank.
func snakeCase(name string) string {
	var b strings.Builder
	var last rune
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(last) {
			b.WriteByte('_')
		}
		b.WriteRune(r)
		last = r
	}
	return b.String()
}

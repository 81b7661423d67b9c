package refs

import (
	"strings"
)

// numberPrefix begins a number where a handle could stand. A claim is what a memory was
// called once.
const numberPrefix = "claim_"

// maxNumberDigits is how many digits the number of a memory is read from.
const maxNumberDigits = 9

// ParseMemoryNumber reads the number of a memory: 42, #42 or claim_42, in any case. It is at
// least 1, and has at most nine digits and no zero in front.
func ParseMemoryNumber(ref string) (number uint64, ok bool) {
	digits := ref
	if rest, found := strings.CutPrefix(ref, "#"); found {
		digits = rest
	} else if len(ref) > len(numberPrefix) && strings.EqualFold(ref[:len(numberPrefix)], numberPrefix) {
		digits = ref[len(numberPrefix):]
	}
	if len(digits) > maxNumberDigits || !allDigits(digits) || digits[0] == '0' {
		return 0, false
	}
	for _, c := range []byte(digits) {
		number = 10*number + uint64(c-'0')
	}
	return number, true
}

// allDigits reports whether a text has ASCII digits only, at least one.
func allDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// SplitMessageRef reads a reference to a message of a conversation, as
// conversation_HANDLE_message_3 or conv_HANDLE_msg_a3f2b1, in any case: the handle of the
// conversation, and which message, by its index if that is all digits, else by its hash. A
// handle may hold the words itself: the last ones count.
func SplitMessageRef(ref string) (conversation, which string, ok bool) {
	ref = FoldHandle(ref)
	rest, ok := cutOne(ref, strings.CutPrefix, "conversation_", "conv_")
	if !ok {
		return "", "", false
	}
	at := strings.LastIndexByte(rest, '_')
	if at < 0 {
		return "", "", false
	}
	which = rest[at+1:]
	conversation, ok = cutOne(rest[:at], strings.CutSuffix, "_message", "_msg")
	if !ok || conversation == "" || !inBase36(which) {
		return "", "", false
	}
	return conversation, which, true
}

// cutOne cuts the first of two parts that is there.
func cutOne(s string, cut func(s, part string) (string, bool), one, other string) (rest string, ok bool) {
	rest, ok = cut(s, one)
	if !ok {
		rest, ok = cut(s, other)
	}
	return rest, ok
}

// inBase36 reports whether a text is digits of base 36 only, at least one.
func inBase36(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) && (s[i] < 'a' || s[i] > 'z') {
			return false
		}
	}
	return s != ""
}

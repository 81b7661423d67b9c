package chat

import "github.com/ctxd/ctxd/context/refs"

// maxHash is how many characters the hash of a message has at most.
const maxHash = 20

// validHandle reports whether a conversation may have a handle as it is written.
func validHandle(h string) bool {
	stored, err := refs.CheckHandle(h, refs.ConversationHandle)
	return err == nil && stored == h
}

// isMessageHash reports whether a text names a message: lower case letters and digits, of which one at least is a letter.
func isMessageHash(text string) bool {
	for _, c := range []byte(text) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return text != "" && len(text) <= maxHash && !isMessageNumber(text)
}

// isMessageNumber reports whether a reference to a message is a number, not a hash, which has a letter.
func isMessageNumber(which string) bool {
	for _, c := range []byte(which) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return which != ""
}

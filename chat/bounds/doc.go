// Package bounds says what may be said of a conversation and of a message: the settings of a conversation with their
// sizes, titles, ids that clients give, times, and pins. What breaks a bound is refused with an error that names the
// member and says what to do.
//
// It is apart from package chat, which keeps conversations, so that who makes a title or reads an import checks it in
// the same way. It holds nothing, and is safe for concurrent use.
package bounds

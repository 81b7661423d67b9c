// Package similar finds the memories that say much the same as one that is stored, and says in what they
// differ: an index takes "I eat meat" and "I do not eat meat" for alike.
//
// To compares vectors that are stored and embeds nothing. Like is for a memory that was just written, and
// searches for its statement. Handlers of rpc call it, with the View of the
// reader. It keeps nothing, and is safe for concurrent use.
package similar

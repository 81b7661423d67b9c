// Package texts checks the texts, tags and domains that clients give for memories and contexts, and
// brings them into the form in which they are stored. The errors are Invalid, with the field at fault,
// and Limit. Package memory calls it, and says how long a text may be.
//
// The functions are linear in their texts, hold no state and may be called concurrently.
package texts

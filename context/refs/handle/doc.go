// Package handle makes and checks handles: the words by which a person names a memory, a
// context, a conversation, a tag or a domain in a message, as in @prefer_morning_a3f2. It
// says how handles are compared, which references are numbers, and which are messages.
//
// Where a handle is stored, the store that does so asks for another one when the first is
// taken: the package knows no store. Handles of entities are made in entities/names, since
// the index of names stands below this room; they are made of the same words, and the
// reserved words, the stopwords and the suffix of entities are declared there, once. The
// suffixes of the other kinds are declared here.
//
// It is a package of its own below context/refs because the stores of memories and
// contexts need it on each write. What finds references in a text, and what they mean, is
// no business of theirs.
//
// All functions are linear in their texts, hold no state and may be called concurrently.
package handle

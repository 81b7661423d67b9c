// Package cited knows which messages refer to which notes, and answers what is asked about that: how often a note was
// named, found and read (CHAT-30), where it was used (CHAT-34), and which conversations share notes (CHAT-32).
//
// # Who may call it
//
// Handlers of rpc, with the View of the reader.
//
// # What it holds
//
// An [Index] has of each reference of a stored message the note, the link, and whether it is a find and was read, as the
// message says it for people and for remote readers (package refer). It is made of the messages when the rooms open and
// kept by commits, so what a call writes or deletes is there or gone in the next one. What of a reference this program
// does not understand is passed over.
//
// # Privacy
//
// Every count, order and cursor is made of what the reader is shown: messages that are not private, of conversations
// that are not, and of their references those that package refer shows him. Titles are those of now, as the reader sees
// them.
//
// # Concurrency
//
// All methods may be called concurrently. A lock is held for the references of one note at a time. Figures over all notes
// take O(references), those about one note O(its references · log).
package cites

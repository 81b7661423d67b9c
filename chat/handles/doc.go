// Package handles tells context/gather/complete of conversations: their handles, their titles
// and when somebody added to them. Archived conversations are not completed.
//
// A conversation without a title is called by the beginning of a message, which may be
// another one for a remote reader. The beginnings are read once, when the index of handles is
// made, and from the messages that commits bring: no message is read to complete something
// for a local reader.
package handles

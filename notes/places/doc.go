// Package places says where the links stand in the text of a note, in the form in which that is stored beside the text:
// three numbers a link, the offset and the length in bytes and the line, counted from 1. The store of notes keeps one
// List with each note and reads the links anew from the text when somebody asks for them.
//
// A List that was stored may not fit a text: LinksIn and Fit say so. All functions are pure, take time linear in what
// they are given, and may be called from any goroutine.
package places

// Package backup reads the backups of a store: files of package disk that hold a whole state
// and say in JSON, at their beginning, what they are of. Read checks one to its last byte and
// counts its records, Open is for whoever then takes the records, piece by piece in the order
// of their keys. Place checks where one is to be
// written. It writes nothing, knows no open store, and holds one piece in memory; both
// take the time of reading the file, Read twice.
//
// Errors are of kind NotFound without the file, Invalid when it is no backup or is damaged
// anywhere, and Unavailable when it is too new or can't be read.
package backup

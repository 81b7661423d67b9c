// Package codec writes and reads the parts of records that are not JSON, for the codecs
// that rooms give to entities/kv, which itself knows nothing of what a record holds.
//
// A number is a uvarint, a text its length in bytes and these, a list its length and
// texts, and a time the milliseconds since 1970, zigzag, and the nanoseconds beyond.
// Each value has one form, so that a Reader takes nothing that the Append functions do
// not write: what is damaged does not pass for a record.
//
// Functions keep nothing; a Reader is for one goroutine.
package codec

// Package codec is how records become the strings that entities/kv stores, which itself
// knows nothing of what a record holds: a Codec, which is JSON where a room says nothing
// else, and what codecs of parts that are not JSON are written with. A Kind is a collection
// with its codec, as it is declared once for all stores; what other machines write is read by it.
//
// A number is a uvarint, a text its length in bytes and these, a list its length and
// texts, and a time the milliseconds since 1970, zigzag, and the nanoseconds beyond.
// Each value has one form, so that a Reader takes nothing that the Append functions do
// not write: what is damaged does not pass for a record.
//
// Functions keep nothing; a Reader is for one goroutine.
package codec

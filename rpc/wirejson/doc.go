// Package wirejson reads and writes JSON for the wire: a Scanner that checks a
// message and finds its parts without making anything of them, a strict Decoder
// for params and a fast Encoder for results. It knows no method and no record.
//
// # Strictness
//
// A Decoder takes what a struct declares and nothing else; the tags json, default,
// min, max, enum and long are described in rpc/protocol. What does not fit is a
// fault that names the parameter by its path, as in entities[3].name.
//
// # Cost
//
// A message is checked once, by the Scanner: RFC 8259, in UTF-8, to a depth that
// the caller sets. The Decoder relies on that and looks only for the ends of
// strings. Eight bytes are looked at together, since most of a message is the text
// of notes (BenchmarkRoundTrip and BenchmarkAssemble in package rpc). The Encoder
// makes a function a type, once, and writes what encoding/json would.
//
// What the lists and maps of one call take beside their strings is bounded
// (valueRoom), because a list of {} can take hundreds of times the room of its
// message.
//
// # Concurrency
//
// A Decoder and an Encoder may be used by any number of goroutines; a Scanner and a
// Buffer belong to one. rpc/jsonrpc and rpc may import this package.
package wirejson

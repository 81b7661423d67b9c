package main

import (
	"strings"

	"github.com/ctxd/ctxd/entities/kv"
)

// recordKinds are the collections of the store that people know, and what one
// record of each is called, in the order that they are shown in. The others hold
// what ctxd notes for itself, such as which file a note came from.
var recordKinds = []struct{ collection, noun string }{
	{"note", "note"},
	{"entity", "entity"},
	{"type", "type"},
	{"vault", "vault"},
}

// otherRecords returns how many records there are of the kinds that have no name.
func otherRecords(collections map[string]int) int {
	n := 0
	for _, records := range collections {
		n += records
	}
	for _, k := range recordKinds {
		n -= collections[k.collection]
	}
	return n
}

// recordsInWords says how many records there are of each kind: "131 notes, 72
// entities, 1 vault".
func recordsInWords(collections map[string]int) string {
	var parts []string
	for _, k := range recordKinds {
		if n := collections[k.collection]; n > 0 {
			parts = append(parts, count(n, k.noun))
		}
	}
	if n := otherRecords(collections); n > 0 {
		parts = append(parts, count(n, "other record"))
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

// recoveredInWords says what a start finds on disk, a line for each thing.
func recoveredInWords(r kv.Recovery) []line {
	if r.Clean {
		return []line{{text("clean")}}
	}
	lines := []line{{text(counted(r.Replayed, "transaction", "read from the journal"))}}
	add := func(st style, n uint64, noun, what string) {
		if n > 0 {
			lines = append(lines, line{styled(st, counted(n, noun, what))})
		}
	}
	if r.TornBytes > 0 {
		lines = append(lines, line{text("an unfinished write of " + size(r.TornBytes) + " is cut off, as a crash leaves it")})
	}
	add(bad, r.Lost, "acknowledged transaction", "missing")
	add(bad, r.LostPieces, "piece", "unreadable, of up to a hundred records each")
	add(warn, r.Salvaged, "transaction", "taken in from behind the damage")
	add(warn, r.Aside, "transaction", "set aside that may never have been finished")
	add(warn, uint64(len(r.Damaged)), "damaged file", "kept aside")
	return lines
}

// counted is count as the subject of a sentence: "1 file is missing", "2 files
// are missing".
func counted(n uint64, noun, what string) string {
	verb := " are "
	if n == 1 {
		verb = " is "
	}
	return count(int(n), noun) + verb + what
}

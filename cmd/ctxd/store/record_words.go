package store

import (
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// RecordsInWords says how many records there are of each kind: "131 notes, 72
// entities, 1 vault, 9 other records".
func RecordsInWords(collections map[string]int) string {
	var parts []string
	others := 0
	for _, records := range collections {
		others += records
	}
	for _, k := range record.Kinds {
		if n := collections[k.Collection]; n > 0 {
			parts = append(parts, term.Count(n, k.Noun))
			others -= n
		}
	}
	if others > 0 {
		parts = append(parts, term.Count(others, "other record"))
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

// RecoveredInWords says what a start finds on disk, a line for each thing.
func RecoveredInWords(r kv.Recovery) []term.Line {
	if r.Clean {
		return []term.Line{{term.Text("clean")}}
	}
	lines := []term.Line{{term.Text(Counted(r.Replayed, "transaction", "read from the journal"))}}
	add := func(st term.Style, n uint64, noun, what string) {
		if n > 0 {
			lines = append(lines, term.Line{term.Styled(st, Counted(n, noun, what))})
		}
	}
	if r.TornBytes > 0 {
		lines = append(lines,
			term.Line{term.Text("an unfinished write of " + term.Size(r.TornBytes) +
				" is cut off, which is normal after a crash")})
	}
	add(term.Bad, r.Lost, "acknowledged transaction", "missing")
	add(term.Bad, r.LostPieces, "piece", "unreadable, of up to a hundred records each")
	add(term.Warn, r.Salvaged, "transaction", "recovered from behind the damage")
	add(term.Warn, r.Aside, "transaction", "set aside because they may be unfinished")
	add(term.Warn, uint64(len(r.Damaged)), "damaged file", "kept aside")
	return lines
}

// Counted is count as the subject of a sentence: "1 file is missing", "2 files
// are missing".
func Counted(n uint64, noun, what string) string {
	verb := " are "
	if n == 1 {
		verb = " is "
	}
	return term.Count(int(n), noun) + verb + what
}

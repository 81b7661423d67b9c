package inspect

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// DrawSignals says of a hit what counted: how its places in the two lists were
// joined, and what made them. what is the kind of record, such as note.
func DrawSignals(s *term.Screen, indent, what string, h *protocol.SearchHit) {
	for _, l := range signalsInWords(what, h) {
		for _, part := range term.Wrap(term.Clean(l), s.Columns()-len(indent)) {
			s.Say(term.Styled(term.Faint, indent+part))
		}
	}
}

// signalsInWords is what counted of a hit, a line for the fusion and one for
// each list that it is in.
func signalsInWords(what string, h *protocol.SearchHit) []string {
	sig := h.Signals
	var out, joined []string
	late, encoded := sig["late"]
	for _, way := range []struct{ signal, name string }{{"lexical", "words"}, {"semantic", "meaning"}} {
		rank, listed := sig["rank:"+way.signal]
		gave, ok := sig["fused:"+way.signal]
		switch {
		case !ok:
		case encoded && way.signal == "semantic":
			by := ThreeDigits(gave) + " by late interaction"
			if listed {
				by += ", place " + ThreeDigits(rank) + " by meaning"
			}
			joined = append(joined, by)
		case listed:
			joined = append(joined, ThreeDigits(gave)+" of place "+ThreeDigits(rank)+" by "+way.name)
		default:
			joined = append(joined, ThreeDigits(gave)+" as the last by "+way.name)
		}
	}
	if gave, ok := sig["fused:assumed"]; ok {
		joined = append(joined, ThreeDigits(gave)+" for its meaning, which is not indexed yet")
	}
	if len(joined) > 0 {
		out = append(out, "score "+ThreeDigits(h.Score)+" = "+strings.Join(joined, " + "))
	}
	if score, ok := sig["lexical"]; ok {
		out = append(out, "words "+ThreeDigits(score)+": "+strings.Join(wordsCounted(sig), ", ")+fieldsCounted(sig))
	}
	if near, ok := sig["semantic"]; ok {
		out = append(out, "meaning "+ThreeDigits(near)+" = half of part "+ThreeDigits(sig["chunk"])+", "+
			ThreeDigits(sig["part"])+
			", and of the whole "+what+", "+ThreeDigits(sig["whole"]))
	}
	if encoded {
		out = append(out, "late interaction "+ThreeDigits(late)+": how near the query's words are, on average, in the nearest part")
	}
	return out
}

// wordsCounted lists what the words of the query gave, the most first: cell… is
// a word that may go on, ~brdige one that was mistyped.
func wordsCounted(sig map[string]float64) (out []string) {
	for _, name := range ordered(sig) {
		how, word, ok := strings.Cut(name, ":")
		switch {
		case !ok:
			continue
		case how == "word":
		case how == "prefix":
			word += "…"
		case how == "typo":
			word = "~" + word
		default:
			continue
		}
		out = append(out, word+" "+ThreeDigits(sig[name]))
	}
	return out
}

// fieldsCounted says where they stand.
func fieldsCounted(sig map[string]float64) string {
	var out []string
	for _, name := range ordered(sig) {
		if field, ok := strings.CutPrefix(name, "field:"); ok {
			out = append(out, field+" "+ThreeDigits(sig[name]))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "; in " + strings.Join(out, ", ")
}

// ordered returns the names of signals, the greatest first.
func ordered(sig map[string]float64) []string {
	return slices.SortedFunc(maps.Keys(sig), func(a, b string) int {
		return cmp.Or(cmp.Compare(sig[b], sig[a]), strings.Compare(a, b))
	})
}

// ThreeDigits writes a number with as many digits as tell something.
func ThreeDigits(f float64) string { return strconv.FormatFloat(f, 'g', 3, 64) }

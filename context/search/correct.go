package search

import (
	"strings"

	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/context/search/words"
)

// corrections are the words of a query that no document has, by what they stand for; nil for
// none.
func corrections(terms []words.QueryWord) (corrected map[string]string) {
	for _, w := range terms {
		if w.As != words.AsMistaken || len(w.Means) == 0 {
			continue
		}
		if corrected == nil {
			corrected = make(map[string]string)
		}
		corrected[w.Word] = w.Means[0]
	}
	return corrected
}

// withCorrections puts the words that were corrected into a text, for its vector.
func withCorrections(asked string, corrected map[string]string) string {
	if len(corrected) == 0 {
		return asked
	}
	var out strings.Builder
	var split text.Splitter
	done := 0
	split.Split(asked, func(t text.Token) {
		if better, ok := corrected[string(t.Text)]; ok && t.Start >= done {
			out.WriteString(asked[done:t.Start])
			out.WriteString(better)
			done = t.End
		}
	})
	return out.String() + asked[done:]
}

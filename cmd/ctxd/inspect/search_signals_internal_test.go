package inspect

import (
	"strings"
	"testing"

	"github.com/ctxd/ctxd/rpc/protocol"
)

func TestSRCH13_WhatCountedIsSaidInWords(t *testing.T) {
	for name, c := range map[string]struct {
		signals map[string]float64
		want    string
	}{
		"late":       {map[string]float64{"fused:lexical": 0.3, "rank:lexical": 2, "fused:semantic": 0.6, "late": 0.5}, "score 0.024 = 0.3 of place 2 by words + 0.6 by late interaction\nlate interaction 0.5: how near the query's words are, on average, in the nearest part"},
		"both":       {map[string]float64{"rank:lexical": 1, "fused:lexical": 0.016, "rank:semantic": 2, "fused:semantic": 0.008}, "score 0.024 = 0.016 of place 1 by words + 0.008 of place 2 by meaning"},
		"words":      {map[string]float64{"rank:lexical": 1, "fused:lexical": 0.016}, "score 0.024 = 0.016 of place 1 by words"},
		"no vectors": {map[string]float64{"rank:lexical": 1, "fused:lexical": 0.016, "fused:assumed": 0.008}, "score 0.024 = 0.016 of place 1 by words + 0.008 for its meaning, which is not indexed yet"},
		"full list":  {map[string]float64{"rank:lexical": 1, "fused:lexical": 0.016, "fused:semantic": 0.008}, "score 0.024 = 0.016 of place 1 by words + 0.008 as the last by meaning"},
	} {
		h := &protocol.SearchHit{Score: 0.024, Signals: c.signals}
		if got := strings.Join(signalsInWords("note", h), "\n"); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", name, got, c.want)
		}
	}
}

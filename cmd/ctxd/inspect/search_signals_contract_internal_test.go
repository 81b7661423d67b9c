package inspect

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// TestSRCH3_EverySignalIsDescribedAndDrawn holds the signals of a search against the words of
// the contract, which names each of them and no other, and against what is drawn of a hit,
// which is another for another value of each.
func TestSRCH3_EverySignalIsDescribedAndDrawn(t *testing.T) {
	field, ok := reflect.TypeFor[protocol.SearchHit]().FieldByName("Signals")
	if !ok {
		t.Fatal("a hit has no signals")
	}
	described := make(map[string]bool)
	for _, m := range regexp.MustCompile(`(?:^|[ ,])((?:rank|fused):[a-z]+|[a-z]+:[A-Z]|lexical|semantic|part|whole|chunk|late)[,: ]`).
		FindAllStringSubmatch(field.Tag.Get("jsonschema"), -1) {
		described[m[1]] = true
	}
	all := make(map[string]float64)
	for i, s := range search.Signals {
		all[drawnAs(s)] = float64(i+1) / 100
	}
	before := strings.Join(signalsInWords("note", &protocol.SearchHit{Score: 1, Signals: all}), "\n")
	for _, s := range search.Signals {
		inContract := s.Name
		if strings.HasSuffix(s.Name, ":") {
			inContract += strings.ToUpper(s.Name[:1])
			if s.Name != "field:" {
				inContract = s.Name + "W"
			}
		}
		if !described[inContract] {
			t.Errorf("%s is not in the words of the contract, which have %v", inContract, described)
		}
		delete(described, inContract)
		was := all[drawnAs(s)]
		all[drawnAs(s)] = 0.777
		if strings.Join(signalsInWords("note", &protocol.SearchHit{Score: 1, Signals: all}), "\n") == before {
			t.Errorf("%s is not drawn: %s", s.Name, before)
		}
		all[drawnAs(s)] = was
	}
	if len(described) > 0 {
		t.Errorf("the contract describes %v, which no search gives", described)
	}
}

// drawnAs is the name of a value of a signal.
func drawnAs(s search.Signal) string {
	if strings.HasSuffix(s.Name, ":") {
		return s.Name + "x"
	}
	return s.Name
}

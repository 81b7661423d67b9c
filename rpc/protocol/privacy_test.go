package protocol_test

import (
	"strings"
	"testing"

	"github.com/ctxd/ctxd/rpc/protocol"
)

// TestPRIV7_EveryMethodSaysWhatItShows: a method that reads records names an audience or
// is refused for a remote reader; those that do neither are known by name.
func TestPRIV7_EveryMethodSaysWhatItShows(t *testing.T) {
	for i := range protocol.Methods {
		m := &protocol.Methods[i]
		want := protocol.SightAudience
		room, verb, _ := strings.Cut(m.Name, ".")
		switch {
		case m.LocalOnly():
			want = protocol.SightLocal
		case (room == "notes" || room == "entities" || room == "memory" || room == "contexts" || room == "chat" || room == "refs" || room == "books" || room == "synonyms") && (m.Mode == protocol.Mutation || m.Kind == protocol.JobChat):
			want = protocol.SightWriter
		case m.Name == "vault.undo": // of a note that the connection sees
			want = protocol.SightWriter
		case m.Name == "refs.parse", m.Name == "tools.list", m.Name == "personality.validate": // they know no record
			want = protocol.SightNone
		case room == "events", room == "admin", verb == "", verb == "discover":
			want = protocol.SightNone
		}
		if got := m.Sight(); got != want {
			t.Errorf("%s: %s, should be %s", m.Name, got, want)
		}
	}
}

package protocol_test

import (
	"testing"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func TestCLI6_VersionsAreCompared(t *testing.T) {
	for _, c := range []struct {
		client, daemon string
		want           protocol.Fit
		together       bool
	}{
		{"1.0", "1.0", protocol.Fits, true},
		{"1", "1.0", protocol.Fits, true},
		{"1.2", "1.10", protocol.Fits, true}, // minor versions are numbers
		{"1.10", "1.2", protocol.DaemonLacks, true},
		{"2.0", "1.9", protocol.DaemonOld, false},
		{"10.0", "9.0", protocol.DaemonOld, false},
		{"1.9", "2.0", protocol.ClientOld, false},
		{"0.9", "1.0", protocol.ClientOld, false},
	} {
		got, err := protocol.FitOf(c.client, c.daemon)
		if err != nil || got != c.want || got.Together() != c.together {
			t.Errorf("client %s, daemon %s: %v, together %v (%v)", c.client, c.daemon, got, got.Together(), err)
		}
	}
	for _, bad := range []string{"", "x", "1.", "1.x", ".1", "-1.0", "1.0.0", " 1.0", "1.0\n", "4294967296.0"} {
		if _, err := protocol.FitOf(bad, "1.0"); fault.KindOf(err) != fault.Invalid {
			t.Errorf("client %q: %v", bad, err)
		}
		if _, err := protocol.FitOf("1.0", bad); fault.KindOf(err) != fault.Invalid {
			t.Errorf("daemon %q: %v", bad, err)
		}
	}
}

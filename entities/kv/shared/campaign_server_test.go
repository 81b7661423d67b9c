//go:build unix

package shared_test

import (
	"encoding/json"
	"os"

	"github.com/ctxd/ctxd/entities/kv/nats/natstest"
)

func runServer() error {
	m := &natstest.Member{}
	if err := json.Unmarshal([]byte(os.Getenv(childOptions)), m); err != nil {
		return err
	}
	err := serveCampaign(func(func(reply)) error { return m.Start() }, func(r request) reply {
		yes := false
		switch r.Op {
		case "ready":
			yes = m.Ready()
		case "leads":
			yes = m.Leads(r.Key)
		}
		if yes {
			return reply{Outcome: done}
		}
		return reply{Outcome: refused}
	})
	if err == nil {
		m.Stop()
	}
	return err
}

package doctor

import (
	"fmt"
	"log/slog"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/kv/shared"
)

// checkShared asks the servers of a store that several machines share what they are.
func checkShared(x *examination) (*checkup, error) {
	if x.conf.Store.Sync.URL == "" {
		return nil, nil //nolint:nilnil // the store is this machine's alone
	}
	c := &checkup{Name: "shared", State: stateOK}
	servers, err := x.conf.Store.Sync.Servers()
	if err == nil {
		cluster, failed := shared.Check(x.app.Ctx, shared.Options{Servers: servers, Dir: x.conf.Data, Logger: slog.New(slog.DiscardHandler)})
		err = failed
		if err == nil {
			c.Found = fmt.Sprintf("%s: servers of version %s, %s of the log, %d reachable", cluster.Durability, cluster.Version, term.Count(cluster.Replicas, "copy"), cluster.Reachable)
			c.More = cluster.Warnings
		}
	}
	switch {
	case x.app.Ctx.Err() != nil:
		return nil, x.app.Ctx.Err()
	case err != nil:
		f := term.ExplainError(err)
		c.State, c.Found, c.Hint = stateError, f.Message, f.Hint
	case len(c.More) > 0:
		c.State = stateWarning
	}
	return c, nil
}

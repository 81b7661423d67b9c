package connect

import (
	"context"
	"errors"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// HealthOf returns how the daemon on a socket is, nil when none answers in time.
func HealthOf(ctx context.Context, path string) *protocol.Health {
	h, err := HealthFrom(ctx, path, AnswerLimit)
	if err != nil {
		return nil
	}
	return h
}

// HealthFrom asks the daemon on a socket how it is.
func HealthFrom(ctx context.Context, path string, limit time.Duration) (*protocol.Health, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	// What needs attention is said to who has said who it is.
	cl, err := client.Dial(ctx, path, client.Options{Name: "ctxd-cli", Version: term.ProgramVersion()})
	var refused *client.Error
	if errors.As(err, &refused) { // by a daemon of another time, which answers this all the same
		cl, err = client.Dial(ctx, path, client.Options{Bare: true})
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = cl.Close() }() // the answer is here
	h := &protocol.Health{}
	if err := cl.Call(ctx, "admin.health", protocol.Empty{}, h); err != nil {
		return nil, err
	}
	return h, nil
}

// AnswerLimit is how long a daemon may take to say how it is.
const AnswerLimit = 5 * time.Second

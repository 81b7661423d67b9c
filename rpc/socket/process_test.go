package socket_test

import (
	"context"
	"testing"
	"time"

	"github.com/ctxd/ctxd/rpc/socket"
)

func TestPollUntil(t *testing.T) {
	looks := 0
	if !socket.PollUntil(t.Context(), func() bool { looks++; return looks < 3 }, time.Millisecond) {
		t.Error("the end of the process was not seen")
	}
	ctx, cancel := context.WithCancel(t.Context())
	if socket.PollUntil(ctx, func() bool { cancel(); return true }, time.Hour) {
		t.Error("the process has not ended, the connection has")
	}
}

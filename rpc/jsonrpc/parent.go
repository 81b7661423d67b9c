package jsonrpc

import (
	"log/slog"

	"github.com/ctxd/ctxd/rpc/socket"
)

// EndWith ends the connection when the process that the client named ends, for a
// client whose socket outlives it: in a child that inherited it, or behind a relay.
// A process that can't be seen, such as one in another container, is not watched.
func (c *Conn) EndWith(pid int) {
	wait, err := socket.WatchProcess(pid)
	if err != nil {
		c.srv.log.LogAttrs(c.ctx, slog.LevelDebug, "the client's process can't be watched", slog.Uint64("conn", c.id), slog.Int("pid", pid))
		return
	}
	c.srv.work.Add(1)
	go func() {
		defer c.srv.work.Done()
		if wait(c.ctx) {
			c.srv.log.LogAttrs(c.ctx, slog.LevelInfo, "connection closed", slog.Uint64("conn", c.id), slog.String("reason", "its process has ended"))
			c.cut("")
		}
	}()
}

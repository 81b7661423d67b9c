package hook

import (
	"context"
	"os"
	"time"

	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Silence is how long nothing may be kept of a program that is installed before that is said.
const Silence = 7 * 24 * time.Hour

// Capture is what was kept of a program.
type Capture struct {
	Host      string     `json:"host"`
	Installed bool       `json:"installed"`
	Settings  string     `json:"settings,omitempty"` // the file that has the lines of ctxd
	Sessions  int        `json:"sessions"`
	LastKept  *time.Time `json:"lastKept,omitempty"`
	Silent    bool       `json:"silent"` // it is installed, and nothing was kept for Silence
}

// Captures tells of each program what was kept. The conversations say it: their ids name the program.
func Captures(ctx context.Context, cl *client.Client, now time.Time) ([]Capture, error) {
	list, installed := make([]Capture, len(hosts)), Installed()
	for i := range hosts {
		path := installed[hosts[i].name]
		list[i] = Capture{Host: hosts[i].name, Installed: path != "", Settings: path}
	}
	for _, archived := range []bool{false, true} {
		params := protocol.ChatList{Archived: archived}
		for params.Limit = 1000; ; {
			var page protocol.Conversations
			if err := cl.Call(ctx, "chat.list", params, &page); err != nil {
				return nil, err
			}
			for _, c := range page.Conversations {
				for i := range hosts {
					if hosts[i].keeps(c.ID) {
						list[i].kept(c.UpdatedAt)
					}
				}
			}
			if params.Cursor = page.NextCursor; params.Cursor == "" {
				break
			}
		}
	}
	for i := range list {
		if info, err := os.Stat(list[i].Settings); err == nil {
			list[i].quiet(now, info.ModTime())
		}
	}
	return list, nil
}

// quiet says whether a program has stopped. One of which nothing was ever kept was installed when its settings were last
// written, or before.
func (c *Capture) quiet(now, written time.Time) {
	since := written
	if c.LastKept != nil {
		since = *c.LastKept
	}
	c.Silent = c.Installed && now.Sub(since) > Silence
}

func (c *Capture) kept(at time.Time) {
	c.Sessions++
	if c.LastKept == nil || at.After(*c.LastKept) {
		c.LastKept = &at
	}
}

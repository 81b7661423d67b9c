package nats

import (
	"context"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// need is something that a user of the servers must be allowed to publish, and what for. The
// message does nothing: where it is let in, the server refuses it for another reason.
type need struct {
	what    string
	subject string
	data    string
	stored  bool // a stream keeps what comes there
}

// nowhere is no stream and no subject of ours: what is only for it is kept by none.
const nowhere = "none"

// noPurge asks for a purge that a server refuses, since its bounds exclude each other, and that
// would concern nothing.
const noPurge = `{"filter":"` + nowhere + `","seq":1,"keep":1}`

// needs lists what a machine asks of the servers. With makes, it is about to make the streams.
func (i *Identity) needs(makes bool) []need {
	at := i.names()
	streams := []struct{ name, what string }{
		{at.stream, "the log"}, {streamOfBucket(at.bucket), "the list of machines"}, {streamOfObjects(at.objects), "the states"},
	}
	var list []need
	for _, s := range streams {
		if makes {
			list = append(list, need{"make the stream of " + s.what, "$JS.API.STREAM.CREATE." + s.name, "{}", false})
		}
		if makes || s.name == at.stream {
			list = append(list, need{"change the stream of " + s.what, "$JS.API.STREAM.UPDATE." + s.name, "{}", false})
		}
		list = append(list,
			need{"look at the stream of " + s.what, "$JS.API.STREAM.INFO." + s.name, "", false},
			need{"read single messages of " + s.what, "$JS.API.STREAM.MSG.GET." + s.name, `{"seq":0}`, false},
			need{"purge " + s.what, "$JS.API.STREAM.PURGE." + s.name, noPurge, false},
			need{"read " + s.what + " by a consumer", "$JS.API.CONSUMER.CREATE." + s.name + "." + nowhere, "{}", false},
		)
	}
	return append(list,
		need{"write to the log", at.subject, "", true},
		need{"write to the list of machines", "$KV." + at.bucket + "." + nowhere, "", true},
		need{"write states", "$O." + at.objects + ".C." + nowhere, "", true},
		need{"write states", "$O." + at.objects + ".M." + nowhere, "", true},
	)
}

// permitted finds out whether the user of a connection may do all that a machine needs. A server
// says at once what it does not allow, and nothing of what it does. So one round trip behind
// messages that do nothing tells all.
func permitted(ctx context.Context, nc *nats.Conn, d *dialer, list []need) error {
	d.mu.Lock()
	for _, n := range list {
		delete(d.denied, n.subject)
	}
	d.mu.Unlock()
	for _, n := range list {
		m := nats.NewMsg(n.subject)
		m.Data = []byte(n.data)
		if n.stored {
			m.Header.Set(nats.ExpectedStreamHdr, nowhere)
		}
		err := nc.PublishMsg(m)
		if err != nil {
			return unreachable(err)
		}
	}
	inbox, err := nc.SubscribeSync(nats.NewInbox())
	if err != nil {
		return unreachable(err)
	}
	defer func() { _ = inbox.Unsubscribe() }() // it ends with the connection
	wait, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	err = nc.FlushWithContext(wait)
	if err != nil {
		return withdrawn(ctx, unreachable(err))
	}
	d.hear(ctx, nc.LastError())
	var missing []string
	for _, n := range list {
		if len(d.denies(time.Time{}, n.subject)) > 0 {
			missing = append(missing, n.what+" ("+n.subject+")")
		}
	}
	if len(d.denies(time.Time{})) > 0 {
		missing = append(missing, "get answers (subscribe to "+inboxes+")")
	}
	if len(missing) == 0 {
		return nil
	}
	f := forbidden(strings.Join(missing, ", "))
	f.Retryable = false
	return f
}

// hear waits until what a server has said last beside its answers is known here. Another
// goroutine is told of it, in the order in which it came.
func (d *dialer) hear(ctx context.Context, last error) {
	subject := ofDenial(last)
	if subject == "" {
		return
	}
	wait, cancel := context.WithTimeout(ctx, time.Second) // it may be one of long ago
	defer cancel()
	for {
		d.mu.Lock()
		_, there := d.denied[subject]
		more := d.more
		d.mu.Unlock()
		if there {
			return
		}
		select {
		case <-more:
		case <-wait.Done():
			return
		}
	}
}

package nats

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/outbox"
)

// Kinds of entries: the first byte of what is sealed.
const (
	ofStore byte = 0 // a group of transactions
	ofKeys  byte = 1 // from the next message on another key holds
)

// maxEntry bounds an entry in bytes, as it was before it was packed.
const maxEntry = 300 << 20

// chain checks messages one after the other and puts entries together. It is used by one
// goroutine.
type chain struct {
	id    *Identity
	at    outbox.Position // behind the newest entry, of either kind
	tail  uint64          // sequence of the newest message
	parts parts
}

// parts are those of an entry of which the last one has not come.
type parts struct {
	group  [16]byte
	sealed [][]byte
	open   []byte
}

// startChain begins behind a position.
func startChain(id *Identity, after outbox.Position) *chain {
	return &chain{id: id, at: after, tail: after.Seq}
}

// take checks the message at the next sequence. It returns an entry of the store when the
// message completes one. An error means that neither the message nor anything behind it can
// be used.
func (c *chain) take(message []byte) (entry []byte, complete bool, err error) {
	seq := c.tail + 1
	_, ring := c.id.current()
	h, part, err := ring.Open(message, seq, c.at.Mark)
	if err != nil {
		return nil, false, forked(err)
	}
	want := c.id.epochAt(seq)
	if h.Epoch != want {
		return nil, false, forked(refuseMessage(ReasonWrongKey))
	}
	begins := h.Part == 0
	if !begins && (h.Group != c.parts.group || int(h.Part) != len(c.parts.sealed)) {
		return nil, false, forked(refuseMessage(ReasonMoved))
	}
	if begins { // what was begun before is void
		c.parts = parts{group: h.Group}
	}
	c.tail = seq
	if len(c.parts.open)+len(part) > maxEntry {
		return nil, false, forked(refuseMessage(ReasonTooLarge))
	}
	c.parts.sealed = append(c.parts.sealed, message)
	c.parts.open = append(c.parts.open, part...)
	if !h.Last {
		return nil, false, nil
	}
	whole := c.parts
	c.parts = parts{}
	body := whole.open
	if h.Packed {
		body, err = UnpackEntry(body, maxEntry)
		if err != nil {
			return nil, false, forked(err)
		}
	}
	if len(body) == 0 {
		return nil, false, forked(refuseMessage(ReasonMalformed))
	}
	c.at = outbox.Position{Seq: seq, Mark: NextMark(c.at.Mark, whole.sealed...)}
	switch body[0] {
	case ofStore:
		return body[1:], true, nil
	case ofKeys:
		return nil, false, c.rekey(body[1:])
	default:
		return nil, false, refuseMessage(ReasonMalformed)
	}
}

// incomplete reports whether an entry was begun and not completed.
func (c *chain) incomplete() bool { return len(c.parts.sealed) > 0 }

// rekeying is the entry by which another key begins.
type rekeying struct {
	Epoch   uint32   `json:"epoch"`
	Removed uint32   `json:"removed"`
	Members []member `json:"members"` // who stays
}

// member is a machine that gets the new key.
type member struct {
	Machine uint32 `json:"machine"`
	Name    string `json:"name"`
	Public  []byte `json:"public"`
	Box     []byte `json:"box"`
}

func aboutBox(epoch, machine uint32) string {
	return fmt.Sprintf("epoch %d machine %d", epoch, machine)
}

// ErrRemoved says that this machine was removed from the store.
var ErrRemoved = errors.New("this machine was removed")

// rekey takes the secret of the next epoch out of an entry.
func (c *chain) rekey(body []byte) error {
	var r rekeying
	if json.Unmarshal(body, &r) != nil {
		return refuseMessage(ReasonMalformed)
	}
	if epoch, _ := c.id.current(); r.Epoch <= epoch {
		return nil // read before
	}
	me := c.id.Machine()
	for _, m := range r.Members {
		if m.Machine != me {
			continue
		}
		secret, err := OpenBox(c.id.private(), aboutBox(r.Epoch, me), m.Box)
		if err != nil {
			return err
		}
		if len(secret) != len(Secret{}) {
			return refuseMessage(ReasonMalformed)
		}
		return c.id.addEpoch(r.Epoch, c.at.Seq+1, Secret(secret))
	}
	f := fault.Wrap(fault.Unavailable, ErrRemoved, "this machine was removed from the shared store; it keeps what it had and gets nothing new")
	return f.WithHint("join again with the present recovery words, ctxd sync join --again, or have the store as your own: ctxd sync leave")
}

// forked makes an error one of a log that does not continue what the store has.
func forked(err error) error {
	if ReasonOf(err) != ReasonCut {
		return err
	}
	f := refuseMessage(ReasonCut)
	f.Err = errors.Join(f.Err, outbox.ErrForked)
	return f
}

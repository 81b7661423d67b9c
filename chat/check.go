package chat

import (
	"fmt"
	"strings"

	"github.com/ctxd/ctxd/entities/kv"
)

// Check says what of the records does not fit together. They are named by ids alone. O(messages), in memory too.
func Check(tx *kv.Tx) (problems []string, err error) {
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	wantPublic, wantHashes, wantClients, wantMessages, wantNamed, wantHandles, wantActions := 0, 0, 0, 0, 0, 0, 0
	there := make(map[string]bool) // answers, by id of the conversation and of themselves
	for id, c := range Conversations.All(tx, "") {
		for _, h := range c.handlesOf() {
			wantHandles++
			by, err := handles.Get(tx, h)
			if err != nil {
				return nil, err
			}
			if by == nil || by.ID != id {
				wrong("conversation %s is not found by its handle", id)
			}
		}
		if c.ClientID != "" {
			wantNamed++
			if has, err := named.Has(tx, namedKey(c.ClientID, id)); err != nil {
				return nil, err
			} else if !has {
				wrong("conversation %s is not found by the id of its client", id)
			}
		}
		for key := range parts.All(tx, id+"/") { // of an answer that is being given
			there[key[:strings.LastIndexByte(key, '/')]] = true
		}
		var all, seen counts
		newest := 0 // number of a public message
		for index := 1; index <= c.All.Messages; index++ {
			m, err := Messages.Get(tx, messageKey(id, index))
			if err != nil {
				return nil, err
			}
			if m == nil {
				all.lose()
				continue
			}
			if m.Index != index {
				wrong("message %d of conversation %s says that it is message %d", index, id, m.Index)
				continue
			}
			all.add(m)
			there[nameKey(id, m.ID)] = true
			wantMessages++
			wantHashes++
			if p, err := hashes.Get(tx, nameKey(id, m.Hash)); err != nil {
				return nil, err
			} else if p == nil || p.Index != index {
				wrong("message %d of conversation %s is not found by its hash", index, id)
			}
			if m.ClientMessageID != "" {
				wantClients++
				if has, err := clients.Has(tx, clientKey(m.ClientMessageID, id, index)); err != nil {
					return nil, err
				} else if !has {
					wrong("message %d of conversation %s is not found by the id of its client", index, id)
				}
			}
			for key, want := range m.proposals(id) {
				wantActions++
				if p, err := actions.Get(tx, key); err != nil {
					return nil, err
				} else if p == nil || p.Open != want.Open || !p.Until.Equal(want.Until) {
					wrong("an action of message %d of conversation %s is not found by its id", index, id)
				}
			}
			if !m.private() {
				seen.add(m)
				wantPublic++
				if p, err := public.Get(tx, messageKey(id, m.PublicIndex)); err != nil {
					return nil, err
				} else if m.PublicIndex <= newest || p == nil || p.Index != index {
					wrong("message %d of conversation %s has another number for remote readers", index, id)
				}
				newest = m.PublicIndex
			}
		}
		for seen.Messages < c.Public.Messages {
			seen.lose()
		}
		if all.Lost > c.All.Lost {
			wrong("conversation %s lacks %d messages", id, all.Lost-c.All.Lost)
		}
		if all != c.All || seen != c.Public {
			wrong("conversation %s counts other messages than it has", id)
		}
	}
	problems = append(problems, miscounted([]collection{
		{Messages.Name(), count(tx, Messages), wantMessages},
		{public.Name(), count(tx, public), wantPublic},
		{hashes.Name(), count(tx, hashes), wantHashes},
		{clients.Name(), count(tx, clients), wantClients},
		{actions.Name(), count(tx, actions), wantActions},
		{named.Name(), count(tx, named), wantNamed},
		{handles.Name(), count(tx, handles), wantHandles},
	})...)
	problems = append(problems, CheckTraces(tx, func(id, messageID string) bool { return there[nameKey(id, messageID)] })...)
	return problems, tx.Err()
}

func count[T any](tx *kv.Tx, c kv.Collection[T]) (n int) {
	for range c.All(tx, "") {
		n++
	}
	return n
}

// collection is one that another goes by.
type collection struct {
	name       string
	have, want int // records
}

// miscounted says which collections have other numbers of records than they should have.
func miscounted(list []collection) (problems []string) {
	for _, c := range list {
		if c.have != c.want {
			problems = append(problems, fmt.Sprintf("there are %d records %q, and should be %d", c.have, c.name, c.want))
		}
	}
	return problems
}

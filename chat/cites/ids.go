package cites

import "slices"

// ids says under which key the message with an id is stored. An import may bring a message with the id of one of another
// conversation.
type ids struct {
	key    map[string]string   // by id
	others map[string][]string // more keys of the same id
}

func newIDs() ids { return ids{make(map[string]string), make(map[string][]string)} }

func (x *ids) add(id, key string) {
	switch first, taken := x.key[id]; {
	case !taken:
		x.key[id] = key
	case first != key:
		x.others[id] = append(x.others[id], key)
	}
}

func (x *ids) remove(id, key string) {
	others := x.others[id]
	switch i := slices.Index(others, key); {
	case i >= 0:
		others = slices.Delete(others, i, i+1)
	case x.key[id] != key:
		return
	case len(others) == 0:
		delete(x.key, id)
		return
	default:
		x.key[id], others = others[0], others[1:]
	}
	if x.others[id] = others; len(others) == 0 {
		delete(x.others, id)
	}
}

// Keys returns the keys of the messages with an id, in order: one, as a rule. Who asks for his reader has to look which
// of them that reader sees.
func (x *Index) Keys(messageID string) []string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	key, ok := x.ids.key[messageID]
	if !ok {
		return nil
	}
	list := append([]string{key}, x.ids.others[messageID]...)
	slices.Sort(list)
	return list
}

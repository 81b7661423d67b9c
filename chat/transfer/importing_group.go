package transfer

import (
	"context"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/audience"
)

// A group is stored as soon as it has so much: others who write wait for no longer than one takes.
const (
	maxGroupBytes = 1 << 20
	groupMessages = 1000
)

// fileImporter is the state of one import.
type fileImporter struct {
	FileImportOptions
	ctx    context.Context
	store  *chat.Store
	view   *audience.View
	report ImportReport
	failed bool // the store refused something

	group    []part
	bytes    int             // of its messages
	messages int             // in it
	in       map[string]bool // its conversations, by their ids in the file
	counted  *counted        // of a dry run, else nil
}

// part is what is new of a conversation, or a part of that.
type part struct {
	said chat.AppendRequest
	more bool // it is not the first part
}

// take stores a conversation of the file.
func (x *fileImporter) take(c ForeignConversation) error {
	key := keyOf(&c)
	if x.in[key] { // it stands twice in the file; what of it is there can be told when the first is
		if _, err := x.flush(); err != nil {
			return err
		}
	}
	said := x.said(&c)
	known, err := x.store.Known(x.ctx, x.view, []chat.AppendRequest{said})
	if err != nil {
		x.failed = true
		return err
	}
	k := &known[0]
	if x.counted != nil {
		x.counted.look(key, said.Messages, k)
	}
	said.ConversationID = k.ConversationID
	if x.hidden && said.ConversationID != "" { // which may be public
		for i := range said.Messages {
			said.Messages[i].Private = true
		}
	}
	said.Messages = x.kept(said.Messages, k)
	switch {
	case len(said.Messages) == 0 && said.ConversationID != "":
		x.report.Unchanged++
	case len(said.Messages) == 0: // all of it is too large
	case x.counted != nil:
		x.counted.add(key, said.Messages)
		x.stored(&part{said: said})
	default:
		return x.put(key, said)
	}
	return nil
}

// kept leaves out messages that are not to be stored, and counts them.
func (x *fileImporter) kept(all []chat.Draft, k *chat.AppendPreview) []chat.Draft {
	most := x.store.Limits().Content
	kept := all[:0]
	for i := range all {
		switch {
		case k.Repeats[i]:
			x.report.Known++
		case len(all[i].Content) > most:
			x.report.TooLarge++
		case len(kept) >= k.Room:
			x.report.Full++
		default:
			kept = append(kept, all[i])
		}
	}
	return kept
}

// put adds what is new of a conversation to the group. A long one is stored in parts.
func (x *fileImporter) put(key string, said chat.AppendRequest) error {
	for rest, more := said.Messages, false; len(rest) > 0; more = true {
		n := 0
		for n < len(rest) && x.bytes < maxGroupBytes && x.messages < groupMessages {
			x.bytes += len(rest[n].Content)
			x.messages++
			n++
		}
		said.Messages, rest = rest[:n], rest[n:]
		x.group = append(x.group, part{said, more})
		x.in[key] = true
		if x.bytes < maxGroupBytes && x.messages < groupMessages {
			continue
		}
		last, err := x.flush()
		if err != nil {
			return err
		}
		said.ConversationID = last
	}
	return nil
}

// flush stores the group and returns the id of its last conversation.
func (x *fileImporter) flush() (last string, err error) {
	if len(x.group) == 0 {
		return "", nil
	}
	list := make([]chat.AppendRequest, len(x.group))
	for i := range x.group {
		list[i] = x.group[i].said
	}
	added, err := x.store.AppendMany(x.ctx, x.view, list)
	if err != nil {
		x.failed = true
		return "", err
	}
	for i := range x.group {
		x.stored(&x.group[i])
	}
	last = added[len(added)-1].ConversationID
	clear(x.group)
	clear(x.in)
	x.group, x.bytes, x.messages = x.group[:0], 0, 0
	return last, nil
}

// stored counts a part that is stored.
func (x *fileImporter) stored(p *part) {
	x.report.Messages += len(p.said.Messages)
	switch {
	case p.more:
	case p.said.ConversationID == "":
		x.report.Conversations++
	default:
		x.report.Continued++
	}
}

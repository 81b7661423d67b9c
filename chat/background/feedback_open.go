package background

import (
	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/kv"
)

// OpenLearning opens the rooms of learning, and tells them of messages and of conversations that are deleted. The options are
// completed by what conversations know.
func OpenLearning(db *kv.Store, mem *memory.Store, chats *chat.Store, opts learn.Options) (*learn.Stores, error) {
	opts.Outcomes.Conversation, opts.Outcomes.Answer = conversationLookup(chats), answerLookup(chats)
	opts.Outcomes.There = chat.Conversations.Has
	rooms, err := learn.Open(db, mem, opts)
	if err != nil {
		return nil, err
	}
	db.OnCommit(func(cs *kv.ChangeSet) {
		for _, d := range chat.Messages.Each(cs) {
			if d.Old == nil {
				rooms.Pace.Said(1)
			}
		}
		for _, d := range chat.Conversations.Each(cs) {
			if d.New == nil {
				rooms.Outcomes.Dropped(d.ID)
			}
		}
	})
	return rooms, nil
}

package rpc

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// counts is what sync.status says of the queue, nil for nothing.
func (r *syncHandlers) counts(ctx context.Context) (*protocol.SyncQueue, error) {
	h := r.replica.Health()
	if h.Waiting+h.Refused == 0 {
		return nil, nil //nolint:nilnil // there is nothing to tell
	}
	list, err := r.queue.List(ctx)
	if len(list) == 0 || err != nil {
		return nil, err
	}
	out := &protocol.SyncQueue{}
	for i := range list {
		w := &list[i]
		if w.Refused == nil {
			out.Waiting++
			if out.Oldest == nil || w.Time.Before(*out.Oldest) {
				out.Oldest = &w.Time
			}
			continue
		}
		out.Refused++
		if last := out.LastConflict; last == nil || !w.Refused.Time.Before(last.RefusedAt) {
			said := syncRefusal(w)
			out.LastConflict = &said
		}
	}
	return out, nil
}

func syncRefusal(w *QueuedCall) protocol.SyncRefusal {
	return protocol.SyncRefusal{
		Number: wireCount(w.Number), Method: w.Kind, At: w.Time, RefusedAt: w.Refused.Time,
		Message: w.Refused.Message, Field: w.Refused.Field, Hint: w.Refused.Hint,
	}
}

// Conflicts is sync.conflicts.
func (r *syncHandlers) Conflicts(ctx context.Context, by callReader, p protocol.SyncConflictsOf) (out protocol.SyncConflicts, err error) {
	out.Conflicts = []protocol.SyncConflict{}
	after := 0
	if p.Cursor != "" {
		m, err := parsePageMark(p.Cursor)
		if err != nil {
			return out, err
		}
		if after, err = strconv.Atoi(m.ID); err != nil || after < 0 {
			return out, badCursorError()
		}
	}
	list, err := r.queue.List(ctx)
	if err != nil {
		return out, err
	}
	for i := range list {
		w := &list[i]
		if w.Refused == nil {
			continue
		}
		out.Total++
		switch {
		case wireCount(w.Number) <= after:
		case len(out.Conflicts) < p.Limit:
			c, err := r.conflict(ctx, by.View, w)
			if err != nil {
				return out, err
			}
			out.Conflicts = append(out.Conflicts, c)
		case out.NextCursor == "":
			out.NextCursor = pageMark{ID: strconv.Itoa(out.Conflicts[len(out.Conflicts)-1].Number)}.Cursor()
		}
	}
	return out, nil
}

func (r *syncHandlers) conflict(ctx context.Context, v *audience.View, w *QueuedCall) (c protocol.SyncConflict, err error) {
	c = protocol.SyncConflict{
		SyncRefusal: syncRefusal(w), Audience: string(w.Call.Audience), Client: w.Call.Client, Mine: w.Call.Params,
	}
	if w.Kind == chatSendMethod {
		if c.Mine, err = chatAppended(w.Call); err != nil {
			return c, err
		}
	}
	if c.Theirs = r.there(ctx, v, w.Kind, w.Refused.Ref); c.Theirs != nil {
		return c, nil
	}
	for _, id := range append(w.Call.IDs, w.Call.Resolved...) {
		if c.Theirs = r.there(ctx, v, w.Kind, id); c.Theirs != nil {
			break
		}
	}
	return c, nil
}

// chatAppended is what chat.send was to write.
func chatAppended(call *DeferrableCall) (json.RawMessage, error) {
	s, err := call.Said()
	if err != nil {
		return nil, err
	}
	mine := struct {
		ConversationID string `json:"conversationId,omitempty"`
		Text           string `json:"text,omitempty"`
		MessageID      string `json:"messageId,omitempty"`
		Content        string `json:"content,omitempty"`
	}{ConversationID: s.ConversationID, MessageID: s.MessageID}
	if s.Question != nil {
		mine.ConversationID, mine.Text = s.Question.ConversationID, s.Question.Content
	} else {
		mine.Content = s.Answer.Content
	}
	return json.Marshal(mine)
}

// there returns the record that a call of a method may have met, as a reader sees it; nil for none.
func (r *syncHandlers) there(ctx context.Context, v *audience.View, method, id string) *protocol.SyncTheirs {
	if id == "" {
		return nil
	}
	switch method {
	case "notes.put":
		if n := v.Note(id); n != nil {
			if shown, err := v.ShownNote(ctx, n); err == nil {
				return &protocol.SyncTheirs{Note: shown.Record()}
			}
		}
	case "entities.put":
		if e := v.Entity(id); e != nil {
			return &protocol.SyncTheirs{Entity: v.ShownEntity(e)}
		}
	case "memory.add":
		if m, err := r.memory.Get(v, id); err == nil {
			return &protocol.SyncTheirs{Memory: m}
		}
	default:
		if c, err := r.chat.Get(ctx, v, id); err == nil {
			return &protocol.SyncTheirs{Conversation: c}
		}
	}
	return nil
}

// Settle is sync.settle.
func (r *syncHandlers) Settle(ctx context.Context, _ callReader, p protocol.SyncSettle) (protocol.SyncSettled, error) {
	if r.replica == nil || r.queue == nil {
		return protocol.SyncSettled{}, notShared()
	}
	end := r.queue.Drop
	if p.Keep == protocol.KeepAgain {
		end = r.queue.Again
	}
	return protocol.SyncSettled(p), end(ctx, uint64(p.Number))
}

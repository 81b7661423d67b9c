package rpc

import (
	"context"
	"math"
	"strconv"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/cites"
	"github.com/ctxd/ctxd/chat/transfer"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// chatKeeper is the room of conversations: no handler has the Store, which reads without a View (PRIV-2).
type chatKeeper interface {
	Get(ctx context.Context, v *audience.View, ref string) (*record.Conversation, error)
	IsPrivate(ctx context.Context, v *audience.View, ref string) bool
	Put(ctx context.Context, v *audience.View, id string, ch chat.Change) (*record.Conversation, error)
	Append(ctx context.Context, v *audience.View, said chat.AppendRequest) (*chat.Added, error)
	Messages(ctx context.Context, v *audience.View, ref, branch string, after, limit int) (*chat.Page, error)
	List(ctx context.Context, v *audience.View, archived bool, after *chat.Listed, limit int,
	) (list []*record.Conversation, more bool, err error)
	Update(ctx context.Context, v *audience.View, ref string, ch chat.Change) (*record.Conversation, error)
	Delete(ctx context.Context, v *audience.View, ref string) (id string, err error)
	Rename(ctx context.Context, v *audience.View, ref, handle string) (*record.Conversation, error)
	Waiting(ctx context.Context, v *audience.View, ref string, limit int) (list []chat.Waiting, total int, err error)
	About(ctx context.Context, v *audience.View, of chat.Subject, within func(time.Time) bool) (*chat.Forgotten, error)
	ForgetAbout(ctx context.Context, v *audience.View, of chat.Subject, within func(time.Time) bool) (*chat.Forgotten, error)
}

func (c scope) chatPut(ctx context.Context, _ *Session, p protocol.ChatPut) (*record.Conversation, error) {
	if p.ID != "" && c.view.Hides() {
		if err := c.haveConversation(ctx, p.ID); err != nil {
			return nil, chosenIDError("conversation", p.ID, "id")
		}
	}
	set := chat.Settings{
		Title: &p.Title, Private: &p.Private, SystemPrompt: &p.SystemPrompt, Provider: &p.Provider, Model: &p.Model,
		MaxContext: p.MaxContext, UsualContext: p.MaxContext == nil, Temperature: p.Temperature, PinnedNotes: &p.PinnedNoteIDs, PinnedMemories: &p.PinnedMemoryIDs,
	}
	if set.Temperature == nil {
		usual := math.NaN()
		set.Temperature = &usual
	}
	return c.chat.Put(ctx, c.view, p.ID, chat.Change{IfVersion: p.IfVersion, Settings: set})
}

// haveConversation is NotFound unless a conversation has that id: what changes one takes no handle (API-1).
func (c scope) haveConversation(ctx context.Context, id string) error {
	found, err := c.chat.Get(ctx, c.view, id)
	if err == nil && found.ID != id {
		err = fault.Missing("conversation", id).WithHint("chat.get {ref} returns the id for a handle")
	}
	return err
}

// updateChat changes the conversation of an id.
func (c scope) updateChat(ctx context.Context, id string, ch chat.Change) (*record.Conversation, error) {
	if err := c.haveConversation(ctx, id); err != nil {
		return nil, err
	}
	return c.chat.Update(ctx, c.view, id, ch)
}

func (c scope) chatAppend(ctx context.Context, s *Session, p protocol.ChatAppend) (out protocol.ChatAppended, err error) {
	write, call := c.by(s).Begin(ctx, "chat.append", &p)
	said := chat.AppendRequest{
		ConversationID: callConversation(ctx, call, c.chat, c.view, p.ConversationID), NewID: call.ID(""),
		Title: p.Title, Private: p.Private, MemoryIDs: p.MemoryIDs,
	}
	for _, m := range p.Messages {
		d := chat.Draft{Role: m.Role, Content: m.Content, Private: m.Private, ClientMessageID: m.ClientMessageID, ID: call.ID("")}
		if m.CreatedAt != nil {
			d.CreatedAt = *m.CreatedAt
		}
		d.CreatedAt = call.Time(d.CreatedAt)
		said.Messages = append(said.Messages, d)
	}
	added, err := c.chat.Append(write, c.view, said)
	if err != nil {
		return out, err
	}
	for i := len(added.Messages) - 1; i >= 0 && len(p.MemoryIDs) > 0; i-- {
		if p.Messages[i].Role == record.RoleAssistant && !added.Messages[i].Repeat {
			_ = c.shows.Answered(ctx, c.view, added.ConversationID, added.Messages[i].ID, p.MemoryIDs) // it is kept all the same
			break
		}
	}
	out = protocol.ChatAppended{ConversationID: added.ConversationID, Messages: []protocol.ChatMessageAdded{}}
	waits := c.queue.Pending()
	for _, m := range added.Messages {
		out.Messages = append(out.Messages, protocol.ChatMessageAdded{
			ID: m.ID, Index: m.Index, Hash: m.Hash, Repeat: m.Repeat, Waits: record.Waits{Pending: waits[m.ID]},
		})
	}
	return out, nil
}

func (c scope) chatGet(ctx context.Context, _ *Session, p protocol.ChatGet) (out protocol.ChatPage, err error) {
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
	page, err := c.chat.Messages(ctx, c.view, p.Ref, p.Branch, after, p.Limit)
	if fault.KindOf(err) == fault.NotFound && err != nil && p.Branch == "" {
		err = fault.In("ref", err)
	}
	if err != nil {
		return out, err
	}
	out.Conversation, out.Messages = page.Conversation, page.Messages
	c.markWaiting(out.Conversation, out.Messages...)
	for _, b := range page.Branches {
		out.Branches = append(out.Branches, protocol.ChatBranch{
			MessageID: b.Message.ID, Index: b.Message.Index, ParentID: b.ParentID, Role: b.Message.Role, Preview: chat.TitleOf(b.Message.Content),
		})
	}
	if err := c.withOutcomes(ctx, page.Conversation.ID, page.Messages...); err != nil {
		return out, err
	}
	if n := len(page.Messages); page.More && n > 0 {
		out.NextCursor = pageMark{ID: strconv.Itoa(page.Messages[n-1].Index)}.Cursor()
	}
	return out, nil
}

func (c scope) chatList(ctx context.Context, _ *Session, p protocol.ChatList) (out protocol.Conversations, err error) {
	var after *chat.Listed
	if p.Cursor != "" {
		m, err := parsePageMark(p.Cursor)
		if err != nil {
			return out, err
		}
		at, err := time.Parse(time.RFC3339Nano, m.Name)
		if err != nil {
			return out, badCursorError()
		}
		after = &chat.Listed{UpdatedAt: at, ID: m.ID}
	}
	list, more, err := c.chat.List(ctx, c.view, p.Archived, after, p.Limit)
	out.Conversations = list
	if more {
		last := list[len(list)-1]
		out.NextCursor = pageMark{Name: last.UpdatedAt.Format(time.RFC3339Nano), ID: last.ID}.Cursor()
	}
	return out, err
}

func (c scope) chatSearch(ctx context.Context, _ *Session, p protocol.ChatSearch) (out protocol.ChatFound, err error) {
	res, err := c.messages.Search(ctx, c.view, cites.FindRequest{
		Query: p.Query, Mode: search.Mode(p.Mode), Limit: p.Limit, Conversation: p.ConversationID, Archived: p.Archived,
		Explain: p.Explain,
	})
	if err != nil {
		return out, err
	}
	return messagesFound(res, p.Explain), nil
}

func (c scope) chatExport(ctx context.Context, _ *Session, p protocol.ChatExport) (out protocol.ChatExported, err error) {
	var after transfer.ExportCursor
	if p.Cursor != "" {
		m, err := parsePageMark(p.Cursor)
		if err != nil {
			return out, err
		}
		var bad error
		after.After, err = strconv.Atoi(m.ID)
		after.Until, bad = strconv.Atoi(m.Name)
		if err != nil || bad != nil || after.After < 1 || after.Until < after.After {
			return out, badCursorError()
		}
	}
	piece, err := c.exports.Export(ctx, c.view, p.Ref, p.Format, after)
	if err != nil {
		return out, err
	}
	out.Text = piece.Text
	if piece.More {
		out.NextCursor = pageMark{ID: strconv.Itoa(piece.End.After), Name: strconv.Itoa(piece.End.Until)}.Cursor()
	}
	return out, nil
}

func (c scope) chatPatch(ctx context.Context, _ *Session, p protocol.ChatPatch) (*record.Conversation, error) {
	set := chat.Settings{
		Title: p.Title, Private: p.Private, SystemPrompt: p.SystemPrompt.Pointer(), Provider: p.Provider.Pointer(),
		Model: p.Model.Pointer(), MaxContext: p.MaxContext.Pointer(), Temperature: p.Temperature.Pointer(),
		PinnedNotes: p.PinnedNoteIDs.Pointer(), PinnedMemories: p.PinnedMemoryIDs.Pointer(),
	}
	if p.MaxContext.Null {
		set.MaxContext, set.UsualContext = nil, true
	}
	if p.Temperature.Null {
		*set.Temperature = math.NaN()
	}
	return c.updateChat(ctx, p.ID, chat.Change{IfVersion: p.IfVersion, Settings: set})
}

func (c scope) chatArchive(ctx context.Context, _ *Session, p protocol.ByID) (*record.Conversation, error) {
	away := true
	return c.updateChat(ctx, p.ID, chat.Change{IfVersion: p.IfVersion, Archived: &away})
}

func (c scope) chatRestore(ctx context.Context, _ *Session, p protocol.ByID) (*record.Conversation, error) {
	away := false
	return c.updateChat(ctx, p.ID, chat.Change{IfVersion: p.IfVersion, Archived: &away})
}

func (c scope) chatDelete(ctx context.Context, _ *Session, p protocol.ChatID) (protocol.Deleted, error) {
	if err := c.haveConversation(ctx, p.ID); err != nil {
		return protocol.Deleted{}, err
	}
	id, err := c.chat.Delete(ctx, c.view, p.ID)
	return protocol.Deleted{ID: id}, err
}

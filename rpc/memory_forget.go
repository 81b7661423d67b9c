package rpc

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// listedForgotten is how many ids memory.forget names.
const listedForgotten = 1000

// forgettable is what an order to forget is about.
type forgettable struct {
	memories *memory.Stemming
	messages *chat.Forgotten
}

// memoryForget is memory.forget.
func (c scope) memoryForget(ctx context.Context, _ *Session, p protocol.MemoryForget) (out protocol.MemoryForgotten, err error) {
	from := memory.Origin{
		ConversationID: p.ConversationID, NoteID: p.NoteID, Client: p.Client, All: p.All,
		EntityID: p.EntityID, About: p.About, From: timeOf(p.From), To: timeOf(p.To),
	}
	found, err := c.forgettable(ctx, p, from)
	if err != nil {
		return out, err
	}
	out.Total, out.IDs = len(found.memories.Memories), append([]string{}, firstOf(found.memories.Memories)...)
	hash := found.hash(p)
	if p.DryRun {
		out.Contexts, out.Synonyms = len(found.memories.Contexts), len(found.memories.Synonyms)
		countMessages(&out, found.messages)
		if from.IsSubject() {
			out.Hash = hash
		}
		return out, nil
	}
	switch {
	case from.IsSubject() && p.Hash == "":
		return out, fault.Field("hash", "hash is missing").WithHint("call it with dryRun first, look at what it lists, and give the hash of that")
	case from.IsSubject() && p.Hash != hash:
		e := fault.Clash(fault.Changed, "something else is about it than the dry run listed").
			WithHint("call it with dryRun again, and give the hash of that")
		e.Field = "hash"
		return out, e
	}
	defer c.gather.Forget() // reports name what is gone
	if p.Messages {
		subject, err := memory.NewSubject(c.view, from)
		if err != nil {
			return out, err
		}
		gone, err := c.chat.ForgetAbout(ctx, c.view, subject, from.Within)
		if err != nil {
			return out, err
		}
		countMessages(&out, gone)
	}
	gone, err := c.memory.Forget(ctx, c.view, from,
		func(done, total int) { ReportProgress(ctx, "forget", int64(done), int64(total)) })
	out.Forgotten, out.Contexts, out.Synonyms = gone.Memories, gone.Contexts, gone.Synonyms
	if err != nil {
		return out, err
	}
	out.Receipt, err = c.forgetReceipt(ctx, p, from, found)
	return out, err
}

// forgettable finds what an order is about.
func (c scope) forgettable(ctx context.Context, p protocol.MemoryForget, from memory.Origin) (f forgettable, err error) {
	if p.Messages && !from.IsSubject() && from.Check() == nil {
		return f, fault.Field("messages", "messages are forgotten with entityId or about alone").
			WithHint("chat.delete deletes a conversation with its messages")
	}
	if f.memories, err = c.memory.Stemming(ctx, c.view, from); err != nil || !p.Messages {
		f.messages = &chat.Forgotten{}
		return f, err
	}
	subject, err := memory.NewSubject(c.view, from)
	if err != nil {
		return f, err
	}
	f.messages, err = c.chat.About(ctx, c.view, subject, from.Within)
	return f, err
}

// hash is that of all that an order is about, and of what it says.
func (f *forgettable) hash(p protocol.MemoryForget) string {
	h := sha256.New()
	for _, list := range [][]string{
		{p.EntityID, p.About, fmt.Sprint(p.From), fmt.Sprint(p.To), fmt.Sprint(p.Messages)},
		slices.Sorted(slices.Values(f.memories.Memories)), f.messages.Messages, f.messages.Titles,
	} {
		for _, s := range list {
			_, _ = fmt.Fprintf(h, "%q ", s) // a hash takes all
		}
		_, _ = fmt.Fprintln(h)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// forgetReceipt tells what is gone, and what is left of it.
func (c scope) forgetReceipt(ctx context.Context, p protocol.MemoryForget, from memory.Origin, gone forgettable) (*protocol.ForgetReceipt, error) {
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // never fails
	out := &protocol.ForgetReceipt{At: time.Now().UTC(), Salt: hex.EncodeToString(salt), IDs: []string{}, Left: []string{}}
	all := slices.Concat(gone.memories.Memories, gone.messages.Messages)
	for _, id := range firstOf(all) {
		sum := sha256.Sum256([]byte(out.Salt + id))
		out.IDs = append(out.IDs, hex.EncodeToString(sum[:]))
	}
	slices.Sort(out.IDs)
	if len(all) > 0 {
		out.Left = append(out.Left, "older files of the store have it until admin.compact writes them anew",
			"copies of the store that a restore has replaced, if there are any, have it until admin.compact removes them")
	}
	if p.EntityID != "" {
		if c.view.Entity(p.EntityID) != nil {
			out.Left = append(out.Left, "the entity itself is left: entities.delete deletes it")
		}
	}
	again, err := c.forgettable(ctx, p, from)
	if err != nil {
		return nil, err
	}
	out.Empty = len(again.memories.Memories)+len(again.messages.Messages)+len(again.messages.Titles) == 0
	return out, nil
}

func firstOf(ids []string) []string { return ids[:min(len(ids), listedForgotten)] }

func countMessages(out *protocol.MemoryForgotten, f *chat.Forgotten) {
	out.Messages, out.Conversations, out.Titles = len(f.Messages), len(f.Conversations), len(f.Titles)
}

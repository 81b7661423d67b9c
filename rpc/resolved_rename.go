package rpc

import (
	"context"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// renameReference gives the record that a reference leads to another handle. The errors are those of the Resolver,
// Conflict for a handle that is taken, and for a record whose handle follows its name, and Invalid for one
// that has none.
func renameReference(ctx context.Context, v *audience.View, r *gather.Resolver, mem memoryKeeper, chats chatKeeper, p protocol.RefsRename,
) (out record.Renamed, err error) {
	found, err := r.Resolve(ctx, v, p.Ref, 1)
	switch {
	case err == nil:
	case fault.KindOf(err) == fault.NotFound:
		return byID(ctx, v, chats, p, err)
	default:
		return out, err
	}
	out.Kind = found.Type
	switch found.Type {
	case record.ResolvedMemory:
		out.Memory, err = mem.Rename(ctx, v, found.SourceID, p.Handle)
	case record.ResolvedContext:
		out.Context, err = mem.RenameContext(ctx, v, found.SourceID, p.Handle)
	case record.ResolvedConversation:
		out.Conversation, err = chats.Rename(ctx, v, found.SourceID, p.Handle)
	case record.ResolvedEntity:
		_, err = refs.CheckHandle(p.Handle, refs.EntityHandle)
	case record.ResolvedTag:
		_, err = refs.CheckHandle(p.Handle, refs.TagHandle)
	case record.ResolvedDomain:
		_, err = refs.CheckHandle(p.Handle, refs.DomainHandle)
	default:
		err = fault.Field("ref", "what the reference leads to has no handle").
			WithHint("give a memory, a context or a conversation")
	}
	return out, err
}

// byID is Rename for the id of a conversation, which is no reference. missing is the error for what is none.
func byID(ctx context.Context, v *audience.View, chats chatKeeper, p protocol.RefsRename, missing error,
) (out record.Renamed, err error) {
	out.Kind = record.ResolvedConversation
	out.Conversation, err = chats.Rename(ctx, v, p.Ref, p.Handle)
	if err != nil && fault.KindOf(err) == fault.NotFound {
		err = missing
	}
	return out, err
}

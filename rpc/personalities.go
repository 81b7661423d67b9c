package rpc

// This file has the handlers of personality.*: how the assistant is to speak. All but [validatePersonality] are for
// local connections, as the contract says, and read no record of a person but templates. Errors are those of
// context/personality.

import (
	"context"

	"github.com/ctxd/ctxd/context/personality"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// personalityHandlers has the handlers. New makes one.
type personalityHandlers struct{ store *personality.Store }

// newPersonalityHandlers returns the handlers over the room of personalities.
func newPersonalityHandlers(store *personality.Store) *personalityHandlers {
	return &personalityHandlers{store}
}

// List is personality.list.
func (r *personalityHandlers) List(context.Context, callReader, protocol.Empty) (protocol.PersonalityList, error) {
	return protocol.PersonalityList{Personalities: r.store.List()}, nil
}

func full(p record.Personality) protocol.PersonalityFull {
	t, errs, warnings := personality.ParseTemplate(p.Template)
	out := protocol.PersonalityFull{Personality: p, Warnings: append([]record.TemplateProblem{}, append(errs, warnings...)...)}
	if t != nil {
		out.Section = t.Section(prompt.Markdown)
	}
	return out
}

// Get is personality.get.
func (r *personalityHandlers) Get(_ context.Context, _ callReader, p protocol.PersonalityRef) (protocol.PersonalityFull, error) {
	found, err := r.store.Get(p.Ref)
	if err != nil {
		return protocol.PersonalityFull{}, err
	}
	return full(found), nil
}

// Put is personality.put.
func (r *personalityHandlers) Put(ctx context.Context, _ callReader, p protocol.PersonalityPut) (protocol.PersonalityFull, error) {
	put, _, err := r.store.Put(ctx, personality.Draft{ID: p.ID, Template: p.Template}, p.IfVersion)
	if err != nil {
		return protocol.PersonalityFull{}, err
	}
	return full(put), nil
}

// Activate is personality.activate.
func (r *personalityHandlers) Activate(ctx context.Context, _ callReader, p protocol.PersonalityActivate) (protocol.PersonalityActivated, error) {
	return protocol.PersonalityActivated(p), r.store.Activate(ctx, p.ID)
}

// Delete is personality.delete.
func (r *personalityHandlers) Delete(ctx context.Context, _ callReader, p protocol.PersonalityDelete) (protocol.Deleted, error) {
	return protocol.Deleted{ID: p.ID}, r.store.Delete(ctx, p.ID, p.IfVersion)
}

// Export is personality.export.
func (r *personalityHandlers) Export(_ context.Context, _ callReader, p protocol.PersonalityExport) (protocol.PersonalityExported, error) {
	text, err := r.store.Export(p.IDs)
	return protocol.PersonalityExported{Text: text}, err
}

// Import is personality.import.
func (r *personalityHandlers) Import(ctx context.Context, _ callReader, p protocol.PersonalityImport) (protocol.PersonalityImported, error) {
	done, err := r.store.Import(ctx, p.Text, p.Replace)
	if err != nil {
		return protocol.PersonalityImported{}, err
	}
	return protocol.PersonalityImported{
		IDs: append([]string{}, done.IDs...), Unchanged: append([]string{}, done.Unchanged...), Warnings: done.Warnings,
	}, nil
}

// validatePersonality is personality.validate. It needs no store.
func validatePersonality(p protocol.PersonalityTemplate) protocol.PersonalityValidated {
	t, errs, warnings := personality.ParseTemplate(p.Template)
	out := protocol.PersonalityValidated{
		OK: t != nil, Errors: append([]record.TemplateProblem{}, errs...), Warnings: append([]record.TemplateProblem{}, warnings...),
	}
	if t != nil {
		format := prompt.Markdown
		if p.Format == "xml" {
			format = prompt.XML
		}
		out.ID, out.Section = personality.IDOf(t.Name), t.Section(format)
	}
	return out
}

package rpc

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// chatProviders says who may answer in conversations. Looking for a key may take a moment, and a server
// longer, so nobody waits for another's.
func (c scope) chatProviders(ctx context.Context, s *Session, p protocol.ChatProviders) (protocol.ChatProviderList, error) {
	set := s.srv.providers
	list := set.Providers()
	out := protocol.ChatProviderList{Default: set.Default(), Providers: make([]protocol.ChatProvider, len(list))}
	var all sync.WaitGroup
	for i, one := range list {
		all.Go(func() {
			in := one.Info()
			key, err := set.Look(in.Name)
			shown := protocol.ChatProvider{
				Name: in.Name, Kind: string(in.Kind), Base: in.Base, Model: in.Model,
				Local: in.Local, KeyPresent: key, Default: in.Name == set.Default(),
			}
			for _, l := range set.LeavesOut(in.Name) {
				shown.LeavesOut = append(shown.LeavesOut, protocol.ChatLeftOut(l))
			}
			shown.Why, shown.Hint = c.whyNot(err)
			if p.Probe && (err == nil || fault.KindOf(err) == fault.Limit) {
				shown.Probe = probed(ctx, set, in.Name)
			}
			out.Providers[i] = shown
		})
	}
	all.Wait()
	if c.view.Reader() == audience.Local {
		spent := s.srv.spending()
		out.Spending = &spent
	}
	return out, ctx.Err()
}

// spending is what was spent on language models, which tells how much was talked about what is private.
func (s *Server) spending() protocol.ChatSpending {
	today, total, since := s.providers.Ledger().Spending()
	return protocol.ChatSpending{Today: spentOf(today), Total: spentOf(total), Since: since}
}

func spentOf(rows []llm.Spent) []protocol.ChatSpent {
	list := make([]protocol.ChatSpent, len(rows))
	for i, r := range rows {
		list[i] = protocol.ChatSpent{
			Provider: r.Provider, Model: r.Model, Background: r.Background,
			Requests: r.Requests, In: r.In, Out: r.Out, Estimated: r.Estimated,
		}
	}
	return list
}

// whyNot is why a provider can't be asked, and what to do about it. How much was spent is said to a local
// reader only.
func (c scope) whyNot(err error) (why, hint string) {
	var f *fault.Error
	switch {
	case err == nil:
		return "", ""
	case !errors.As(err, &f):
		return fault.Message(err), ""
	case f.Kind == fault.Limit && c.view.Reader() == audience.Remote:
		return "the budget of the day is used up", ""
	}
	return f.Msg, f.Hint
}

// providerWarning is why the provider that answers by itself can't, "" when it can as far as is known
// without asking it. That a budget is used up is said to who reads all.
func (s *Server) providerWarning(whole bool) string {
	err := s.providers.Ready()
	if err == nil || !whole && fault.KindOf(err) == fault.Limit {
		return ""
	}
	return fmt.Sprintf("the provider %s can't answer: %s", s.providers.Default(), fault.Message(err))
}

// probed is what the server of a provider says that it has.
func probed(ctx context.Context, set *llm.Set, name string) *protocol.ChatProbe {
	began := time.Now()
	o, err := set.Probe(ctx, name)
	out := &protocol.ChatProbe{
		Reached: o.Reached, Models: append([]string{}, o.Models...), Total: o.Total, MS: time.Since(began).Milliseconds(),
	}
	if err == nil {
		told := set.Facts(ctx, name, "")
		out.Context, out.Without = told.Context, told.Without()
	}
	var f *fault.Error
	if errors.As(err, &f) {
		out.Error, out.Hint = f.Msg, f.Hint
	} else if err != nil {
		out.Error = fault.Message(err)
	}
	return out
}

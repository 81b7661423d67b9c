package daemon

import (
	"github.com/ctxd/ctxd/chat/background"
	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/chat/prompts"
	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/entities/fault"
)

// OpenProviders returns who answers in conversations. It reaches for none of them yet, and for no key: one
// that is missing is told to who asks.
func OpenProviders(conf *config.Chat) (*llm.Set, error) {
	o := llm.SetOptions{Default: conf.Provider, Budget: conf.Budget}
	for _, p := range conf.Providers {
		o.Providers = append(o.Providers, conf.Options(p.Name))
	}
	return llm.NewSet(o)
}

// OpenLearner returns which model finds facts, nil for none. It reaches for nothing yet.
func OpenLearner(conf *config.Chat, providers *llm.Set, words *prompts.Set) (*background.FactModel, error) {
	name, model, on := conf.Learner()
	if !on {
		return nil, nil //nolint:nilnil // none is no error
	}
	if _, err := providers.Provider(name); err != nil {
		return nil, fault.Under("memory.learn", err)
	}
	return &background.FactModel{Providers: providers, Provider: name, Name: model, Prompts: words}, nil
}

// OpenDistiller returns who shortens memories for a message, nil for nobody. It reaches for nothing yet.
func OpenDistiller(conf *config.Chat, providers *llm.Set, words *prompts.Set) (gather.Distiller, error) {
	name, model, on := conf.Distiller()
	if !on {
		return nil, nil //nolint:nilnil // nobody is no error
	}
	return background.NewDistiller(background.DistillerOptions{Providers: providers, Provider: name, Model: model, Prompts: words})
}

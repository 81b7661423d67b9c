package daemon

import (
	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/cmd/ctxd/config"
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

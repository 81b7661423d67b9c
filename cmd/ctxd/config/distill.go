package config

import (
	"strings"

	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/entities/fault"
)

// NoDistiller says that no model shortens memories.
const NoDistiller = "off"

// Distiller returns which provider shortens memories for a message, and which of its models: "" is that of the
// provider. on is false for none.
func (c *Chat) Distiller() (provider, model string, on bool) {
	if c.distill == NoDistiller {
		return "", "", false
	}
	provider, model, _ = strings.Cut(c.distill, "/")
	return provider, model, true
}

// checkDistill refuses what is no name of a provider, or of a provider and a model. The error does not show it: it may be
// a key.
func checkDistill(text string) *fault.Error {
	if text == NoDistiller {
		return nil
	}
	provider, model, named := strings.Cut(text, "/")
	if provider == NoProvider || !providerName.MatchString(provider) || llm.LooksLikeKey(provider) || named && strings.TrimSpace(model) == "" {
		return fault.New(fault.Invalid, "it is neither off nor a provider").
			WithHint("give off, PROVIDER or PROVIDER/MODEL, where PROVIDER is the NAME of chat.providers.NAME")
	}
	if named {
		return checkModelName(model)
	}
	return nil
}

// checkDistiller finds that there is no provider of the name.
func (c *Chat) checkDistiller() *fault.Error {
	name, _, on := c.Distiller()
	if !on || c.named(name) != nil {
		return nil
	}
	return fault.Field("memory.distill", "there is no provider of this name").
		WithHint("give %s, or name one of %s", NoDistiller, strings.Join(c.names(), ", "))
}

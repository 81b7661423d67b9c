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

// Learner returns which provider finds facts, as Distiller does.
func (c *Chat) Learner() (provider, model string, on bool) {
	if c.learn == NoDistiller {
		return "", "", false
	}
	provider, model, _ = strings.Cut(c.learn, "/")
	return provider, model, true
}

// checkDistill refuses what is no name of a provider, or of a provider and a model. The error does not show it: it may be
// a key.
func checkDistill(text string) *fault.Error {
	if text == NoDistiller {
		return nil
	}
	provider, model, named := strings.Cut(text, "/")
	if provider == NoProvider || !providerName().MatchString(provider) || llm.LooksLikeKey(provider) || named && strings.TrimSpace(model) == "" {
		return fault.New(fault.Invalid, "it is neither off nor a provider").
			WithHint("give off, PROVIDER or PROVIDER/MODEL, where PROVIDER is the NAME of chat.providers.NAME")
	}
	if named {
		return checkModelName(model)
	}
	return nil
}

// checkDistiller finds that there is no provider of a name.
func (c *Chat) checkDistiller() *fault.Error {
	for key, of := range map[string]func() (provider, model string, on bool){"memory.distill": c.Distiller, "memory.learn": c.Learner} {
		if name, _, on := of(); on && c.named(name) == nil {
			return fault.Field(key, "there is no provider of this name").
				WithHint("give %s, or name one of %s", NoDistiller, strings.Join(c.names(), ", "))
		}
	}
	return nil
}

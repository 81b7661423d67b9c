package llm

import (
	"errors"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/context/outbound"
	"github.com/ctxd/ctxd/entities/fault"
)

// Options say who is asked.
type Options struct {
	Name  string // in chat.providers.NAME
	Kind  Kind
	Base  string // URL of the server, of its version, or in full; "" for that of the kind
	Model string // for requests that name none
	Key   string // where it is found: none, env:NAME, file:PATH or keyring:NAME
	Local bool   // no further server stands behind one on this machine
	// LeaveOut are names of Refusable, which requests are sent without. What a server refuses by its name is left out anyhow.
	LeaveOut []string
	Time     Timing
}

// What holds for a kind where nothing else is set.
var (
	defaultBases = map[Kind]string{
		Anthropic: "https://api.anthropic.com/v1", OpenAI: "https://api.openai.com/v1",
	}
	paths     = map[Kind]string{Anthropic: "messages", OpenAI: "chat/completions"}
	variables = map[Kind]string{Anthropic: "ANTHROPIC_API_KEY", OpenAI: "OPENAI_API_KEY"}
)

// Base returns the address that a provider of a kind has when none is set.
func Base(k Kind) string { return defaultBases[k] }

// Check says what is wrong with options, as fault.Invalid that names the field: kind, base,
// model, key or local. It asks nobody, and does not look for the key.
func (o *Options) Check() error {
	_, err := o.address()
	return err
}

func (o *Options) address() (*outbound.Address, error) {
	if !slices.Contains(Kinds, o.Kind) {
		return nil, fault.Field("kind", "%q is no kind of provider", o.Kind).WithHint("give openai or anthropic")
	}
	if o.Key != "" && !outbound.IsKeySource(o.Key) { // it may be the key itself
		return nil, fault.Field("key", "it must say where to find the key, and not be the key").
			WithHint("write env:NAME, file:PATH, keyring:NAME or none")
	}
	if _, err := leavesOut(o.LeaveOut); err != nil {
		return nil, err
	}
	target := outbound.Target{URL: o.Base, Model: o.Model, AllowRemote: true}
	if target.URL == "" {
		target.URL = defaultBases[o.Kind]
	}
	if strings.TrimSpace(o.Model) == "" { // a request names one
		target.Model = "any"
	}
	if o.Key != "" && o.Key != outbound.KeyNone {
		target.Key = "given"
	}
	s := service(*o)
	at, err := s.Resolve(target)
	var f *fault.Error
	if errors.As(err, &f) {
		if f.Field == "url" {
			f.Field = "base"
		}
		return nil, f
	}
	if o.Local && !at.Local {
		return nil, fault.Field("local", "%s is not this machine, so it is not local", at.Host).
			WithHint("leave it out: nothing private goes to a provider that is not local")
	}
	return at, nil
}

// Open returns a provider. It does not reach for it yet. The errors are those of Check.
func Open(o Options) (Provider, error) {
	if o.Kind == None {
		return Nobody(), nil
	}
	at, err := o.address()
	if err != nil {
		return nil, err
	}
	if o.Base == "" {
		o.Base = defaultBases[o.Kind]
	}
	if o.Kind == Anthropic {
		return newRemote(o, at, anthropic{}), nil
	}
	return newRemote(o, at, openAI{official: strings.HasPrefix(at.URL, defaultBases[OpenAI]+"/")}), nil
}

package config

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/text"
)

// Chat is who answers in conversations, and what that may cost.
type Chat struct {
	Provider  string // NoProvider, or the name of one of Providers
	Model     string // of Provider, for conversations that name none
	Budget    llm.Budget
	Providers []*ChatProvider
	distill   string // see Distiller
	learn     string // see Learner
	Titles    string // TitlesByFirst or TitlesByModel
	Tasks     string // the note of tasks: its id, path or title; "": one of the store
	Summaries string // SummariesByFirst or SummariesByModel
	Outcomes  string // OutcomesTold or OutcomesByModel
}

// Who says how answers went.
const (
	OutcomesTold    = "told"
	OutcomesByModel = "model"
)

// Who calls a conversation that the person has not called.
const (
	TitlesByFirst = "first"
	TitlesByModel = "model"
)

// Who says what a note is about whose first paragraph is long.
const (
	SummariesByFirst = "first"
	SummariesByModel = "model"
)

// ChatProvider is a provider of language models.
type ChatProvider struct {
	Name  string
	Kind  llm.Kind
	Base  string // "" for that of the kind
	Model string // "": that of the chat, if it is its provider
	Key   string // where it is found: none, env:NAME, file:PATH or keyring:NAME
	Local bool   // the server is on this machine and passes nothing on

	LeaveOut []string // names of llm.Refusable
}

// NoProvider is the name of none.
const NoProvider = string(llm.None)

// maxBudget bounds what a budget may be, in tokens: none spends as much.
const maxBudget = 1_000_000_000_000

func defaultChat() Chat {
	c := Chat{Provider: NoProvider, Budget: llm.DefaultBudget, distill: NoDistiller, learn: NoDistiller, Titles: TitlesByFirst, Outcomes: OutcomesTold, Summaries: SummariesByFirst}
	for _, k := range llm.Kinds {
		c.Providers = append(c.Providers, &ChatProvider{Name: string(k), Kind: k, Base: llm.Base(k)})
	}
	return c
}

func (c *Config) chatSettings() []*Setting {
	b := &c.Chat.Budget
	list := []*Setting{
		{key: "memory.distill", about: "which model shortens what was found and pinned to what matters for a message: off, PROVIDER or PROVIDER/MODEL, where PROVIDER is NAME of chat.providers.NAME; it is waited for up to 5 s, and counts as a step in the background", value: stringOf(&c.Chat.distill, checkDistill)},
		{key: "memory.learn", about: "which model finds facts in what you say in conversations, and decides about pairs of facts that rules cannot decide: off, PROVIDER or PROVIDER/MODEL, where PROVIDER is NAME of chat.providers.NAME; asked in the background", value: stringOf(&c.Chat.learn, checkDistill)},
		{key: "chat.provider", about: "who answers in conversations: none, or NAME of chat.providers.NAME; openai and anthropic are there, any other NAME is made by naming it", value: stringOf(&c.Chat.Provider, checkProviderName)},
		{key: "chat.model", about: "name of the model that chat.provider is asked for, in conversations that name none", value: stringOf(&c.Chat.Model, checkModelName)},
		{key: "chat.titles", about: "what a conversation is called until you call it: first, the beginning of its first message; model, what the model that gave the first answer calls it, asked in the background", value: wordOf(&c.Chat.Titles, TitlesByFirst, TitlesByModel)},
		{key: "chat.tasks", about: "the note that a task is appended to when you confirm it: its id, path or title; it must be one that ctxd keeps itself; when it is not set, the note Tasks, or Private tasks for what only you may see", value: stringOf(&c.Chat.Tasks, checkTasks)},
		{key: "chat.outcomes", about: "who says how answers went that used memories: told, people and clients alone; model, also the model that gave the last answer, asked every four turns in the background", value: wordOf(&c.Chat.Outcomes, OutcomesTold, OutcomesByModel)},
		{key: "chat.summaries", about: "what stands beside a reference to a note whose first paragraph is long: first, its first sentence, cut; model, what the model of chat.provider says in a sentence, asked in the background", value: wordOf(&c.Chat.Summaries, SummariesByFirst, SummariesByModel)},
		{key: "chat.budget.tokensPerDay", about: "tokens that answers may take a day, in and out; 0 for any number", value: countOf(&b.TokensPerDay, 0, maxBudget)},
		{key: "chat.budget.backgroundTokensPerDay", about: "tokens that titles, summaries and other steps in the background may take a day; 0 for any number", value: countOf(&b.BackgroundTokensPerDay, 0, maxBudget)},
		{key: "chat.budget.requestsPerMinute", about: "requests to providers in a minute; 0 for any number", value: countOf(&b.RequestsPerMinute, 0, 100_000)},
	}
	for _, p := range c.Chat.Providers {
		list = append(list, p.settings()...)
	}
	return unquoted(list)
}

// unquoted has no error of a setting show what it was given: a key is pasted into the wrong line at times.
func unquoted(list []*Setting) []*Setting {
	for _, s := range list {
		set := s.set
		s.set = func(words []string) *fault.Error {
			f := set(words)
			if f == nil {
				return nil
			}
			for _, w := range words {
				f.Msg = strings.ReplaceAll(f.Msg, strconv.Quote(w), "the value")
			}
			return f
		}
	}
	return list
}

// nameable is the beginning of the name of a setting before what looks like a key.
func nameable(key string) string {
	parts := strings.Split(key, ".")
	if at := slices.IndexFunc(parts, llm.LooksLikeKey); at >= 0 {
		parts = parts[:at]
	}
	return strings.Join(parts, ".")
}

func (p *ChatProvider) settings() []*Setting {
	at := providersSection + p.Name + "."
	return []*Setting{
		{key: at + "kind", about: "its protocol: openai, the chat completions that Ollama, llama-server, LM Studio and many others have too; or anthropic", value: wordOf(&p.Kind, llm.Kinds...)},
		{key: at + "base", about: "address of its server, such as http://127.0.0.1:11434/v1, or of a socket: unix:///run/llama.sock", value: stringOf(&p.Base, checkEmbeddingURL)},
		{key: at + "model", about: "name of the model that it is asked for, before chat.model", value: stringOf(&p.Model, checkModelName)},
		{key: at + "key", about: "where to find its API key, never the key itself: env:NAME, file:PATH, keyring:NAME or none", value: keyOf(&p.Key)},
		{key: at + "local", about: "true when it runs on this machine and passes nothing on; otherwise nothing private is sent to it", value: yesOf(&p.Local)},
		{key: at + "leaveOut", about: "what requests are sent without, for servers that refuse it and do not name it: " + strings.Join(llm.Refusable(), ", "), value: someOf(&p.LeaveOut, llm.Refusable()...)},
	}
}

// providersSection is what the keys of providers begin with.
const providersSection = "chat.providers."

var (
	providerName     = text.Pattern(`^[a-z][a-z0-9]{0,31}$`)
	providerVariable = text.Pattern(`^CTXD_CHAT_PROVIDERS_([A-Z][A-Z0-9]{0,31})_[A-Z_]+$`)
)

// nameProvider makes the settings of the provider that a key names, if it is named for the first time.
func (c *Config) nameProvider(key string) {
	rest, ok := strings.CutPrefix(key, providersSection)
	name, _, _ := strings.Cut(rest, ".")
	if !ok || !providerName().MatchString(name) || name == NoProvider || c.Chat.named(name) != nil {
		return
	}
	p := &ChatProvider{Name: name, Kind: llm.OpenAI}
	c.Chat.Providers = append(c.Chat.Providers, p)
	added := unquoted(p.settings())
	for _, s := range added {
		s.Origin = Origin{Source: FromDefault}
	}
	last := len(c.Settings) - 1
	for last >= 0 && !strings.HasPrefix(c.Settings[last].key, providersSection) {
		last--
	}
	c.Settings = slices.Insert(c.Settings, last+1, added...)
}

// nameProviders makes the settings of providers that flags and variables name.
func (c *Config) nameProviders(flags Given, environ []string) {
	for key := range flags {
		c.nameProvider(key)
	}
	for _, pair := range environ {
		variable, text, _ := strings.Cut(pair, "=")
		if m := providerVariable().FindStringSubmatch(variable); m != nil && text != "" {
			c.nameProvider(providersSection + strings.ToLower(m[1]))
		}
	}
}

// named returns the provider of a name, or nil.
func (c *Chat) named(name string) *ChatProvider {
	for _, p := range c.Providers {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// Options are those of a provider, by its name. It is none for NoProvider and for a name that there
// is none of.
func (c *Chat) Options(name string) llm.Options {
	p := c.named(name)
	if p == nil {
		return llm.Options{Name: NoProvider, Kind: llm.None}
	}
	o := llm.Options{Name: p.Name, Kind: p.Kind, Base: p.Base, Model: p.Model, Key: p.Key, Local: p.Local, LeaveOut: p.LeaveOut}
	if o.Base == llm.Base(llm.Kind(p.Name)) {
		o.Base = "" // that of the kind, should the kind have been changed
	}
	if o.Model == "" && name == c.Provider { // another one has other models
		o.Model = c.Model
	}
	return o
}

// check finds what only shows when all is known. Its field is the key of a setting.
func (c *Chat) check() *fault.Error {
	for _, p := range c.Providers {
		o := c.Options(p.Name)
		var f *fault.Error
		if errors.As(o.Check(), &f) {
			f.Field = providersSection + p.Name + "." + f.Field
			return f
		}
	}
	if c.Provider == NoProvider || c.named(c.Provider) != nil {
		return c.checkDistiller()
	}
	f := fault.Field("chat.provider", "there is no provider of this name")
	return f.WithHint("give one of %s, or name another one by chat.providers.NAME.base",
		strings.Join(append([]string{NoProvider}, c.names()...), ", "))
}

// names are those of the providers.
func (c *Chat) names() []string {
	names := make([]string, len(c.Providers))
	for i, p := range c.Providers {
		names[i] = p.Name
	}
	return names
}

// checkProviderName refuses what is no name. The error does not show it: it may be a key.
func checkProviderName(text string) *fault.Error {
	if !providerName().MatchString(text) {
		return fault.New(fault.Invalid, "it is no name of a provider").WithHint("give none, openai, anthropic or the NAME of chat.providers.NAME")
	}
	return nil
}

// checkModelName refuses what is empty or looks like a key, which it does not show.
// checkTasks refuses what names no note.
func checkTasks(text string) *fault.Error { return notBlank(text) }

func checkModelName(text string) *fault.Error {
	if llm.LooksLikeKey(text) {
		return fault.New(fault.Invalid, "it looks like a key, and is no name of a model").
			WithHint("chat.providers.NAME.key says where a key is found; replace one that was shown")
	}
	return notBlank(text)
}

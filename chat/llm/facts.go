package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ctxd/ctxd/context/outbound"
	"github.com/ctxd/ctxd/entities/text"
)

// ModelFacts is what a server tells of a model, where it does. Nothing depends on it that works without.
type ModelFacts struct {
	Context  int  // tokens that it takes with its answer; 0: not told
	NoTools  bool // it is said to take none
	NoImages bool
}

// Without are names of Refusable that the model is said not to take.
func (f ModelFacts) Without() (names []string) {
	if f.NoTools {
		names = append(names, "tools")
	}
	if f.NoImages {
		names = append(names, "images")
	}
	return names
}

// How long a server is asked, and how long what it told holds. One on this machine is often started again with another context.
const (
	factsTimeout   = time.Second
	factsHold      = time.Hour
	factsHoldLocal = time.Minute
	maxFactModels  = 64 // of a server whose facts are kept
)

// Contexts of fewer or more tokens are told by nobody who means it.
const (
	leastContext = 1000
	mostContext  = 100_000_000
)

// facts are what the server of a provider told, by model.
type facts struct {
	mu sync.Mutex // held while the server is asked: who comes meanwhile needs the same
	by map[string]knownFacts
}

type knownFacts struct {
	ModelFacts
	until time.Time
}

// Facts returns what the server of a provider tells of a model, "" for its own. It asks for a second at most, and not again for
// some time, whatever came of it: a server that does not tell, is slow or gone has told nothing.
func (s *Set) Facts(ctx context.Context, name, model string) ModelFacts {
	p, err := s.Provider(name)
	if err != nil {
		return ModelFacts{}
	}
	r := remoteOf(p)
	if r == nil || r.o.Base == defaultBases[r.o.Kind] { // which takes more than is asked, and tells it by refusing
		return ModelFacts{}
	}
	if b, ok := p.(*counted).Provider.(*breaker); ok && b.why() != nil {
		return ModelFacts{}
	}
	if model == "" {
		model = r.o.Model
	}
	return r.facts(ctx, model)
}

func (p *remote) facts(ctx context.Context, model string) ModelFacts {
	p.told.mu.Lock()
	defer p.told.mu.Unlock()
	now := p.time.Now()
	if known, ok := p.told.by[model]; ok && now.Before(known.until) {
		return known.ModelFacts
	}
	key, err := p.key()
	if err != nil || p.checked(model, key) != nil {
		return ModelFacts{} // the request will say why
	}
	work, cancel := context.WithCancel(ctx)
	defer cancel()
	defer p.time.AfterFunc(factsTimeout, cancel)()
	ask := factsCall{p: p, ctx: work, key: key, model: model}
	told := ask.all()
	if ctx.Err() != nil {
		return told // the caller left: nothing is known
	}
	hold := factsHold
	if p.at.Local {
		hold = factsHoldLocal
	}
	if p.told.by == nil || len(p.told.by) >= maxFactModels {
		p.told.by = make(map[string]knownFacts)
	}
	p.told.by[model] = knownFacts{told, now.Add(hold)}
	return told
}

// factsCall asks a server for what it tells.
type factsCall struct {
	p     *remote
	ctx   context.Context
	key   string
	model string
}

// all asks for the list of models, and then where the program that serves them tells more. The list says who it is; on this
// machine those are tried that do not say.
func (c *factsCall) all() ModelFacts {
	var list struct {
		Data []json.RawMessage `json:"data"`
	}
	var told ModelFacts
	var by string
	if c.get("models", &list) {
		told, by = c.listed(list.Data)
	}
	if told.Context == 0 && c.p.o.Kind == Anthropic { // a gateway's list is of twenty, under full names
		var e entry
		if c.get("models/"+url.PathEscape(c.model), &e) {
			return e.facts()
		}
	}
	unknown := c.p.at.Local && told.Context == 0
	if by == "llamacpp" {
		return told.join(c.props())
	}
	if by == "library" || by == "ollama" || unknown && c.isOllama() { // ollama: in its cloud
		told = told.join(c.ollama())
	}
	if by == "organization_owner" || unknown && told.Context == 0 {
		told = told.join(c.lmStudio())
	}
	if unknown && told.Context == 0 {
		told = told.join(c.props())
	}
	return told
}

// join adds what another place tells. The smaller context is the one that holds: others are what a model was trained for.
func (f ModelFacts) join(o ModelFacts) ModelFacts {
	if f.Context == 0 || o.Context != 0 && o.Context < f.Context {
		f.Context = o.Context
	}
	f.NoTools, f.NoImages = f.NoTools || o.NoTools, f.NoImages || o.NoImages
	return f
}

// get asks for a place beside the chat completions, or from the root of the server where it begins with a slash.
func (c *factsCall) get(place string, out any) bool { return c.ask(place, nil, out) }

func (c *factsCall) ask(place string, body []byte, out any) bool {
	at := *c.p.at
	path := paths[c.p.o.Kind]
	if strings.HasPrefix(place, "/") {
		at.URL = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(at.URL, path), "/"), "/v1") + place
	} else {
		at = *at.Beside(path, place)
	}
	req, err := at.NewLookup(c.ctx)
	if body != nil {
		req, err = at.NewRequest(c.ctx, body, "application/json")
	}
	if err != nil {
		return false
	}
	c.p.protocol.authorize(req.Header, c.key)
	res, err := c.p.client.Do(req)
	if err != nil {
		return false
	}
	defer func() { _ = res.Body.Close() }() // what was read is all that counts
	if res.StatusCode != http.StatusOK {
		_, _ = io.CopyN(io.Discard, res.Body, 4<<10) // so that the connection can be used again
		return false
	}
	reply, err := outbound.ReadBody(res.Body, maxProbe)
	return err == nil && json.Unmarshal(reply, out) == nil
}

// entry is a model in a list. Members that are of another type than servers send are as if they were absent.
type entry map[string]json.RawMessage

func (e entry) text(name string) (s string) {
	_ = json.Unmarshal(e[name], &s) // else ""
	return s
}

func (e entry) texts(name string) (list []string) {
	_ = json.Unmarshal(e[name], &list)
	return list
}

func (e entry) entry(name string) (in entry) {
	_ = json.Unmarshal(e[name], &in)
	return in
}

// denies reports whether a member says no.
func (e entry) denies(name string) bool { return string(bytes.TrimSpace(e[name])) == "false" }

// contextOf reads a number of tokens: also a string, as some send it.
func contextOf(raw json.RawMessage) int {
	n, err := strconv.ParseFloat(strings.Trim(string(raw), `" `), 64)
	if err != nil || math.IsNaN(n) || n < leastContext || n > mostContext {
		return 0
	}
	return int(n)
}

// contextMembers are the names under which servers tell a context: OpenRouter and Together, vLLM, Groq, Mistral and LM Studio,
// Anthropic, llama.cpp.
var contextMembers = []string{
	"context_length", "max_model_len", "context_window", "max_context_length", "loaded_context_length", "max_input_tokens", "n_ctx",
}

// facts are what the members of a model tell.
func (e entry) facts() (f ModelFacts) {
	for _, name := range contextMembers {
		f = f.join(ModelFacts{Context: contextOf(e[name])})
	}
	for _, name := range []string{"meta", "top_provider"} { // of llama.cpp, of OpenRouter
		if in := e.entry(name); in != nil {
			f = f.join(in.facts())
		}
	}
	if can := e.entry("capabilities"); can != nil { // of Mistral, and of Anthropic
		f.NoTools, f.NoImages = can.denies("function_calling"), can.denies("vision") || can.entry("image_input").denies("supported")
	}
	if takes := e.texts("supported_parameters"); len(takes) > 0 { // of OpenRouter
		f.NoTools = !slices.Contains(takes, "tools")
	}
	if takes := e.entry("architecture").texts("input_modalities"); len(takes) > 0 {
		f.NoImages = !slices.Contains(takes, "image")
	}
	return f
}

// listed finds the model in a list, and says whose program lists it. A server that has one model takes any name for it.
func (c *factsCall) listed(list []json.RawMessage) (f ModelFacts, by string) {
	for _, raw := range list {
		var e entry
		if json.Unmarshal(raw, &e) != nil {
			continue
		}
		by = e.text("owned_by")
		if c.names(e.text("id")) || slices.ContainsFunc(e.texts("aliases"), c.names) || len(list) == 1 && by == "llamacpp" {
			return e.facts(), by
		}
	}
	return ModelFacts{}, by
}

// names reports whether an id is that of the model: Ollama adds a tag.
func (c *factsCall) names(id string) bool {
	return id != "" && (id == c.model || id == c.model+":latest")
}

// props is what llama.cpp says of the model that it has loaded.
func (c *factsCall) props() (f ModelFacts) {
	var props entry
	if !c.get("/props", &props) {
		return f
	}
	f = props.facts().join(props.entry("default_generation_settings").facts())
	f.NoImages = props.entry("modalities").denies("vision")
	return f
}

var numCtx = text.Pattern(`(?m)^\s*num_ctx\s+(\d+)`)

// ollama is what Ollama says of a model, and with which context it is loaded now.
func (c *factsCall) ollama() (f ModelFacts) {
	body, err := json.Marshal(map[string]string{"model": c.model})
	var shown entry
	if err != nil || !c.ask("/api/show", body, &shown) {
		return f
	}
	about := shown.entry("model_info")
	f.Context = contextOf(about[about.text("general.architecture")+".context_length"])
	if m := numCtx().FindStringSubmatch(shown.text("parameters")); m != nil {
		f = f.join(ModelFacts{Context: contextOf(json.RawMessage(m[1]))})
	}
	if can := shown.texts("capabilities"); len(can) > 0 {
		f.NoTools, f.NoImages = !slices.Contains(can, "tools"), !slices.Contains(can, "vision")
	}
	var loaded struct {
		Models []entry `json:"models"`
	}
	if c.get("/api/ps", &loaded) {
		for _, e := range loaded.Models {
			if c.names(e.text("model")) {
				f = f.join(e.facts())
			}
		}
	}
	return f
}

// isOllama asks a server who it is: one that is none may take what is posted to it for a question to its model.
func (c *factsCall) isOllama() bool {
	var about struct {
		Version string `json:"version"`
	}
	return c.get("/api/version", &about) && about.Version != ""
}

// lmStudio is what LM Studio says of a model.
func (c *factsCall) lmStudio() ModelFacts {
	var list struct {
		Data []entry `json:"data"`
	}
	if !c.get("/api/v0/models", &list) {
		return ModelFacts{}
	}
	for _, e := range list.Data {
		if c.names(e.text("id")) {
			f := e.facts()
			f.NoImages = e.text("type") == "llm"
			return f
		}
	}
	return ModelFacts{}
}

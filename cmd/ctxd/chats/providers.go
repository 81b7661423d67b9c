package chats

import (
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type providers struct {
	Probe bool `help:"Ask the server of each which models it has. That costs nothing and takes 5 s at most."`

	connect.Audience
}

func (providers) Help() string {
	return "A provider answers in conversations: a server on this machine, such as Ollama, llama.cpp or LM Studio, or one elsewhere. " +
		"Only a local one gets private records. Keys are never shown. Without a provider the command shows how to set one."
}

func (providers) Examples() []term.Example {
	return []term.Example{
		{"ctxd chat providers", "who may answer"},
		{"ctxd chat providers --probe", "whether they can be reached, and their models"},
		{"ctxd chat providers --probe --json | jq -r '.providers[].probe.models[]'", "for scripts"},
	}
}

func (c *providers) Run(a *Options) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		var res protocol.ChatProviderList
		if err := cl.Call(a.Ctx, "chat.providers", protocol.ChatProviders{Probe: c.Probe}, &res); err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(res)
		}
		drawProviders(a.Out, &res)
		return nil
	})
}

// shownModels is how many models of a server are named; --json has them all.
const shownModels = 20

func drawProviders(s *term.Screen, res *protocol.ChatProviderList) {
	t := &term.Table{}
	for i := range res.Providers {
		p := &res.Providers[i]
		t.Row(providerCells(p)...)
	}
	t.Draw(s)
	for i := range res.Providers {
		p := &res.Providers[i]
		if p.Default && p.Why != "" { // others may be left without a key
			s.Say()
			s.Say(term.Styled(term.Bad, p.Why))
			drawTry(s, p.Hint)
		}
	}
	for i := range res.Providers {
		p := &res.Providers[i]
		for _, l := range p.LeavesOut {
			s.Say(term.Styled(term.Faint, strings.TrimRight(p.Name+" "+l.Model, " ")+" is asked without "+strings.Join(l.Members, ", ")))
		}
		if p.Probe != nil {
			drawProbe(s, p)
		}
	}
	drawSpending(s, res.Spending)
	if res.Default == "none" {
		drawSetup(s)
	}
}

// drawSpending shows what was spent, if anything was.
func drawSpending(s *term.Screen, all *protocol.ChatSpending) {
	if all == nil || len(all.Total) == 0 {
		return
	}
	for _, part := range []struct {
		when string
		rows []protocol.ChatSpent
	}{{"Spent today", all.Today}, {"Spent since " + all.Since, all.Total}} {
		if len(part.rows) == 0 {
			continue
		}
		s.Heading(part.when)
		t := &term.Table{Right: []int{2, 3, 4}}
		for _, r := range part.rows {
			about := ""
			if r.Estimated > 0 {
				about = "partly estimated"
			}
			if r.Background {
				about = strings.TrimPrefix(about+", in the background", ", ")
			}
			t.Add("  "+r.Provider, r.Model, term.Count(int(r.Requests), "request"), term.Number(r.In)+" in", term.Number(r.Out)+" out", about)
		}
		t.Draw(s)
	}
}

func providerCells(p *protocol.ChatProvider) []term.Line {
	name := term.Line{term.Text(p.Name)}
	answers := ""
	if p.Default {
		name, answers = term.Line{term.Styled(term.Strong, p.Name)}, "answers"
	}
	model := term.Line{term.Text(p.Model)}
	if p.Model == "" {
		model = term.Line{term.Styled(term.Faint, "no model")}
	}
	where := term.Line{term.Styled(term.Warn, "remote")}
	if p.Local {
		where = term.Line{term.Styled(term.Good, "local")}
	}
	key := "no key"
	if p.KeyPresent {
		key = "key found"
	}
	return []term.Line{name, model, where, {term.Styled(term.Faint, key)}, {term.Styled(term.Good, answers)}, {term.Styled(term.Faint, p.Base)}}
}

// drawProbe shows what the server of a provider said.
func drawProbe(s *term.Screen, p *protocol.ChatProvider) {
	s.Heading(p.Name, term.Styled(term.Faint, "  "+p.Base))
	if p.Probe.Error != "" {
		s.Say(term.Styled(term.Bad, "  "+p.Probe.Error))
		drawTry(s, p.Probe.Hint)
		return
	}
	s.Say(term.Text("  "+term.Count(p.Probe.Total, "model")), term.Styled(term.Faint, "  "+term.Millis(float64(p.Probe.MS))))
	list := p.Probe.Models
	for _, l := range term.WrapNames(list[:min(shownModels, len(list))], s.Columns()-2) {
		s.Say(term.Text("  " + l))
	}
	if p.Probe.Total > shownModels {
		s.Say(term.Styled(term.Faint, "  the first "+term.Number(shownModels)+"; --json lists all"))
	}
	told := strings.Join(p.Probe.Without, " and no ")
	if told != "" {
		told = "no " + told
	}
	if p.Probe.Context > 0 {
		told = strings.TrimSuffix(term.Count(p.Probe.Context, "token")+", "+told, ", ")
	}
	if told != "" {
		s.Say(term.Styled(term.Faint, "  its server says that "+p.Model+" takes "+told))
	}
	if p.Model != "" && !offers(p.Probe, p.Model) {
		s.Say(term.Styled(term.Warn, "  the model "+p.Model+" is not among them"))
	}
}

func drawTry(s *term.Screen, hint string) {
	if hint != "" {
		s.SayWhole(term.Text("  Try: " + hint))
	}
}

// offers reports whether a server has a model. Ollama names a version behind a colon, which may be left out.
func offers(o *protocol.ChatProbe, model string) bool {
	if o.Total > len(o.Models) { // it may be one of the others
		return true
	}
	for _, m := range o.Models {
		if m == model || strings.TrimSuffix(m, ":latest") == model {
			return true
		}
	}
	return false
}

// setups are settings that have somebody answer, by what is used.
var setups = []struct{ what, settings string }{
	{"Ollama", "chat.provider: ollama\nchat.model: llama3.2\nchat.providers.ollama: {base: http://127.0.0.1:11434/v1, local: true}"},
	{"llama.cpp", "chat.provider: llamacpp\nchat.model: any\nchat.providers.llamacpp: {base: http://127.0.0.1:8080/v1, local: true}"},
	{"LM Studio", "chat.provider: lmstudio\nchat.model: NAME\nchat.providers.lmstudio: {base: http://127.0.0.1:1234/v1, local: true}"},
	{"Anthropic", "chat.provider: anthropic\nchat.model: NAME\nchat.providers.anthropic.key: env:ANTHROPIC_API_KEY"},
	{"OpenAI", "chat.provider: openai\nchat.model: NAME\nchat.providers.openai.key: env:OPENAI_API_KEY"},
}

// drawSetup says how to get an answer.
func drawSetup(s *term.Screen) {
	s.Say()
	s.Say(term.Text("Nobody answers: chat.provider is none. Put one of these into the configuration, which ctxd config --init makes, and restart the daemon:"))
	for _, one := range setups {
		s.Heading(one.what)
		for l := range strings.Lines(one.settings) {
			s.SayWhole(term.Text("  " + strings.TrimSuffix(l, "\n")))
		}
	}
	s.Say()
	s.Say(term.Styled(term.Faint, "ctxd chat providers --probe then lists the models"))
}

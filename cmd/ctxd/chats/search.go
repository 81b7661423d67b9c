package chats

import (
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/inspect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type searchIn struct {
	Query    []string       `arg:"" help:"Words to look for."`
	In       string         `placeholder:"CONVERSATION" help:"Id or handle of the conversation to look in, archived or not. Default: all."`
	Mode     string         `short:"m" enum:"hybrid,lexical,semantic" default:"hybrid" placeholder:"MODE" help:"How to search: lexical (by words), semantic (by meaning) or hybrid (both). Default: hybrid."`
	Limit    term.CountFlag `short:"n" from:"1" to:"100" default:"10" placeholder:"N" help:"Maximum number of messages, 1 to 100. Default: 10."`
	Archived bool           `help:"Include archived conversations."`
	Explain  bool           `short:"e" help:"Show how each hit got its score."`

	connect.Audience
}

func (searchIn) Help() string {
	return "Finds messages by their words, in any of their forms, and by their meaning. What is said in code counts less. " +
		"In the query, \"quoted words\" must stand together, -word leaves out messages that have it, and role:, tier:, before: and after: narrow, as in: " +
		"ctxd chat search 'river role:assistant after:7d'."
}

func (searchIn) Examples() []term.Example {
	return []term.Example{
		{"ctxd chat search where to hike", "what was said about it"},
		{"ctxd chat search river --in weekend_trip_k3x9", "in one conversation"},
		{"ctxd chat search 'role:user after:yesterday hike'", "what you said lately"},
		{"ctxd chat search river --explain", "with the parts of each score"},
		{"ctxd chat search river --json | jq -r '.hits[].snippet'", "for scripts"},
	}
}

func (c *searchIn) Run(a *Options) error {
	query := strings.Join(c.Query, " ")
	if strings.TrimSpace(query) == "" {
		return term.Misuse("the query is empty", "ctxd chat search river")
	}
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		params := protocol.ChatSearch{Query: query, Mode: c.Mode, Limit: int(c.Limit), Archived: c.Archived, Explain: c.Explain}
		if c.In != "" {
			found, err := connect.FindConversation(a.Ctx, cl, c.In)
			if err != nil {
				return err
			}
			params.ConversationID = found.ID
		}
		var res protocol.ChatFound
		if err := cl.Call(a.Ctx, "chat.search", params, &res); err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(res)
		}
		drawFound(a.Out, query, &res)
		return nil
	})
}

// drawFound shows hits with what matched marked in their snippets.
func drawFound(s *term.Screen, query string, res *protocol.ChatFound) {
	how := &protocol.SearchResult{
		Mode: res.Mode, Degraded: res.Degraded, Corrected: res.Corrected, Understood: res.Understood,
		Hits: make([]protocol.SearchHit, len(res.Hits)),
	}
	inspect.DrawProblems(s, "", how)
	inspect.DrawCorrected(s, query, how)
	if len(res.Hits) == 0 {
		none := "nothing found"
		if res.Nothing != nil {
			none += ": " + res.Nothing.Why
		}
		s.Say(term.Styled(term.Faint, none))
	}
	for i := range res.Hits {
		h := &res.Hits[i]
		line := term.Line{
			term.Styled(term.Strong, h.Title), term.Text("  " + term.Number(h.Index)),
			term.Styled(term.Accent, "  "+h.Role), term.Styled(term.Faint, "  "+term.Day(h.CreatedAt)+"  "+h.Handle),
		}
		if h.Private {
			line = append(line, term.Styled(term.Warn, "  private"))
		}
		if res.Mode == "hybrid" && h.By == "meaning" {
			line = append(line, term.Styled(term.Faint, "  (by meaning)"))
		}
		s.Say(line...)
		inspect.DrawSignals(s, "  ", "message", &protocol.SearchHit{Score: h.Score, Signals: h.Signals})
		for _, l := range term.WrapSpans(term.Mark(h.Snippet, h.Ranges), s.Columns()-2) {
			s.Say(append(term.Line{term.Text("  ")}, l...)...)
		}
	}
	if len(res.Hits) > 0 && res.Confidence == search.Low {
		inspect.DrawConfidence(s, "", res.Confidence, res.Reason)
	}
	inspect.DrawDegraded(s, "", how)
}

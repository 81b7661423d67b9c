package send

import (
	"encoding/json"
	"strings"

	"github.com/ctxd/ctxd/chat/tools/render"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/record"
)

// Of the proposals of an answer the first ones are told again, each on a line.
const (
	proposalsTold = 20
	argsTold      = 300 // characters of the args of one
)

// became says what has become of what an answer proposed, for the model, which does not hear of it otherwise. It stands
// before the next message of the user: in the answer itself the model would take it for its own words.
func (s *sending) became(list []record.ChatAction) string {
	if len(list) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("What has become of your proposals, as ctxd knows it:\n")
	for i := range list[:min(len(list), proposalsTold)] {
		a := &list[i]
		args, _ := json.Marshal(s.toldValue(a.Args)) // JSON values
		text, _ := prompt.Cut(string(args), argsTold)
		b.WriteString("- " + a.Type + " " + render.Inline(text) + ": " + s.state(a) + "\n")
	}
	if more := len(list) - proposalsTold; more > 0 {
		b.WriteString("- and " + render.Plural(more, "other") + "\n")
	}
	return b.String() + "\n"
}

func (s *sending) state(a *record.ChatAction) string {
	switch a.Status {
	case record.ActionConfirmed:
		if a.ForClient {
			return "the user confirmed it, and does it in the app"
		}
		return "the user confirmed it, and it is done"
	case record.ActionRejected:
		return "the user rejected it, and nothing was done"
	case record.ActionExpired:
		return "the user did not decide in time, and nothing was done"
	case record.ActionFailed:
		return "the user confirmed it, and it could not be done: " + render.Inline(s.told(a.Failure))
	}
	return "it waits for the user, and nothing was done yet"
}

// toldValue is told for the texts of a JSON value.
func (s *sending) toldValue(value any) any {
	switch x := value.(type) {
	case string:
		return s.told(x)
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = s.toldValue(x[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(x))
		for name := range x {
			out[name] = s.toldValue(x[name])
		}
		return out
	}
	return value
}

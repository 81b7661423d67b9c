package llm

import (
	"fmt"
	"strings"

	"github.com/ctxd/ctxd/context/outbound"
)

// What an answer may be, whatever a provider sends.
const (
	maxAnswer = 4 << 20 // bytes of text, reasoning and arguments
	maxCalls  = 128
	maxName   = 256 // bytes of the id or name of a call
)

// collector takes the pieces of one answer, keeps what the whole of it needs, and passes them
// on. Of the text it keeps the size alone.
type collector struct {
	emit    func(Delta) error
	key     string // that was sent, "" for none
	emitted bool   // nothing may be asked again
	size    int    // bytes that were passed on
	text    joiner
	aloud   joiner // reasoning
	tagged  *thoughts
	calls   []*call
	usage   Usage
	counted bool // usage was said
	model   string
	finish  Finish // as the model ended it, "" until it did
	done    bool   // nothing may come any more
	tries   int    // requests that were sent, with the one that it collects the answer to
}

// call is a call of a tool that arrives.
type call struct {
	key       int // by which its pieces are known
	id, name  string
	arguments strings.Builder
	joined    joiner
}

// emitError is an error of the caller.
type emitError struct{ error }

func (c *collector) pass(d Delta, size int) error {
	c.size += size
	if c.size > maxAnswer {
		return outbound.NewRefusal("sent more than %d MiB", maxAnswer>>20)
	}
	c.emitted = true
	if err := c.emit(d); err != nil {
		return emitError{err}
	}
	return nil
}

// addText takes a piece of the answer. A thought in tags is none.
func (c *collector) addText(p piece) error {
	text := c.text.add(string(p))
	if c.tagged == nil {
		return c.passText("", text)
	}
	return c.passText(c.tagged.split(text))
}

func (c *collector) addReasoning(p piece) error { return c.passText(c.aloud.add(string(p)), "") }

func (c *collector) passText(reasoning, text string) error {
	if reasoning != "" {
		if err := c.pass(Delta{Reasoning: reasoning}, len(reasoning)); err != nil {
			return err
		}
	}
	if text != "" {
		return c.pass(Delta{Text: text}, len(text))
	}
	return nil
}

// addCall takes a piece of the call that is known by a key. A piece with an id or a name that
// is another one begins a call of its own: some servers give all of them the same key.
func (c *collector) addCall(key int, id, name string, arguments piece) error {
	if len(id) > maxName || len(name) > maxName {
		return outbound.NewRefusal("sent a call of a tool without an end")
	}
	at := c.latest(key)
	if at < 0 || id != "" && id != c.calls[at].id || name != "" && name != c.calls[at].name {
		if len(c.calls) == maxCalls {
			return outbound.NewRefusal("sent more than %d calls of tools", maxCalls)
		}
		if name == "" {
			return outbound.NewRefusal("sent a call of a tool without its name")
		}
		at = len(c.calls)
		if id == "" {
			id = fmt.Sprintf("call_%d", at+1)
		}
		c.calls = append(c.calls, &call{key: key, id: id, name: name})
		if err := c.pass(Delta{Tool: &ToolPiece{Index: at, ID: id, Name: name}}, len(id)+len(name)); err != nil {
			return err
		}
	}
	return c.addArguments(at, c.calls[at].joined.add(string(arguments)))
}

// latest returns the place of the last call with a key, -1 for none.
func (c *collector) latest(key int) int {
	at := len(c.calls) - 1
	for at >= 0 && c.calls[at].key != key {
		at--
	}
	return at
}

func (c *collector) calling(key int) bool { return c.latest(key) >= 0 }

func (c *collector) addArguments(at int, text string) error {
	if text == "" {
		return nil
	}
	c.calls[at].arguments.WriteString(text)
	return c.pass(Delta{Tool: &ToolPiece{Index: at, Arguments: text}}, len(text))
}

// flush passes on what was held back for pieces that don't come any more.
func (c *collector) flush() error {
	if err := c.passText(c.aloud.rest(), ""); err != nil {
		return err
	}
	text := c.text.rest()
	if c.tagged == nil {
		if err := c.passText("", text); err != nil {
			return err
		}
	} else {
		if err := c.passText(c.tagged.split(text)); err != nil {
			return err
		}
		if err := c.passText(c.tagged.rest()); err != nil {
			return err
		}
	}
	for at, call := range c.calls {
		if err := c.addArguments(at, call.joined.rest()); err != nil {
			return err
		}
	}
	return nil
}

// answer is what was received. Without usage it is estimated.
func (c *collector) answer(r *Request, model string, finish Finish) Answer {
	a := Answer{Finish: finish, Model: c.model, Usage: c.usage, Tries: c.tries}
	if a.Model == "" {
		a.Model = model
	}
	// A call whose arguments are not whole must not be run.
	if finish != Interrupted && finish != Cancelled {
		for _, call := range c.calls {
			a.Calls = append(a.Calls, ToolCall{ID: call.id, Name: call.name, Arguments: call.arguments.String()})
		}
	}
	if len(a.Calls) > 0 && finish == Stop {
		a.Finish = Tools
	}
	if !c.counted && (c.emitted || c.finish != "") {
		a.Usage = Usage{In: r.Tokens(), Out: Estimate(c.size), Estimated: true}
	}
	return a
}

package llm

import (
	"fmt"
	"math"
	"slices"
	"strconv"
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
// on.
type collector struct {
	emit    func(Delta) error
	key     string          // that was sent, "" for none
	emitted bool            // nothing may be asked again
	size    int             // bytes that were passed on
	raw     strings.Builder // the text as it came, with thoughts in it
	text    joiner
	aloud   joiner // reasoning
	tagged  *thoughts
	calls   []*call
	back    Returned
	usage   Usage
	counted bool // usage was said
	model   string
	finish  Finish // as the model ended it, "" until it did
	done    bool   // nothing may come any more
	tries   int    // requests that were sent, with the one that it collects the answer to
	tools   []Tool // that the request offered
}

// call is a call of a tool that arrives.
type call struct {
	key       int    // by which its pieces are known
	sent      string // id as the server gave it
	id, name  string // id is the server's, or ours where that gave none or one twice
	arguments strings.Builder
	joined    joiner
	whole     wholeObject
	extra     members
}

// wholeObject follows a JSON object that arrives in pieces.
type wholeObject struct {
	depth             int
	begun, done       bool
	inString, escaped bool
}

// add takes a piece and returns how much of it belongs to the object: all, or as far as another one begins.
func (w *wholeObject) add(s string) int {
	for i := range len(s) {
		c := s[i]
		switch {
		case w.done:
			if c == '{' {
				return i
			}
		case w.escaped:
			w.escaped = false
		case w.inString:
			w.inString, w.escaped = c != '"', c == '\\'
		case c == '"':
			w.inString = w.begun
		case c == '{' || c == '[' && w.begun:
			w.depth, w.begun = w.depth+1, true
		case (c == '}' || c == ']') && w.depth > 0:
			w.depth--
			w.done = w.depth == 0
		}
	}
	return len(s)
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

// addText takes a piece of the answer. A thought between marks is none.
func (c *collector) addText(p piece) error {
	text := c.text.add(string(p))
	c.raw.WriteString(text)
	if c.tagged == nil {
		return c.passText("", text)
	}
	reasoning, text, was := c.tagged.split(text)
	if was {
		if err := c.pass(Delta{Rethought: true}, 0); err != nil {
			return err
		}
	}
	return c.passText(reasoning, text)
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

// addCall takes a piece of the call that is known by a key, and what the server wants back with it. A piece begins a call
// of its own where its id or name is another one, and behind arguments that are whole: some servers give all calls the same
// key, and some the same id or none, too. A name that arrives in pieces is joined as far as a tool has that name.
func (c *collector) addCall(key int, id, name string, arguments piece, extra members) error {
	if len(id) > maxName || len(name) > maxName {
		return outbound.NewRefusal("sent a call of a tool without an end")
	}
	at := c.latest(key)
	if at >= 0 && (id == "" || id == c.calls[at].sent) {
		more := c.moreOfName(c.calls[at], name)
		if more != "" {
			c.calls[at].name += more
			name = c.calls[at].name
			if err := c.pass(Delta{Tool: &ToolPiece{Index: at, Name: more}}, len(more)); err != nil {
				return err
			}
		}
	}
	other := at < 0 || id != "" && id != c.calls[at].sent || name != "" && name != c.calls[at].name
	text := string(arguments)
	for {
		if other {
			if name == "" && at >= 0 { // whole objects behind each other are calls of one tool
				name = c.calls[at].name
			}
			var err error
			if at, err = c.beginCall(key, id, name); err != nil {
				return err
			}
		}
		call := c.calls[at]
		if call.extra == nil {
			call.extra = extra
		}
		if call.whole.done && strings.IndexByte(text, '{') < 0 { // such as the word null
			return nil
		}
		n := call.whole.add(text)
		own := text[:n]
		if text = text[n:]; text != "" {
			own = strings.TrimRight(own, ", \t\r\n")
		}
		if err := c.addArguments(at, call.joined.add(own)); err != nil || text == "" {
			return err
		}
		other = true
	}
}

// orAbsent is an id or a name; some servers write the word null, or Python's None, for one that is absent.
func orAbsent(p loose) string {
	if p == "null" || p == "None" {
		return ""
	}
	return string(p)
}

// moreOfName returns what a piece adds to the name of a call without arguments so far: the piece where it is the next one, its
// end where it has all of the name until now, "" where it adds nothing.
func (c *collector) moreOfName(of *call, piece string) string {
	offered := func(is func(name string) bool) bool {
		return slices.ContainsFunc(c.tools, func(t Tool) bool { return is(t.Name) })
	}
	if piece == "" || of.whole.begun || offered(func(name string) bool { return name == of.name }) &&
		offered(func(name string) bool { return name == piece }) {
		return ""
	}
	if offered(func(name string) bool { return strings.HasPrefix(name, of.name+piece) }) {
		return piece
	}
	end, ok := strings.CutPrefix(piece, of.name)
	if ok && offered(func(name string) bool { return strings.HasPrefix(name, piece) }) {
		return end
	}
	return ""
}

// beginCall begins a call and returns its place.
func (c *collector) beginCall(key int, sent, name string) (at int, err error) {
	if len(c.calls) == maxCalls {
		return 0, outbound.NewRefusal("sent more than %d calls of tools", maxCalls)
	}
	if name == "" {
		return 0, outbound.NewRefusal("sent a call of a tool without its name")
	}
	at = len(c.calls)
	id := sent
	for n := at + 1; id == "" || slices.ContainsFunc(c.calls, func(other *call) bool { return other.id == id }); n++ {
		id = fmt.Sprintf("call_%d", n)
	}
	c.calls = append(c.calls, &call{key: key, sent: sent, id: id, name: name})
	return at, c.pass(Delta{Tool: &ToolPiece{Index: at, ID: id, Name: name}}, len(id)+len(name))
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
		if err := c.addText(piece(text)); err != nil {
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
			a.Calls = append(a.Calls, ToolCall{ID: call.id, Name: call.name, Arguments: call.arguments.String(), extra: call.extra})
		}
		c.back.text = c.raw.String()
		a.Returned = c.back
	}
	if len(a.Calls) > 0 && finish == Stop {
		a.Finish = Tools
	}
	switch {
	case c.counted && min(a.Usage.In, a.Usage.Out) >= 0 && a.Usage.In+a.Usage.Out > 0:
		a.Usage.Cached = min(max(0, a.Usage.Cached), a.Usage.In)
	case c.emitted || c.finish != "":
		a.Usage = Usage{In: r.Tokens(), Out: Estimate(c.size), Estimated: true}
	default:
		a.Usage = Usage{}
	}
	return a
}

// refused is the refusal of a provider that reports an error in a stream. A call that it refuses costs nothing, whatever
// it has said before.
func (c *collector) refused(raw []byte) error {
	if !c.emitted {
		c.usage, c.counted = Usage{}, false
	}
	return reported(raw)
}

// count is a figure of a provider. What can be none, as a negative one or a string, is noCount.
type count int64

const (
	noCount = -1
	// mostTokens is what a figure may be: a request has no more bytes, and the largest model takes a third of it.
	mostTokens = maxRequest
)

// UnmarshalJSON never fails. Part of a token counts as one.
func (n *count) UnmarshalJSON(raw []byte) error {
	if string(raw) == "null" {
		return nil
	}
	*n = noCount
	if said, err := strconv.ParseFloat(string(raw), 64); err == nil && said >= 0 && said <= mostTokens {
		*n = count(math.Ceil(said))
	}
	return nil
}

package titles

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/chat/prompts"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/prompt/chars"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

const (
	waiting    = 256         // conversations that wait for a title; more get none
	maxTokens  = 2048        // of an answer: models that think count that, too
	maxBytes   = 4 << 10     // of its text
	retryAfter = time.Minute // when a budget is used up
	titleChars = 60
)

// House is where conversations are.
type House struct {
	Chat          *chat.Store
	Local, Remote *audience.View
	// Enter runs work while the rooms can be used. It returns an error without running it once they are gone.
	Enter func(ctx context.Context, work func(ctx context.Context) error) error
}

// Options are what a Titler works with.
type Options struct {
	Providers *llm.Set
	Prompts   *prompts.Set
	Log       *slog.Logger
	// Sleep waits for d or for the end of ctx, whose error it returns then. nil: by the clock of the machine.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Titler asks for titles.
type Titler struct {
	opts  Options
	queue chan *job
	stop  context.CancelFunc
	ended sync.WaitGroup
}

// job is an answer that may give its conversation a title.
type job struct {
	house                     House
	conversationID, messageID string
	provider, model           string
}

// New starts a Titler.
func New(o Options) *Titler {
	if o.Sleep == nil {
		o.Sleep = llm.Sleep
	}
	ctx, stop := context.WithCancel(context.Background())
	t := &Titler{opts: o, queue: make(chan *job, waiting), stop: stop}
	t.ended.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case j := <-t.queue:
				t.do(ctx, j)
			}
		}
	})
	return t
}

// Close gives up what waits and what is being asked, and returns when nothing is done any more.
func (t *Titler) Close() {
	if t == nil {
		return
	}
	t.stop()
	t.ended.Wait()
}

// Answered says that a message was answered. If that gives the conversation its title, it is made later. It does nothing
// for a nil Titler.
func (t *Titler) Answered(h House, sent *turn.ChatSent) {
	if t == nil {
		return
	}
	if j := jobOf(h, sent); j != nil {
		select {
		case t.queue <- j:
		default: // the first message goes on naming it
		}
	}
}

// jobOf returns what is to be done about an answer, nil for nothing.
func jobOf(h House, sent *turn.ChatSent) *job {
	a := sent.AssistantMessage
	if sent.Repeat || a == nil || a.Finish != record.FinishComplete || strings.TrimSpace(a.Content) == "" ||
		a.Provider == "" || a.Provider == string(llm.None) {
		return nil
	}
	return &job{house: h, conversationID: sent.ConversationID, messageID: a.ID, provider: a.Provider, model: a.Model}
}

// do makes a title, and waits while the budget is used up.
func (t *Titler) do(ctx context.Context, j *job) {
	for {
		err := t.attempt(ctx, j)
		var f *fault.Error
		switch {
		case err == nil || ctx.Err() != nil:
			return
		case !errors.As(err, &f) || f.Kind != fault.Limit || !f.Retryable:
			t.opts.Log.Debug("a conversation got no title by a model", "error", fault.Message(err))
			return
		}
		if t.opts.Sleep(ctx, retryAfter) != nil {
			return
		}
	}
}

// attempt makes a title. The error is fault.Limit, retryable, when the budget does not allow it yet: nothing was asked.
func (t *Titler) attempt(ctx context.Context, j *job) error {
	provider, err := t.opts.Providers.Provider(j.provider)
	if err != nil {
		return err
	}
	var of *chat.FirstTurn
	err = j.house.Enter(ctx, func(ctx context.Context) (err error) {
		of, err = j.house.Chat.Untold(ctx, j.house.Local, j.house.Remote, j.conversationID, j.messageID)
		return err
	})
	if of == nil || err != nil {
		return err
	}
	if info := provider.Info(); info.Kind == llm.None || of.Private && !info.Local {
		return nil
	}
	title, failed := t.ask(ctx, provider, j.model, of)
	var f *fault.Error
	if ctx.Err() != nil || errors.As(failed, &f) && f.Kind == fault.Limit && f.Retryable {
		return failed
	}
	err = j.house.Enter(ctx, func(ctx context.Context) error {
		return j.house.Chat.Entitle(ctx, j.conversationID, of, title)
	})
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "a title was not stored") // no try is repeated
	}
	return failed
}

// ask asks a model once. The title is empty when it gave none.
func (t *Titler) ask(ctx context.Context, provider llm.Provider, model string, of *chat.FirstTurn) (string, error) {
	p := t.opts.Prompts.Title(prompts.Title{Message: of.Question, Answer: of.Answer})
	var text strings.Builder
	a, err := provider.Stream(ctx, &llm.Request{
		Model: model, System: p.System, Messages: []llm.Message{{Role: llm.User, Text: p.User}},
		MaxTokens: maxTokens, Background: true,
	}, func(d llm.Delta) error {
		text.WriteString(d.Text) // what it thinks is not asked for
		if text.Len() > maxBytes {
			return fault.New(fault.Unavailable, "the answer is too long for a title")
		}
		return nil
	})
	switch {
	case err != nil:
		return "", err
	case a.NoProvider || a.Finish != llm.Stop:
		return "", nil
	}
	return clean(text.String()), nil
}

// Tags that some models put around what they think, and that a provider passes on.
var thinking = [][2]string{{"<think>", "</think>"}, {"<thinking>", "</thinking>"}, {"<reasoning>", "</reasoning>"}}

// clean reads the answer of a model as a title: one line, of what a person sees, without quotes around it, and of at
// most 60 characters. "" is no title.
func clean(answer string) string {
	for _, tag := range thinking {
		if _, after, found := cutLast(answer, tag[1]); found {
			answer = after
		} else if before, _, found := strings.Cut(answer, tag[0]); found {
			answer = before
		}
	}
	answer = strings.ToValidUTF8(answer, "")
	answer = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || chars.IsBreak(r):
			return '\n'
		case unicode.IsSpace(r):
			return ' '
		case r == '\u200c' || r == '\u200d':
			return r // they join letters and emoji, which look otherwise without
		case unicode.IsControl(r) || chars.IsHidden(r) && !unicode.Is(unicode.Variation_Selector, r):
			return -1
		}
		return r
	}, answer)
	for line := range strings.Lines(answer) {
		line = strings.Join(strings.Fields(line), " ")
		for was := ""; was != line; {
			was, line = line, bare(line)
		}
		switch {
		case !strings.ContainsFunc(line, names):
			continue // a fence, a rule, an empty line
		case strings.EqualFold(strings.TrimRight(line, "."), "null"):
			return ""
		}
		title, _ := chars.Cut(line, titleChars)
		return title
	}
	return ""
}

// names reports whether a character can name something by itself: a letter, a digit, an emoji.
func names(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.So, r)
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// Quotes that may stand around a title, and marks of Markdown.
var around = [][2]string{
	{`"`, `"`},
	{"'", "'"},
	{"`", "`"},
	{"“", "”"},
	{"„", "“"},
	{"„", "”"},
	{"‘", "’"},
	{"‚", "‘"},
	{"«", "»"},
	{"»", "«"},
	{"‹", "›"},
	{"「", "」"},
	{"『", "』"},
	{"**", "**"},
	{"__", "__"},
	{"*", "*"},
	{"_", "_"},
}

// bare takes away what stands around a title.
func bare(line string) string {
	line = strings.TrimSpace(strings.TrimLeft(line, "#"))
	for _, q := range around {
		inside, begins := strings.CutPrefix(line, q[0])
		inside, ends := strings.CutSuffix(inside, q[1])
		if begins && ends && inside != "" && !strings.Contains(inside, q[0]) && !strings.Contains(inside, q[1]) {
			return strings.TrimSpace(inside)
		}
	}
	return line
}

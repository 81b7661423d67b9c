package gather

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/outbound"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/yield"
)

// Distiller has a model say what of memories and messages matters for a message. What it returns is not trusted: see
// call.distil. It may be called concurrently. background.Distiller is one, which this package may not
// import.
type Distiller interface {
	// Name is what people call it, such as ours/llama3.2.
	Name() string
	// Local reports whether nothing that it is given leaves this machine.
	Local() bool
	// Distill returns what matters of the texts, by their refs, in any order; what does not matter is left out.
	Distill(ctx context.Context, message string, texts []Excerpt) ([]Excerpt, error)
}

// Excerpt is the text of a memory or a message, or what is left of it.
type Excerpt struct {
	Ref  string // short, and of this one question
	Text string
}

// DistillTime is how long a Distiller may take, unless Options say otherwise.
const DistillTime = 5 * time.Second

// Bounds of what a Distiller is given, in characters.
const (
	maxDistilled = 24_000 // of all texts; those behind stand as they are
	maxAbout     = 4_000  // of the message
)

// DistillStage is the name of the stage in a report.
const DistillStage = "distill"

// distil has the Distiller shorten what is pinned and what was found, and leave out what was found and does not matter
// for the message. What the user referred to and the profile are not its business. It may take seconds, in which the
// caller holds no lock and no place, and it is the last step that waits.
//
// Nothing that a model says gets further than to leave words out: a text that is no excerpt (memory.IsExcerpt) is not
// taken, and its memory stands as it is. So does everything where the answer names what was not given, or takes too
// long. The stage of the report says which. waited tells that time has passed; the error is that of ctx.
func (c *call) distil(ctx context.Context, clock *stopwatch) (waited bool, err error) {
	d := c.g.opts.Distiller
	if d == nil {
		return false, nil
	}
	texts, at := c.distillable()
	if len(texts) == 0 {
		return false, nil
	}
	why, err := c.undistilled(ctx, d)
	if err != nil {
		return false, err
	}
	if why != "" {
		clock.skip(DistillStage, why)
		return false, nil
	}
	yield.Leave(ctx)
	limit := cmp.Or(c.g.opts.DistillTime, DistillTime)
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	about, _ := prompt.Cut(c.view.TextOf("", c.Text), maxAbout)
	asking := within
	if !d.Local() {
		asking = outbound.Unless(within, c.hiddenMeanwhile)
	}
	said, err := d.Distill(asking, about, texts)
	if ctx.Err() != nil {
		return true, ctx.Err()
	}
	done, late := "", errors.Is(within.Err(), context.DeadlineExceeded)
	switch {
	case late:
		why = "it took longer than " + limit.String()
	case fault.KindOf(err) == fault.Limit && c.told.Hides(): // how much was spent is said to a local reader
		why = "no budget is left for it"
	case err != nil:
		why = fault.Message(err)
	default:
		done, why = c.take(texts, said, at)
	}
	clock.lap(DistillStage)
	stage := &clock.stages[len(clock.stages)-1]
	stage.Skipped, stage.Why = why != "", d.Name()+": "+cmp.Or(why, done)
	return true, nil
}

// undistilled says why a Distiller is not asked, "" when it is. One that is not local is not asked for a local reader:
// what is private, the message perhaps, and names of what is private in what is not, are no business of its server.
func (c *call) undistilled(ctx context.Context, d Distiller) (why string, err error) {
	switch {
	case search.AsksNothing(c.mentions.query):
		return "the message asks nothing", nil
	case d.Local():
		return "", nil
	case !c.remote:
		return d.Name() + " is not local, and the prompt is for a local reader", nil
	case c.ConversationID == "" || c.g.opts.Conversations == nil || c.told == c.view:
		return "", nil
	}
	id := []string{c.ConversationID}
	public, err := c.g.opts.Conversations.Titles(ctx, c.view, id)
	if err != nil {
		return "", err
	}
	known, err := c.g.opts.Conversations.Titles(ctx, c.told, id)
	if err == nil && public[0] == "" && known[0] != "" {
		why = d.Name() + " is not local, and the conversation is private"
	}
	return why, err
}

// distillable returns the texts that a Distiller may shorten, and the place of each among the candidates.
func (c *call) distillable() (texts []Excerpt, at map[string]int) {
	room := maxDistilled
	at = make(map[string]int)
	for i := range c.in.Recalled {
		m := &c.in.Recalled[i]
		if m.Part == prompt.Profile || m.Part == prompt.Insight {
			continue
		}
		if room -= prompt.Chars(m.Statement); room < 0 {
			break
		}
		ref := "m" + strconv.Itoa(len(texts)+1)
		texts = append(texts, Excerpt{Ref: ref, Text: m.Statement})
		at[ref] = i
	}
	return texts, at
}

// take shortens the candidates to what a Distiller has said of their texts, and leaves out those that it has left out.
// wrong says why nothing was done; done what was.
func (c *call) take(texts, said []Excerpt, at map[string]int) (done, wrong string) {
	short := make(map[string]string, len(said))
	for _, s := range said {
		if _, given := at[s.Ref]; !given {
			return "", "its answer names a memory that it was not given"
		}
		if _, twice := short[s.Ref]; twice {
			return "", "its answer names a memory twice"
		}
		short[s.Ref] = strings.TrimSpace(s.Text)
	}
	list := slices.Clone(c.in.Recalled)
	var left []prompt.Dropped
	shortened, refused, sound := 0, 0, 0
	for _, t := range texts {
		m := &list[at[t.Ref]]
		switch text := short[t.Ref]; {
		case text == "" && m.Source == prompt.SourceAuto: // what is pinned is in every prompt
			left = append(left, prompt.Dropped{Kind: m.Reported(), ID: m.ID, Title: m.Title, Reason: prompt.Distilled})
			m.ID = ""
		case text == "":
		case !memory.IsExcerpt(text, t.Text):
			refused++
		case prompt.Chars(text) < prompt.Chars(t.Text):
			m.Statement, m.Distilled = text, true
			shortened++
			sound++
		default:
			sound++
		}
	}
	if refused > 0 && sound == 0 {
		return "", "its answer says what no memory says"
	}
	plain := c.in
	c.plain = &plain
	c.in.Dropped = slices.Concat(c.in.Dropped, left)
	c.in.Recalled = slices.DeleteFunc(list, func(m prompt.Memory) bool { return m.ID == "" })
	done = fmt.Sprintf("of %d texts %d were shortened and %d left out", len(texts), shortened, len(left))
	if refused > 0 {
		done += fmt.Sprintf("; %d stand as they are, since it said something else", refused)
	}
	return done, ""
}

// hiddenMeanwhile reports whether the reader of the prompt may not see any more what is in it, or was called otherwise:
// time has passed since it was read.
func (c *call) hiddenMeanwhile(ctx context.Context) (bool, error) {
	told, err := c.toldBefore(ctx)
	if told || err != nil || !c.remote {
		return told, err
	}
	var memories, conversations, titles []string
	for _, m := range slices.Concat(c.in.Referenced, c.in.Recalled) {
		switch {
		case m.ConversationID == "":
			memories = append(memories, m.ID)
		case m.Conversation != "":
			conversations, titles = append(conversations, m.ConversationID), append(titles, m.Conversation)
		}
	}
	if slices.Contains(c.g.opts.Memories.Seen(c.view, memories), nil) {
		return true, nil
	}
	if len(conversations) == 0 {
		return false, nil
	}
	now, err := c.g.opts.Conversations.Titles(ctx, c.view, conversations)
	return !slices.Equal(now, titles), err
}

package concepts

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
)

// Bounds of an insight.
const (
	MostLines    = 6
	mostTopics   = 5
	mostOfList   = 3
	tooCommon    = 2000 // documents of a term that says nothing any more; it also bounds the time
	longestText  = 200  // characters of a memory in an insight
	leastTried   = 2    // outcomes of a tier that is recommended
	leastOfAsked = 0.6  // of the topics of a text that another one has to have for being nearly the same
)

// InsightOf returns what is known of the subjects of a text, which is typed in a conversation or, for "", in none. It looks
// up what is there, and embeds nothing. late says that the index is not as new as the records yet, and then there is
// nothing. O(documents of the topics), 2,000 of each at most.
func (x *Index) InsightOf(ctx context.Context, v *audience.View, text, conversation string) (in *record.Insight, late bool) {
	if !x.Soon(ctx) {
		return nil, true
	}
	return x.insight(v, text, conversation), false
}

// Insight is InsightOf for who waits until the index is as new as the records. The error is that of a context that has
// ended.
func (x *Index) Insight(ctx context.Context, v *audience.View, text, conversation string) (*record.Insight, error) {
	if err := x.Ready(ctx); err != nil {
		return nil, err
	}
	return x.insight(v, text, conversation), nil
}

func (x *Index) insight(v *audience.View, text, conversation string) *record.Insight {
	l := x.look(v)
	g := &gathering{look: l, conversation: conversation, out: &record.Insight{
		Topics: []string{}, Experience: []record.InsightExperience{}, Failures: []record.InsightFailure{},
		Recommendations: []record.InsightAdvice{}, Continuing: []record.InsightContinuing{}, Repeated: []record.InsightRepeated{},
		Lines: []record.InsightLine{},
	}}
	g.list = l.subjects(text)
	for i := range g.list {
		g.out.Topics = append(g.out.Topics, g.list[i].Label)
		g.of(&g.list[i])
	}
	g.repeated()
	l.done()
	g.read() // the texts, which takes a time that depends on them
	return g.out
}

// subjects are the topics of a text that are not spoken of everywhere.
func (l *look) subjects(text string) []topic {
	var list []topic
	var seen []string
	for _, p := range phrasesOf(text) {
		if term, ok := l.x.terms[p.Key]; slices.Contains(seen, p.Key) || ok && l.x.seen[term][l.side] > tooCommon {
			continue
		}
		j := l.join(p.Key, p.Shown)
		seen = append(seen, j.keys...)
		if len(j.terms) == 0 {
			continue
		}
		many := func(term uint32) bool { return l.x.seen[term][l.side] > tooCommon }
		if slices.ContainsFunc(j.terms, many) {
			continue
		}
		if c := l.concept(j, everything); c != nil {
			list = append(list, topic{c, j})
		}
	}
	list = rarest(list)
	return list[:min(mostTopics, len(list))]
}

// gathering is one insight.
type gathering struct {
	*look
	conversation string
	list         []topic
	out          *record.Insight
}

// better reports whether a memory stands for success rather than another one.
func better(a, b *doc) bool {
	if b == nil {
		return true
	}
	return cmp.Or(cmp.Compare(a.use.Worked-a.use.Failed, b.use.Worked-b.use.Failed), cmp.Compare(a.at, b.at), compareRefs(a.ref, b.ref)) > 0
}

// failing reports whether a memory did not help more often than it did.
func failing(d *doc) bool { return d.use.Failed > d.use.Worked }

// of adds what is known of one topic.
func (g *gathering) of(t *topic) {
	var best, reason *doc
	bestOf := make(map[string]*doc) // by tier
	var failed []*doc
	spoken := make(map[string]*doc) // the last message of a conversation
	first := int64(0)
	sum := record.ConceptTier{}
	g.each(t.joined, func(d *doc, _ posting) {
		if d.message {
			of := d.said[g.side].Conversation
			if later(d, spoken[of]) {
				spoken[of] = d
			}
			if first == 0 || d.at < first {
				first = d.at
			}
			return
		}
		u := &d.use
		if u.Worked+u.Failed+u.Partial == 0 {
			return
		}
		sum.Worked, sum.Failed, sum.Partial = sum.Worked+u.Worked, sum.Failed+u.Failed, sum.Partial+u.Partial
		if u.Worked > u.Failed && better(d, best) {
			best = d
		}
		if u.Worked > u.Failed && better(d, bestOf[d.tier]) {
			bestOf[d.tier] = d
		}
		switch {
		case !failing(d):
		case d.kind == record.MemoryTakeaway:
			if later(d, reason) {
				reason = d
			}
		default:
			failed = append(failed, d)
		}
	})
	known := func(e record.InsightExperience) bool { return e.Example.ID == best.id } // of a rarer topic
	if best != nil && len(g.out.Experience) < mostOfList && !slices.ContainsFunc(g.out.Experience, known) {
		g.out.Experience = append(g.out.Experience, record.InsightExperience{
			Topic: t.Label, Worked: sum.Worked, Failed: sum.Failed, Partial: sum.Partial, Example: g.place(best),
			Rate: memory.FromHundredths((100*sum.Worked + (sum.Worked+sum.Failed)/2) / (sum.Worked + sum.Failed)),
		})
	}
	g.failures(t, failed, reason)
	g.advice(t, bestOf)
	g.continuing(t, spoken, first)
}

func (g *gathering) failures(t *topic, failed []*doc, reason *doc) {
	if reason != nil && len(failed) == 0 { // the takeaway says it alone
		failed, reason = []*doc{reason}, nil
	}
	slices.SortFunc(failed, func(a, b *doc) int {
		return cmp.Or(cmp.Compare(b.use.Failed-b.use.Worked, a.use.Failed-a.use.Worked), cmp.Compare(b.at, a.at), compareRefs(b.ref, a.ref))
	})
	for _, d := range failed {
		if len(g.out.Failures) == mostOfList {
			return
		}
		if slices.ContainsFunc(g.out.Failures, func(f record.InsightFailure) bool { return f.Example.ID == d.id }) {
			continue
		}
		f := record.InsightFailure{Topic: t.Label, Worked: d.use.Worked, Failed: d.use.Failed, Example: g.place(d)}
		if reason != nil {
			f.Reason = reason.id // until the texts are read
		}
		g.out.Failures = append(g.out.Failures, f)
	}
}

func (g *gathering) advice(t *topic, bestOf map[string]*doc) {
	var best *record.ConceptTier
	for i := range t.Tiers {
		tier := &t.Tiers[i]
		if bestOf[tier.Tier] != nil && tier.Worked+tier.Failed >= leastTried && tier.Worked > tier.Failed && (best == nil || tier.Wilson > best.Wilson) {
			best = tier
		}
	}
	if best == nil {
		return
	}
	known := func(a record.InsightAdvice) bool { return a.Example.ID == bestOf[best.Tier].id }
	if len(g.out.Recommendations) < mostOfList && !slices.ContainsFunc(g.out.Recommendations, known) {
		g.out.Recommendations = append(g.out.Recommendations, record.InsightAdvice{
			Topic: t.Label, Tier: best.Tier, Worked: best.Worked, Failed: best.Failed, Wilson: best.Wilson,
			Example: g.place(bestOf[best.Tier]),
		})
	}
}

// continuing adds a topic of two other conversations at least.
func (g *gathering) continuing(t *topic, spoken map[string]*doc, first int64) {
	var last *doc
	others := 0
	for id, d := range spoken {
		if id != g.conversation {
			others++
		}
		if later(d, last) {
			last = d
		}
	}
	if others > 1 && len(g.out.Continuing) < mostOfList {
		g.out.Continuing = append(g.out.Continuing, record.InsightContinuing{
			Topic: t.Label, Conversations: len(spoken), FirstSeen: time.Unix(0, first).UTC(), LastSeen: time.Unix(0, last.at).UTC(),
			Example: g.place(last),
		})
	}
}

// repeated adds what the user said before of most of the topics: in this conversation, but for the last message of it,
// which may be the text itself, and in others.
func (g *gathering) repeated() {
	need := int(leastOfAsked*float64(len(g.list)) + 0.999)
	if len(g.list) < 2 {
		return
	}
	shares := make(map[*doc]int)
	for _, t := range g.list {
		g.each(t.joined, func(d *doc, _ posting) {
			if d.message && d.said[g.side].Role == record.RoleUser {
				shares[d]++
			}
		})
	}
	var own *doc // the last message of this conversation
	for _, n := range g.x.spoken[g.conversation] {
		if d := g.x.docs[n]; d != nil && (d.public || g.bit == local) && later(d, own) {
			own = d
		}
	}
	for _, here := range []bool{true, false} {
		r := record.InsightRepeated{Here: here}
		var last *doc
		for d, n := range shares {
			if n < max(2, need) || d == own || (d.said[g.side].Conversation == g.conversation) != here {
				continue
			}
			r.Times++
			if later(d, last) {
				last = d
			}
		}
		if last != nil {
			r.Example = g.place(last)
			g.out.Repeated = append(g.out.Repeated, r)
		}
	}
}

// read reads the texts of memories as the reader sees them, and makes the lines. What has gone meanwhile is left out.
func (g *gathering) read() {
	in := g.out
	in.Experience = slices.DeleteFunc(in.Experience, func(e record.InsightExperience) bool { return g.text(e.Example.ID) == "" })
	in.Failures = slices.DeleteFunc(in.Failures, func(f record.InsightFailure) bool { return g.text(f.Example.ID) == "" })
	for i := range in.Experience {
		in.Experience[i].Text = g.text(in.Experience[i].Example.ID)
	}
	for i := range in.Failures {
		f := &in.Failures[i]
		f.Text = g.text(f.Example.ID)
		if f.Reason != "" {
			f.Reason = g.text(f.Reason)
		}
	}
	in.Lines = linesOf(in)
}

// text returns what a memory says in one line, "" for one that the reader does not see.
func (g *gathering) text(id string) string {
	m, err := g.x.opts.Store.Get(g.v, id)
	if err != nil {
		return ""
	}
	s := strings.Join(strings.Fields(cmp.Or(m.Summary, m.Statement)), " ")
	if utf8.RuneCountInString(s) <= longestText {
		return s
	}
	runes := []rune(s)[:longestText]
	cut := strings.LastIndex(string(runes), " ")
	if cut < longestText/2 {
		cut = len(string(runes))
	}
	return strings.TrimRight(string(runes)[:cut], " ,;") + " …"
}

// linesOf returns an insight as lines of a prompt: what helped and what did not first, then the rest, one of each list by
// turns.
func linesOf(in *record.Insight) []record.InsightLine {
	var lists [5][]record.InsightLine
	add := func(list int, kind, id, format string, args ...any) {
		lists[list] = append(lists[list], record.InsightLine{Kind: kind, ID: id, Text: fmt.Sprintf(format, args...)})
	}
	for _, e := range in.Experience {
		add(0, record.InsightOfExperience, e.Example.ID, "About %s: %d of %d uses helped, such as: %s", e.Topic, e.Worked, e.Worked+e.Failed, e.Text)
	}
	for _, f := range in.Failures {
		because := ""
		if f.Reason != "" {
			because = "; the reason: " + f.Reason
		}
		add(1, record.InsightOfFailure, f.Example.ID, "About %s, this did not help in %d of %d uses: %s%s", f.Topic, f.Failed, f.Worked+f.Failed, f.Text, because)
	}
	for _, a := range in.Recommendations {
		add(2, record.InsightOfAdvice, a.Example.ID, "About %s, memories of the tier %s helped surest: in %d of %d uses", a.Topic, a.Tier, a.Worked, a.Worked+a.Failed)
	}
	for _, r := range in.Repeated {
		where := "other conversations"
		if r.Here {
			where = "this conversation"
		}
		add(3, record.InsightOfRepeated, r.Example.ID, "The user has asked nearly the same in %s before, %s, the last time on %s", where, times(r.Times), text.Day(r.Example.At))
	}
	for _, c := range in.Continuing {
		add(4, record.InsightOfContinuing, c.Example.ID, "%s has been a subject of %d conversations since %s", c.Topic, c.Conversations, text.Day(c.FirstSeen))
	}
	out := []record.InsightLine{}
	for round := range mostOfList {
		for _, list := range lists {
			if round < len(list) && len(out) < MostLines {
				out = append(out, list[round])
			}
		}
	}
	order := []string{
		record.InsightOfExperience, record.InsightOfFailure, record.InsightOfAdvice, record.InsightOfRepeated, record.InsightOfContinuing,
	}
	slices.SortStableFunc(out, func(a, b record.InsightLine) int {
		return cmp.Compare(slices.Index(order, a.Kind), slices.Index(order, b.Kind))
	})
	return out
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

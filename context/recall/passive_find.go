package recall

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/memory/document"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

const (
	passivePool = 60 // hits of each kind that are compared

	leastConfidence = 0.5
	ofMessage       = 0.7 // the confidence that stands for that of a message: the default of memories

	bySimilarity, byConfidence, byRecency = 0.6, 0.3, 0.1
	// halfLife is after how long a record counts half for recency: episodes live that long.
	halfLife = 30 * 24 * time.Hour

	passiveClusterCosine = 0.8

	// Of facts and of episodes three are kept, and up to five of those that have a good part of the best score.
	fewest, mostPassive = 3, 5
	goodPart            = 0.9
)

// found is what waits: the id of a memory, or the name of a message in its index.
type found struct {
	id      string
	message bool
}

// passiveCandidate is a found while it is chosen.
type passiveCandidate struct {
	found
	episode           bool
	confidence, score float64
}

// find returns what is near to the last turns of a conversation.
func (r *Passive) find(j *job) (a answer, err error) {
	a.privacy = j.view.Privacy()
	if r.in.Memories.Search == nil {
		a.why = nowhere
		return a, nil
	}
	texts, err := r.texts(j)
	if err != nil {
		return a, err
	}
	a.texts = keyOf(texts...)
	if len(texts) == 0 {
		a.why = noTurn
		return a, nil
	}
	like, err := r.known.of(j.ctx, r.in.Memories.Search, texts)
	if err != nil {
		return a, err
	}
	at := search.LevelsOf(like.Model.Name)
	if len(texts) == 2 {
		cosine, ok := like.Cosine(0, 1)
		if ok && cosine < at.Subject {
			a.why = changed
			return a, nil
		}
	}
	memories, err := r.memories(j, like, at.Fact)
	if err != nil {
		return a, err
	}
	messages, err := r.messages(j, like, at.Message)
	if err != nil {
		return a, err
	}
	a.found = choose(slices.Concat(memories, messages))
	return a, nil
}

// texts returns what is looked for. An embedder on another machine gets what a remote reader sees.
func (r *Passive) texts(j *job) ([]string, error) {
	view := j.view
	embedder, ok := r.in.Memories.Search.Embedder()
	if ok && embedder.Remote {
		view = r.remote.view
	}
	texts, err := r.opts.Turns(j.ctx, view, j.conversation)
	if fault.KindOf(err) == fault.NotFound && view != j.view {
		return nil, fault.New(fault.Unavailable, "the conversation is private, and the embedder on another machine")
	}
	return texts, err
}

// memories returns the memories that are near to what was said, of those that are nearly the same the surest.
func (r *Passive) memories(j *job, like *search.Likeness, least float64) ([]passiveCandidate, error) {
	in, now := r.in.Memories.Search, r.opts.Now()
	sure := func(m *memory.Record) float64 { return memory.ConfidenceAt(&m.MemoryRecord, now) }
	hits, err := in.Alike(j.ctx, search.Alike{
		To: like, Limit: passivePool, Least: float32(least), Public: j.view.Hides(),
		Keep: document.Keep(func(m *memory.Record) bool {
			return usable(m.Status, sure(m)) && m.Holds(now) && !(isEpisode(m.Tier) && m.Source.ConversationID == j.conversation)
		}),
	})
	if err != nil {
		return nil, err
	}
	var list []passiveCandidate
	for _, h := range hits {
		m := document.Memory(h.Doc)
		list = append(list, passiveCandidate{
			found: found{id: m.ID}, episode: isEpisode(m.Tier), confidence: sure(m),
			score: r.score(h.Score, sure(m), m.CreatedAt),
		})
	}
	return diverse(list, in), nil
}

// messages is memories for the messages of other conversations.
func (r *Passive) messages(j *job, like *search.Likeness, least float64) ([]passiveCandidate, error) {
	in := r.in.Messages
	if in.Search == nil {
		return nil, nil
	}
	public := j.view.Hides()
	hits, err := in.Search.Alike(j.ctx, search.Alike{
		To: like, Limit: passivePool, Least: float32(least), Public: public,
		Keep: func(d text.Doc) bool {
			m := r.in.Message(d, public)
			return m.Conversation != j.conversation && m.Role != record.RoleSystem && in.Source.Usual(d)
		},
	})
	if err != nil {
		return nil, err
	}
	var list []passiveCandidate
	for _, h := range hits {
		m := r.in.Message(h.Doc, public)
		list = append(list, passiveCandidate{
			found: found{id: h.Doc.ID(), message: true}, episode: true, confidence: ofMessage,
			score: r.score(h.Score, ofMessage, m.CreatedAt),
		})
	}
	return diverse(list, in.Search), nil
}

// usable reports whether a memory may come by itself.
func usable(status string, confidence float64) bool {
	return status == record.MemoryActive && confidence >= leastConfidence
}

// isEpisode reports whether memories of a tier are of what happened, not of what holds.
func isEpisode(tier string) bool { return tier == record.TierWorking || tier == record.TierHistory }

// score is what orders candidates.
func (r *Passive) score(cosine, confidence float64, at time.Time) float64 {
	age := max(0, r.opts.Now().Sub(at)) // a clock may have been set back
	recency := math.Exp2(-float64(age) / float64(halfLife))
	return bySimilarity*max(0, cosine) + byConfidence*confidence + byRecency*recency
}

// inOrder sorts candidates, the best first.
func inOrder(list []passiveCandidate) {
	slices.SortFunc(list, func(a, b passiveCandidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id))
	})
}

// diverse leaves of the candidates of an index that are nearly the same the one with the highest confidence, of
// equals the best.
func diverse(list []passiveCandidate, in *search.Index) []passiveCandidate {
	inOrder(list)
	ids := make([]string, len(list))
	for i := range list {
		ids[i] = list[i].id
	}
	cosines, ok := in.Between(ids)
	if !ok {
		return list
	}
	gone := make([]bool, len(list))
	for i := range list {
		for k := i + 1; k < len(list) && !gone[i]; k++ {
			if gone[k] || cosines[i][k] < passiveClusterCosine {
				continue
			}
			if list[k].confidence > list[i].confidence {
				gone[i] = true
			} else {
				gone[k] = true
			}
		}
	}
	var left []passiveCandidate
	for i, c := range list {
		if !gone[i] {
			left = append(left, c)
		}
	}
	return left
}

// choose returns the best facts and the best episodes, in the order of their scores.
func choose(list []passiveCandidate) (chosen []found) {
	inOrder(list)
	counts := make(map[bool]int) // by whether they are episodes
	best := make(map[bool]float64)
	for _, c := range list {
		n := counts[c.episode]
		if n == 0 {
			best[c.episode] = c.score
		}
		if n < fewest || n < mostPassive && c.score >= goodPart*best[c.episode] {
			counts[c.episode]++
			chosen = append(chosen, c.found)
		}
	}
	return chosen
}

// shown looks records up as a reader sees them now. What is gone, hidden or not sure any more is left out.
func (r *Passive) shown(v *audience.View, list []found) []Hit {
	ids, hits := make([]string, 0, len(list)), make([]Hit, 0, len(list))
	for _, f := range list {
		if !f.message {
			ids = append(ids, f.id)
		}
	}
	var memories []*record.Memory
	if len(ids) > 0 {
		memories = r.in.Store.Shown(v, ids)
	}
	for _, f := range list {
		if f.message {
			if h, ok := r.message(v, f.id); ok {
				hits = append(hits, h)
			}
			continue
		}
		m := memories[0]
		memories = memories[1:]
		if m != nil && usable(m.Status, m.Confidence) {
			hits = append(hits, Hit{Kind: Memories, ID: m.ID, Memory: m, Text: m.Statement})
		}
	}
	return hits
}

func (r *Passive) message(v *audience.View, name string) (Hit, bool) {
	in := r.in.Messages.Source
	d := in.Get(name)
	if d == nil || !in.Usual(d) {
		return Hit{}, false
	}
	if v.Hides() {
		d = in.Public(d)
	}
	if d == nil {
		return Hit{}, false
	}
	m := r.in.Message(d, v.Hides())
	return Hit{Kind: Messages, ID: m.ID, Message: m, Text: d.Plain()}, true
}

// textKey stands for texts.
type textKey [sha256.Size]byte

func keyOf(texts ...string) textKey {
	h := sha256.New()
	for _, t := range texts {
		fmt.Fprintf(h, "%d\n%s", len(t), t)
	}
	return textKey(h.Sum(nil))
}

// mostVectors is how many vectors are kept: those of the last turn of a conversation are needed again with its next
// one, and both audiences mostly see the same.
const mostVectors = 64

// vectors are those of the texts that were embedded last.
type vectors struct {
	model embed.Model
	known map[textKey][]float32
}

// of returns what texts mean, and has those embedded that are not known.
func (k *vectors) of(ctx context.Context, in *search.Index, texts []string) (*search.Likeness, error) {
	like := &search.Likeness{Model: k.model, Vectors: make([][]float32, len(texts))}
	var missing []string
	var at []int // their places
	for i, t := range texts {
		v, ok := k.known[keyOf(t)]
		like.Vectors[i] = v
		if !ok {
			missing, at = append(missing, t), append(at, i)
		}
	}
	if len(missing) == 0 {
		return like, nil
	}
	fresh, err := in.Likeness(ctx, missing)
	if err != nil {
		return nil, err
	}
	if fresh.Model != k.model && len(missing) < len(texts) {
		*k = vectors{}
		return k.of(ctx, in, texts)
	}
	k.keep(fresh, missing)
	like.Model = fresh.Model
	for i, v := range fresh.Vectors {
		like.Vectors[at[i]] = v
	}
	return like, nil
}

// keep takes in the vectors of texts. Those of the former ones go when they are too many, or of another model.
func (k *vectors) keep(fresh *search.Likeness, texts []string) {
	if fresh.Model != k.model || len(k.known)+len(texts) > mostVectors {
		k.model, k.known = fresh.Model, make(map[textKey][]float32)
	}
	for i, t := range texts {
		k.known[keyOf(t)] = fresh.Vectors[i]
	}
}

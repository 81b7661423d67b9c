package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/memory/document"
	"github.com/ctxd/ctxd/context/outbound"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// Kinds of what is found.
const (
	Memories = "memories"
	Messages = "messages"
	Passages = "passages" // of books
)

// Kinds are all kinds. Usual are those that are searched when a request names none: books, of which one can
// have more passages than a person has memories, are asked for by name.
var (
	Kinds = []string{Memories, Messages, Passages}
	Usual = []string{Memories, Messages}
)

// Orders of the hits.
const (
	ByRelevance = "relevance"
	ByRecency   = "recency"
	ByScore     = "score" // by relevance, without the stages that only change places
)

// Orders are all orders.
var Orders = []string{ByRelevance, ByRecency, ByScore}

// Bounds of a search.
const (
	DefaultLimit = 5
	MaxLimit     = 50
	// pool is how many hits of each kind are ranked at least.
	pool = 60
	// most bounds the product of the factors of a hit, and least it from below.
	most, least = 1.6, 0.5
)

// Index is an index of one kind with the Source that it is of.
type Index struct {
	Search *search.Index
	Source text.Source
}

// Indexes are what is searched; kinds may be absent.
type Indexes struct {
	Memories Index
	Store    *memory.Store // of the memories

	Messages Index
	// Message returns the message that a Doc of Messages is, for a public search as a reader sees it for
	// whom private messages do not exist.
	Message func(d text.Doc, public bool) *Message

	Passages *search.Index
	Books    Library // of the passages
}

// Message is a message as the ranking sees it.
type Message struct {
	ID           string
	Conversation string // its id
	Index        int    // in its conversation; neighbours follow each other
	Role         string // user or assistant
	CreatedAt    time.Time
}

// Options say how hits are ranked. The zero value works.
type Options struct {
	Reranker embed.Reranker // nil: the stage rerank does nothing
	Gate     outbound.Gate  // what texts go through to a Reranker on another machine; nil: none goes there
	// RerankTimeout is how long the reranker is waited for; 0: embed.RerankTimeout.
	RerankTimeout time.Duration
	Now           func() time.Time
}

// Ranker finds memories, messages and passages. It is safe for concurrent use.
type Ranker struct {
	in   Indexes
	opts Options
}

// New returns a Ranker over indexes.
func New(in Indexes, opts Options) *Ranker {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	opts.Reranker = embed.RerankBehind(opts.Reranker, opts.Gate)
	opts.RerankTimeout = cmp.Or(opts.RerankTimeout, embed.RerankTimeout)
	return &Ranker{in, opts}
}

// Request is a search.
type Request struct {
	Query string
	Kinds []string // empty: Usual
	// Memories says which memories are found; its Sort and Pinned are not looked at.
	Memories       memory.Filter
	InConversation string    // that it was said in, or stems from, or whose book it is of; "" for any
	Conversation   string    // the one that asks: its books are found beside those for all
	After, Before  time.Time // when it was written down or said, half-open
	AsOf           time.Time // what held then; zero: now
	AnyValidity    bool      // also what holds no more or not yet
	Limit          int       // 0: DefaultLimit
	Sort           string    // "": ByRelevance
	MinScore       float64
	Diversity      bool            // has the stage diversity on
	Stages         map[string]bool // those that are not as Stages says
	Explain        bool
	Wait           time.Duration // for the vector of the question: see search.Request

	book string // whose passages alone are found, the reader sees it; "": of all books
}

// Result is what was found.
type Result struct {
	Hits       []Hit
	Understood Understood
	Confidence string // high, medium or low
	Reason     string // of it
	// Degraded says why hits may be missing or in another order, "" when nothing is wrong; Stage is the
	// part of the search that it is about: lexical, semantic or a stage of Stages.
	Degraded, Stage string
	Stages          []Applied
	// Refused are the best of the kinds of which nothing is about the question.
	Refused []Refused

	byWords bool // meaning had no part
}

// Refused is the best of a kind of which nothing is about a question; see search.Refusal.
type Refused struct {
	Kind, ID     string
	Score, Floor float64
}

// Understood says how the question was read.
type Understood struct {
	Query    *search.Understanding // words of it
	Unknown  []string              // those that nothing has
	Span     *memory.DaySpan       // what it is about; nil: it does not say
	Recent   bool                  // it asks for what is new
	Entities []string              // ids of those that it names
	Sort     string
}

// Applied says what a stage did.
type Applied struct {
	Name    string
	On      bool
	Skipped string // why it was; "" when it was not
	Changed int    // hits whose score or place it changed
	Took    time.Duration
}

// Hit is one that was found.
type Hit struct {
	Kind    string
	ID      string
	Memory  *record.Memory  // as the reader sees it; nil for another kind
	Message *Message        // nil for another kind
	Passage *record.Passage // as the reader sees it; nil for another kind
	Text    string          // whole
	Holds   string          // when a memory holds that does not hold now, see record.Memory.Validity
	Ranges  [][2]int        // matches in Text: UTF-16, half-open
	Score   float64         // hundredths, 0 to 1
	// OlderThan is the id of the hit that says something else of the same, and was said later.
	OlderThan string
	Relevance float64
	Signals   []Signal // with Explain: what each stage made of it

	added time.Time // when the book of a passage was
}

// Signal is what a stage made of a hit: a factor, or what it adds for support.
type Signal struct {
	Name  string
	Value float64
}

// CreatedAt is when the hit was written down or said.
func (h *Hit) CreatedAt() time.Time {
	switch {
	case h.Message != nil:
		return h.Message.CreatedAt
	case h.Memory != nil:
		return h.Memory.CreatedAt
	}
	return h.added
}

// candidate is a hit while it is ranked.
type candidate struct {
	kind      string
	doc       text.Doc
	m         *memory.Record // as it is found; nil for another kind
	msg       *Message       // nil for another kind
	added     time.Time      // when the book of a passage was
	relevance float64
	support   float64
	factor    float64
	score     float64
	olderThan *candidate
	signals   []Signal
	asked     bool // from the day or the range of days that the question names, and about what it asks
}

func (c *candidate) at() time.Time {
	switch {
	case c.msg != nil:
		return c.msg.CreatedAt
	case c.m != nil:
		return c.m.CreatedAt
	}
	return c.added
}

// multiply applies a factor of a stage. It reports whether that changes anything.
func (c *candidate) multiply(stage string, by float64) bool {
	if by == 1 {
		return false
	}
	c.factor *= by
	c.signals = append(c.signals, Signal{stage, by})
	return true
}

// settle computes the score out of relevance, support and factors.
func (c *candidate) settle() {
	c.score = (c.relevance + c.support) * min(most, max(least, c.factor)) / most
}

// run is one search.
type run struct {
	*Ranker
	ctx  context.Context
	v    *audience.View
	req  Request
	now  time.Time
	read Understood

	query   string // without the words that only bound its days
	bounded bool   // the question has such words

	list      []*candidate // best first once they are sorted
	reached   search.Reach // the best of the kinds
	refused   []Refused
	unread    bool            // the words of a kind were not compared one by one
	vectors   bool            // whether meaning had a part
	toldApart map[string]bool // kinds of which the list by meaning is by what tells its hits apart
	searched  map[string]bool // kinds
	unknown   []string        // words of the question that nothing has
	present   map[string]bool // words that documents have: whether one that is not retracted has it
	nothing   string
	wrong     []failure // for Result.Degraded
	applied   []Applied
	changed   int
}

// failure is a part of a search that did not do its work.
type failure struct{ stage, why string }

// skip is the error of a stage that has nothing to do, or can't.
type skip string

func (s skip) Error() string { return string(s) }

// Search finds what answers a question. v is the View of who asks: nothing that he does not see is found,
// and texts are as he sees them. The error is Invalid for a value that does not exist, Limit for too large
// a limit, or that of a context that has ended.
func (r *Ranker) Search(ctx context.Context, v *audience.View, req Request) (*Result, error) {
	if err := r.check(&req); err != nil {
		return nil, err
	}
	s := &run{Ranker: r, ctx: ctx, v: v, req: req, now: r.opts.Now(), searched: make(map[string]bool), toldApart: make(map[string]bool), present: make(map[string]bool)}
	s.understand()
	if err := s.gather(); err != nil {
		return nil, err
	}
	asNonsense, err := s.withNonsense()
	if err != nil {
		return nil, err
	}
	s.rank()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return s.finish(asNonsense)
}

// check refuses what there is not, and fills in what is absent.
func (r *Ranker) check(req *Request) error {
	req.Limit = cmp.Or(req.Limit, DefaultLimit)
	req.Sort = cmp.Or(req.Sort, ByRelevance)
	switch {
	case strings.TrimSpace(req.Query) == "":
		return fault.Field("query", "query has no words").WithHint("say what is looked for")
	case req.Limit < 1 || req.Limit > MaxLimit:
		return fault.Field("limit", "limit is %d", req.Limit).WithHint("give 1 to %d", MaxLimit)
	case !slices.Contains(Orders, req.Sort):
		return fault.Field("sort", "sort is none of its values").WithHint("give one of %s", strings.Join(Orders, ", "))
	}
	for i, kind := range req.Kinds {
		if !slices.Contains(Kinds, kind) {
			return fault.Field(fmt.Sprintf("kinds[%d]", i), "kinds[%d] is none of its values", i).
				WithHint("give some of %s", strings.Join(Kinds, ", "))
		}
	}
	if err := req.Memories.Check(); err != nil {
		return err
	}
	return checkStages(req.Stages)
}

func checkStages(stages map[string]bool) error {
	for _, name := range slices.Sorted(maps.Keys(stages)) {
		if stageOf(name) == nil {
			var names []string
			for _, s := range Stages {
				names = append(names, s.Name)
			}
			return fault.Field("stages", "there is no stage of that name").WithHint("stages are %s", strings.Join(names, ", "))
		}
	}
	return nil
}

// understand reads the question.
func (s *run) understand() {
	said := memory.ReadTime(s.req.Query, s.now)
	s.bounded = len(said.Bounds) > 0
	s.query = withoutWords(s.req.Query, said.Bounds)
	s.read = Understood{Span: said.Span, Recent: said.Recent, Sort: s.req.Sort, Entities: memory.NamedEntities(s.v, s.req.Query)}
}

// withoutWords returns a question without some folded words, unless it has no others.
func withoutWords(question string, drop []string) string {
	kept := strings.Fields(question)
	kept = slices.DeleteFunc(kept, func(w string) bool { return slices.Contains(drop, entities.Fold(strings.Trim(w, ".,;:?!"))) })
	if len(drop) == 0 || len(kept) == 0 {
		return question
	}
	return strings.Join(kept, " ")
}

// withoutDates returns a question without its dates, unless it has nothing else.
func withoutDates(question string) string {
	var dates []string
	for w := range strings.FieldsSeq(question) {
		w = entities.Fold(strings.Trim(w, ".,;:?!"))
		if month, _ := memory.ParseMonth(w); month > 0 || memory.ParseWeekday(w) > 0 || strings.ContainsAny(w, "0123456789") {
			dates = append(dates, w)
		}
	}
	return withoutWords(question, dates)
}

// has reports whether a kind is searched.
func (s *run) has(kind string) bool {
	if len(s.req.Kinds) == 0 {
		return slices.Contains(Usual, kind)
	}
	return slices.Contains(s.req.Kinds, kind)
}

// gather finds the candidates of each kind.
func (s *run) gather() error {
	if s.has(Memories) && s.in.Memories.Search != nil {
		if err := s.find(Memories, s.in.Memories, s.keepMemory()); err != nil {
			return err
		}
	}
	if s.has(Messages) && s.in.Messages.Search != nil && !s.onlyMemories() {
		if err := s.find(Messages, s.in.Messages, s.keepMessage()); err != nil {
			return err
		}
	}
	if s.has(Passages) && s.in.Passages != nil && !s.onlyMemories() && len(s.req.Memories.Tiers) == 0 {
		return s.find(Passages, Index{Search: s.in.Passages}, s.keepPassage())
	}
	return nil
}

// onlyMemories reports whether the filter asks for what no message and no passage has.
func (s *run) onlyMemories() bool {
	f := s.req.Memories
	return len(f.Tags)+len(f.Kinds)+len(f.Contexts)+len(f.EntityIDs)+len(f.Status) > 0 || !s.req.AsOf.IsZero()
}

// find adds the hits of one kind, with their relevance: the score of the search, which is in proportion
// to its best hit, times how much of the question that has.
func (s *run) find(kind string, in Index, keep func(text.Doc) bool) error {
	return s.findBy(s.query, kind, in, keep)
}

func (s *run) findBy(query, kind string, in Index, keep func(text.Doc) bool) error {
	res, err := in.Search.Search(s.ctx, search.Request{
		Query: query, Mode: search.Hybrid, Plain: true, Limit: max(pool, 3*s.req.Limit),
		Keep: keep, Public: s.v.Hides(), Reach: true, Apart: s.tellsApart(kind), Wait: s.req.Wait,
	})
	if err != nil {
		return err
	}
	if res.Degraded != "" {
		s.wrong = append(s.wrong, failure{res.Stage, res.Degraded})
	}
	meant := res.Mode == search.Hybrid
	s.vectors = s.vectors || meant
	s.toldApart[kind] = res.Apart
	s.reached.Words = max(s.reached.Words, res.Reach.Words)
	s.reached.Known = max(s.reached.Known, res.Reach.Known)
	s.reached.Cosine = max(s.reached.Cosine, res.Reach.Cosine)
	if res.Reach.Read && (!s.reached.Read || res.Reach.Answered > s.reached.Answered) {
		s.reached.Answered, s.reached.Read = res.Reach.Answered, true
	}
	s.unread = s.unread || len(res.Hits) > 0 && !res.Reach.Read
	s.searched[kind] = true
	s.takeWords(res.Understood)
	if err := s.takePresent(kind, in, res.Understood); err != nil {
		return err
	}
	if len(res.Hits) == 0 && s.read.Span != nil {
		if rest := withoutDates(query); rest != query { // the days are told by the times of what is found
			return s.findBy(rest, kind, in, keep)
		}
	}
	if len(res.Hits) == 0 {
		s.nothing = cmp.Or(s.nothing, res.Nothing)
		if no := res.Refused; no != nil {
			id := no.Doc.ID()
			if kind == Messages {
				id = s.in.Message(no.Doc, s.v.Hides()).ID
			}
			s.refused = append(s.refused, Refused{kind, id, no.Score, no.Floor})
		}
		return nil
	}
	level := levelOf(res.Reach, meant) / res.Hits[0].Score
	for _, h := range res.Hits {
		c := &candidate{kind: kind, doc: h.Doc, relevance: min(1, h.Score*level), factor: 1}
		switch kind {
		case Memories:
			c.m = document.Memory(h.Doc)
		case Messages:
			c.msg = s.in.Message(h.Doc, s.v.Hides())
		default:
			c.added = s.in.Books.Added(h.Doc)
		}
		s.list = append(s.list, c)
	}
	return nil
}

// levelOf is the relevance of the best hit of a search: how much of the question its words have or how
// near it is, whichever says more, since each of them alone can show that a hit answers.
func levelOf(r search.Reach, meant bool) float64 {
	if !meant {
		return r.Words
	}
	return max(r.Words, calibrated(r.Cosine))
}

// Cosines of questions with what has nothing to do with them, and with what answers them in nearly the
// same words; see floorCosine of package search.
const (
	farCosine  = 0.05
	nearCosine = 0.8
)

// calibrated brings a cosine between 0 and 1.
func calibrated(cosine float64) float64 {
	return min(1, max(0, (cosine-farCosine)/(nearCosine-farCosine)))
}

// rank applies the stages. A stage that fails is skipped and named.
func (s *run) rank() {
	for _, c := range s.list {
		c.settle()
	}
	s.sort()
	for i := range Stages {
		st := &Stages[i]
		a := Applied{Name: st.Name, On: s.isOn(st)}
		if a.On {
			began := time.Now()
			s.changed = 0
			a.Skipped = s.apply(st)
			a.Changed, a.Took = s.changed, time.Since(began)
		}
		s.applied = append(s.applied, a)
	}
}

// apply applies a stage, and says why it was skipped if it was.
func (s *run) apply(st *Stage) string {
	err := st.apply(s)
	if err == nil {
		return ""
	}
	var idle skip
	if errors.As(err, &idle) {
		return string(idle)
	}
	why := fault.Message(err)
	s.wrong = append(s.wrong, failure{st.Name, "the stage " + st.Name + " was skipped: " + why})
	return why
}

// isOn reports whether a stage is applied: as the call says, else the configuration, else the table.
func (s *run) isOn(st *Stage) bool {
	if st.Name == Diversity && s.req.Diversity {
		return true
	}
	if on, ok := s.req.Stages[st.Name]; ok {
		return on
	}
	return st.On
}

// sort orders the candidates by score; equals by relevance, the latest first, then by id.
func (s *run) sort() {
	slices.SortFunc(s.list, func(a, b *candidate) int {
		if a.asked != b.asked {
			if a.asked {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.relevance, a.relevance),
			b.at().Compare(a.at()), cmp.Compare(a.doc.ID(), b.doc.ID()))
	})
}

// hundredths is a score as clients see it: in hundredths, because products in binary are not exact, and 1 at
// most. The order is that of the scores themselves, in which what has more than enough differs.
func hundredths(score float64) float64 { return math.Round(min(1, score)*100) / 100 }

package llm

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
)

// Budget bounds what is spent. 0 is no bound.
type Budget struct {
	TokensPerDay           int64 // in and out, of what somebody waits for
	BackgroundTokensPerDay int64 // and of what nobody waits for
	RequestsPerMinute      int   // both together
}

// DefaultBudget is what holds unless something else is set.
var DefaultBudget = Budget{BackgroundTokensPerDay: 200_000, RequestsPerMinute: 60}

// Spent is what one model of one provider was given and gave on one day, in tokens.
type Spent struct {
	Day        string // 2006-01-02, in the time zone of this machine
	Provider   string
	Model      string
	Background bool
	Requests   int64
	In, Out    int64
	Estimated  int64 // of In and Out: what the provider did not count
}

// What a ledger keeps at most.
const (
	ledgerDays = 400
	dailyRows  = 100
	otherModel = "other" // of a day that has more
	dayFormat  = time.DateOnly
)

// Ledger counts what is spent, and refuses what is over a budget. It lives as long as the daemon, and
// has its rows kept by others (KeepIn). All methods may be called concurrently.
//
// A call counts for the day on which it began. While it runs its request counts with an
// estimate, so that many calls at a time don't pass the budget together.
type Ledger struct {
	budget Budget
	now    func() time.Time

	keeping sync.Mutex // held by who has rows kept; taken before mu

	mu       sync.Mutex // guards what follows
	rows     map[spentKey]*Spent
	reserved map[reservedKey]int64
	recent   []time.Time // requests of the last minute, the oldest at the front
	keep     func(changed []Spent, oldest string) error
	changed  map[spentKey]bool // rows that are not kept as they are
}

type spentKey struct {
	day, provider, model string
	background           bool
}

type reservedKey struct {
	day        string
	background bool
}

// NewLedger returns an empty ledger. now is time.Now unless given.
func NewLedger(b Budget, now func() time.Time) *Ledger {
	if now == nil {
		now = time.Now
	}
	return &Ledger{budget: b, now: now, rows: map[spentKey]*Spent{}, reserved: map[reservedKey]int64{}, changed: map[spentKey]bool{}}
}

// KeepIn takes over rows that were kept, and gives those that change to keep, after each answer and
// before its caller has it. Of a row that is known already the one with more requests counts: what was
// spent stays spent, also when older rows come back. keep is given rows as they are now, and the first
// day that is still kept; what it fails to keep is given to it again. One call of it runs at a time.
func (l *Ledger) KeepIn(rows []Spent, keep func(changed []Spent, oldest string) error) {
	l.mu.Lock()
	l.keep = keep
	clear(l.changed)
	for key := range l.rows {
		l.changed[key] = true
	}
	for _, r := range rows {
		if r.Day < l.oldest() {
			continue
		}
		r.bound()
		key := r.key()
		have := l.rows[key]
		if have != nil && have.Requests > r.Requests {
			continue
		}
		l.rows[key] = &r
		delete(l.changed, key)
	}
	l.mu.Unlock()
	l.keepChanged()
}

// keepChanged has the rows kept that have changed.
func (l *Ledger) keepChanged() {
	l.keeping.Lock()
	defer l.keeping.Unlock()
	l.mu.Lock()
	keep, oldest := l.keep, l.oldest()
	var rows []Spent
	for key, is := range l.changed {
		if row := l.rows[key]; is && row != nil {
			rows = append(rows, *row)
		}
	}
	if keep != nil {
		clear(l.changed)
	}
	l.mu.Unlock()
	if keep == nil || len(rows) == 0 {
		return
	}
	slices.SortFunc(rows, inOrder)
	if err := keep(rows, oldest); err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		for i := range rows {
			l.changed[rows[i].key()] = true
		}
	}
}

// Spending is what was spent today, and on all days that are known, by provider, model and whether
// somebody waited. The days of the latter are empty.
func (l *Ledger) Spending() (today, total []Spent, since string) {
	l.mu.Lock()
	day := l.now().Format(dayFormat)
	l.mu.Unlock()
	sums := map[spentKey]*Spent{}
	for _, r := range l.Rows() {
		if since == "" {
			since = r.Day
		}
		if r.Day == day {
			today = append(today, r)
		}
		r.Day = ""
		if sum := sums[r.key()]; sum != nil {
			sum.add(r)
		} else {
			sums[r.key()] = &r
		}
	}
	for _, sum := range sums {
		total = append(total, *sum)
	}
	slices.SortFunc(total, inOrder)
	return today, total, since
}

// Rows returns what was spent, by day, provider, model and whether somebody waited.
func (l *Ledger) Rows() []Spent {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]Spent, 0, len(l.rows))
	for _, r := range l.rows {
		out = append(out, *r)
	}
	slices.SortFunc(out, inOrder)
	return out
}

// inOrder sorts by day, provider, model, and what somebody waited for first.
func inOrder(a, b Spent) int {
	return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Model, b.Model),
		cmp.Compare(a.waiting(), b.waiting()))
}

func (s *Spent) waiting() int {
	if s.Background {
		return 1
	}
	return 0
}

func (s *Spent) key() spentKey { return spentKey{s.Day, s.Provider, s.Model, s.Background} }

// mostSpent is where counting ends: clients read no larger number as it is, and no sum of a day overflows.
const mostSpent = 1<<53 - 1

func (s *Spent) add(o Spent) {
	o.bound()
	s.Requests, s.In, s.Out, s.Estimated = s.Requests+o.Requests, s.In+o.In, s.Out+o.Out, s.Estimated+o.Estimated
	s.bound()
}

// bound has figures be ones that can be added.
func (s *Spent) bound() {
	for _, n := range []*int64{&s.Requests, &s.In, &s.Out, &s.Estimated} {
		*n = min(max(0, *n), mostSpent)
	}
}

// Over returns a provider whose requests are counted, and refused over the budget. Nobody is
// not counted.
func (l *Ledger) Over(p Provider) Provider {
	info := p.Info()
	if info.Kind == None {
		return p
	}
	return &counted{Provider: p, name: info.Name, ledger: l}
}

// counted is a provider under a ledger.
type counted struct {
	Provider
	name   string
	ledger *Ledger
}

// Stream asks if the budget allows it. Over it the error is fault.Limit, which passes, and says
// until when it holds; a background step then waits.
func (c *counted) Stream(ctx context.Context, r *Request, emit func(Delta) error) (Answer, error) {
	settle, err := c.ledger.admit(r)
	if err != nil {
		return Answer{Finish: Interrupted}, err
	}
	a, err := c.Provider.Stream(ctx, r, emit)
	settle(c.name, a, err)
	return a, err
}

// UsedUp says until when no answer may be asked for, because the tokens of the day are spent; nil while some are left.
func (l *Ledger) UsedUp() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	return l.over(now, now.Format(dayFormat), false, 0)
}

// admit lets a request through, or says until when it may not pass. settle enters what it cost.
func (l *Ledger) admit(r *Request) (settle func(provider string, a Answer, err error), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if wait := l.full(now); wait != nil {
		return nil, wait
	}
	day := now.Format(dayFormat)
	about := r.Tokens()
	if over := l.over(now, day, r.Background, about); over != nil {
		return nil, over
	}
	l.recent = append(l.recent, now)
	held := reservedKey{day, r.Background}
	l.reserved[held] += about
	return func(provider string, a Answer, err error) {
		defer l.keepChanged()
		l.mu.Lock()
		defer l.mu.Unlock()
		l.reserved[held] -= about
		if l.reserved[held] == 0 {
			delete(l.reserved, held)
		}
		switch {
		case a.NoProvider || err != nil && a.Tries == 0: // it was never sent
			if at := slices.Index(l.recent, now); at >= 0 {
				l.recent = slices.Delete(l.recent, at, at+1)
			}
		default:
			l.enter(spentKey{day, provider, a.Model, r.Background}, a.Usage)
		}
	}, nil
}

// full says until when no request may pass because of those of the last minute. l.mu is held.
func (l *Ledger) full(now time.Time) error {
	for len(l.recent) > 0 && now.Sub(l.recent[0]) >= time.Minute {
		l.recent = l.recent[1:]
	}
	most := l.budget.RequestsPerMinute
	if most == 0 || len(l.recent) < most {
		return nil
	}
	return overBudget(fault.New(fault.Limit, "%d requests were made in the last minute, and %d are allowed", len(l.recent), most),
		l.recent[len(l.recent)-most].Add(time.Minute), "chat.budget.requestsPerMinute")
}

// over says until when no request of a sort may pass because of those of the day. l.mu is held.
func (l *Ledger) over(now time.Time, day string, background bool, about int64) error {
	most, setting := l.budget.TokensPerDay, "chat.budget.tokensPerDay"
	if background {
		most, setting = l.budget.BackgroundTokensPerDay, "chat.budget.backgroundTokensPerDay"
	}
	if most == 0 {
		return nil
	}
	spent := l.reserved[reservedKey{day, background}]
	for key, r := range l.rows {
		if key.day == day && key.background == background {
			spent += r.In + r.Out
		}
	}
	if spent < most && spent+about <= most {
		return nil
	}
	y, m, d := now.Date()
	f := fault.New(fault.Limit, "%d of %d tokens of the day are spent", spent, most)
	if about > 0 {
		f.Msg += fmt.Sprintf(", and this request has about %d", about)
	}
	return overBudget(f, time.Date(y, m, d+1, 0, 0, 0, 0, now.Location()), setting)
}

// overBudget adds until when a budget holds, and which it is.
func overBudget(f *fault.Error, until time.Time, setting string) error {
	f.Msg += "; the next may be made at " + until.Format(time.RFC3339)
	f.Retryable = true
	return f.WithHint("wait until then, or raise %s", setting)
}

// enter adds what an answer cost. l.mu is held.
func (l *Ledger) enter(key spentKey, u Usage) {
	if !namesModel(key.model) { // it is what its server said
		key.model = otherModel
	}
	row := l.row(key)
	cost := Spent{Requests: 1, In: u.In, Out: u.Out}
	if u.Estimated {
		cost.Estimated = u.In + u.Out
	}
	row.add(cost)
	l.changed[row.key()] = true
}

// row returns the row of a key, which is that of other models when the day has many. l.mu is held.
func (l *Ledger) row(key spentKey) *Spent {
	if row := l.rows[key]; row != nil {
		return row
	}
	models, known := 0, false
	for k := range l.rows {
		known = known || k.day == key.day
		if k.day == key.day && k.model != otherModel {
			models++
		}
	}
	if models >= dailyRows && key.model != otherModel {
		key.model = otherModel
		return l.row(key)
	}
	row := &Spent{Day: key.day, Provider: key.provider, Model: key.model, Background: key.background}
	l.rows[key] = row
	if !known {
		l.prune()
	}
	return row
}

// prune forgets the days that are long ago. l.mu is held.
func (l *Ledger) prune() {
	oldest := l.oldest()
	for key := range l.rows {
		if key.day < oldest {
			delete(l.rows, key)
			delete(l.changed, key)
		}
	}
}

// oldest is the first day that is kept.
func (l *Ledger) oldest() string { return l.now().AddDate(0, 0, -ledgerDays).Format(dayFormat) }

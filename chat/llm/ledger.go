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
	ledgerDays = 62
	dailyRows  = 500
	otherModel = "other" // of a day that has more
	dayFormat  = time.DateOnly
)

// Ledger counts what is spent, and refuses what is over a budget. It lives as long as the daemon;
// whoever owns it keeps its rows (Rows, Restore). All methods may be called concurrently.
//
// A call counts for the day on which it began. While it runs its request counts with an
// estimate, so that many calls at a time don't pass the budget together.
type Ledger struct {
	budget Budget
	now    func() time.Time

	mu       sync.Mutex // guards what follows
	rows     map[spentKey]*Spent
	reserved map[reservedKey]int64
	recent   []time.Time // requests of the last minute, the oldest at the front
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
	return &Ledger{budget: b, now: now, rows: map[spentKey]*Spent{}, reserved: map[reservedKey]int64{}}
}

// Restore takes over rows that were kept. Call it before the first request.
func (l *Ledger) Restore(rows []Spent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range rows {
		row := l.row(spentKey{r.Day, r.Provider, r.Model, r.Background})
		row.Requests += r.Requests
		row.In, row.Out, row.Estimated = row.In+r.In, row.Out+r.Out, row.Estimated+r.Estimated
	}
	l.prune()
}

// Rows returns what was spent, by day, provider, model and whether somebody waited.
func (l *Ledger) Rows() []Spent {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]Spent, 0, len(l.rows))
	for _, r := range l.rows {
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b Spent) int {
		return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Model, b.Model),
			cmp.Compare(waiting(a), waiting(b)))
	})
	return out
}

func waiting(s Spent) int {
	if s.Background {
		return 1
	}
	return 0
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
	settle(c.name, a)
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
func (l *Ledger) admit(r *Request) (settle func(provider string, a Answer), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if wait := l.full(now); wait != nil {
		return nil, wait
	}
	day := now.Format(dayFormat)
	about := r.estimate()
	if over := l.over(now, day, r.Background, about); over != nil {
		return nil, over
	}
	l.recent = append(l.recent, now)
	held := reservedKey{day, r.Background}
	l.reserved[held] += about
	return func(provider string, a Answer) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.reserved[held] -= about
		if l.reserved[held] == 0 {
			delete(l.reserved, held)
		}
		if !a.NoProvider {
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
	row := l.row(key)
	row.Requests++
	row.In, row.Out = row.In+u.In, row.Out+u.Out
	if u.Estimated {
		row.Estimated += u.In + u.Out
	}
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
	oldest := l.now().AddDate(0, 0, -ledgerDays).Format(dayFormat)
	for key := range l.rows {
		if key.day < oldest {
			delete(l.rows, key)
		}
	}
}

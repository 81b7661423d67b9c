package rpc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/chat/send"
	"github.com/ctxd/ctxd/fixtures/campaign"
	"github.com/ctxd/ctxd/fixtures/provider"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/servertest"
)

// This file and oracle_*_test.go hold two stores side by side that are alike for a remote reader, and differ in private records: one
// has none, or has them by other names, texts and ids. Records are made, changed, hidden, shown and deleted in both, and
// in between a remote reader asks the same of both (oracle_asks_test.go): whatever is answered has to be the same.

// oracleAsk is something that a remote reader may ask.
type oracleAsk struct {
	name   string
	draw   func(p *servertest.Pair) string // its arguments
	ask    func(r *oracleReader, args string) string
	writes bool
	fixed  bool // its arguments change nothing: it has none, or is refused for a remote reader whatever they are
}

// oracleReader is one of the two stores, and who reads it.
type oracleReader struct {
	*remoteReader
	t       *testing.T
	clock   *oracleClock
	leaks   bool              // it reads as a local reader
	cursors map[string]string // that each ask was given last: in one of another ask may be the number of a memory, which has gaps
	sent    func() []string   // to the model since the last time

	host   *oracleHost
	editor *oracleEditor
}

// oracleClock stands still within a step, so that what one store does more than the other changes no time, nor what is
// made of times. Ids and random bytes are counted in a step, too.
type oracleClock struct {
	step  atomic.Int64
	made  atomic.Int64
	drawn atomic.Int64
	base  bool // ids are those that privateWorld gives
}

const (
	oracleBegin = 1_000_000_000 // of the clock, in seconds of Unix
	oracleStep  = 1000          // seconds
)

func (c *oracleClock) now() time.Time {
	return time.Unix(oracleBegin+c.step.Load()*oracleStep, 0)
}

func (c *oracleClock) to(step int) {
	c.step.Store(int64(step))
	c.made.Store(0)
	c.drawn.Store(0)
}

// Read gives the random bytes of a step.
func (c *oracleClock) Read(b []byte) (int, error) {
	var drawn int64
	if !c.base {
		drawn = c.drawn.Add(1)
	}
	step := c.step.Load()
	return rand.NewChaCha8([32]byte{byte(step), byte(step >> 8), byte(drawn), 1}).Read(b)
}

func (c *oracleClock) newID(prefix string) func() string {
	counted := servertest.CountedIDs(prefix)
	return func() string {
		if c.base {
			return counted()
		}
		return fmt.Sprintf("%s-s%d-%d", prefix, c.step.Load(), c.made.Add(1))
	}
}

// oracleEntry is what happened in both stores at a time.
type oracleEntry struct {
	at   int
	step servertest.PairStep
	ask  *oracleAsk
	args string
}

func (e *oracleEntry) String() string {
	if e.ask != nil {
		return fmt.Sprintf("%d: asked %s %s", e.at, e.ask.name, e.args)
	}
	var b strings.Builder
	for store, calls := range e.step {
		for _, c := range calls {
			if store == 1 && slices.Contains(e.step[0], c) {
				continue
			}
			fmt.Fprintf(&b, "%d: in store %d %s %s\n", e.at, store+1, c.Method, c.Params)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// oracleStores opens both stores with what they have from the beginning.
func oracleStores(t *testing.T, absent, leaks bool) (both [2]*oracleReader) {
	t.Helper()
	words := [2]secrets{secrets(servertest.PairNames[0]), secrets(servertest.PairNames[1])}
	for store := range both {
		records := slices.Concat(publicRecords(true)[:1], privateRecords(true), publicRecords(true)[1:], ambiguousRecords)
		if absent {
			records, words[1] = publicRecords(false), words[0]
			if store == 0 {
				records = slices.Concat(records, privateRecords(false))
			}
		}
		both[store] = oracleStore(t, words[store], leaks, records)
	}
	return both
}

func oracleStore(t *testing.T, s secrets, leaks bool, records []string) *oracleReader {
	clock := &oracleClock{base: true}
	heard := &outgoing{}
	srv := provider.Start(func(r *provider.Request, to *provider.Reply) {
		heard.hear("", r.Body)
		if last := r.Messages[len(r.Messages)-1]; last.Role == "user" && strings.Contains(fmt.Sprint(last.Content), "hive") && len(r.Tools) > 0 {
			to.Call("search_notes", `{"query":"scales"}`)
			return
		}
		to.Text("The scales said so.")
	})
	t.Cleanup(srv.Close)
	set, err := llm.NewSet(llm.SetOptions{Default: "far", Providers: []llm.Options{{Name: "far", Kind: llm.OpenAI, Base: srv.URL, Model: "m", Key: "none"}}})
	must(t, err)
	t.Cleanup(set.Close)
	d := worldOn(t, s, roomsOptions{Now: clock.now, NewID: clock.newID, Random: clock}, rpc.Options{Providers: set}, records...)
	clock.base = false
	r := &oracleReader{t: t, clock: clock, leaks: leaks, cursors: make(map[string]string), sent: heard.take, remoteReader: &remoteReader{d.connectAs(leaks), d}}
	return r
}

// connectAs connects a remote reader; or, for a test of the test, a local one.
func (d *daemon) connectAs(local bool) *peer {
	p := (&bench{t: d.t, path: d.path}).dial()
	audience := map[bool]string{true: "local", false: "remote"}[local]
	p.call("hello", "initialize", `{"clientInfo":{"name":"oracle"},"audience":"`+audience+`"}`)
	p.wantResult(`"hello"`, "")
	return p
}

// do does what a local reader does in a step, and reports whether all of it was taken. Records that a remote reader has
// deleted stay so.
func (r *oracleReader) do(calls []servertest.PairCall) (taken bool) {
	taken = true
	for _, c := range calls {
		taken = r.daemon.Call(context.Background(), c.Method, json.RawMessage(c.Params), nil) == nil && taken
	}
	return taken
}

// oracleBoth does something with both stores at once.
func oracleBoth(both [2]*oracleReader, do func(store int, r *oracleReader)) {
	var wg sync.WaitGroup
	for store, r := range both {
		wg.Go(func() { do(store, r) })
	}
	wg.Wait()
	if t := both[0].t; t.Failed() { // a goroutine that ends the test ends itself only
		t.FailNow()
	}
}

// differ asks both stores, and returns the answers where they are not the same.
func (a *oracleAsk) differ(both [2]*oracleReader, args string) (answers [2]string, same bool) {
	oracleBoth(both, func(store int, r *oracleReader) {
		r.sent()
		answer := a.ask(r, strings.ReplaceAll(args, servertest.PairCursor, r.cursors[a.name]))
		if a.writes {
			answer += strings.Join(r.sent(), "\n")
		}
		if strings.Contains(answer, "ursor") {
			if m := nextCursor.FindStringSubmatch(answer); m != nil {
				r.cursors[a.name] = m[1] + m[2]
			}
		}
		answers[store] = answer
	})
	return answers, oracleAlike(answers[0], answers[1])
}

// oracleLate says in an answer that its search took too long, as one may on a busy machine.
var oracleLate = "took longer than " + send.GatherTimeout.String()

// oracleAlike reports whether two answers are the same but for what may differ. Only the parts of them that differ are
// normalised, which costs more than the answers do.
func oracleAlike(a, b string) bool {
	if strings.Contains(a, oracleLate) != strings.Contains(b, oracleLate) {
		return true // they can't be compared
	}
	left, right := strings.Split(a, ","), strings.Split(b, ",")
	alike := len(left) == len(right)
	for i := 0; alike && i < len(left); i++ {
		alike = left[i] == right[i] || oracleNormal(left[i]) == oracleNormal(right[i])
	}
	return alike || oracleNormal(a) == oracleNormal(b)
}

// nextCursor is where an answer goes on: it holds the name of a record.
var nextCursor = regexp.MustCompile(`\\?"nextCursor\\?":\\?"([^"\\]+)|again with cursor ([\w-]+)`)

// oracleVaries are what an answer may differ in: durations, figures of the process and its memory, numbers of commits, gaps in the
// numbers of memories, the ends of handles, which are random, and the marks of records in a prompt.
var oracleVaries = regexp.MustCompile(`"(?:ms|firstMs|us|micros|uptimeMs|seq|pid|freeBytes|totalBytes|journalBytes|snapshotSeq|rssBytes|heapBytes|goroutines|maxUs|p50Us|p99Us|bytesIn|bytesOut|number|hash)":(?:"[^"]*"|[0-9.]+)` +
	`|"(?:connections|methods)":\[[^\]]*\]|"(?:timings|stageMs)":\{[^}]*\}|"cached(?:Program|Result)":(?:true|false)|#\d+| b=\\+"[\w-]+\\+"|<records? [^>]*>` +
	`|\bclaim_\d+|127\.0\.0\.1:\d+|"why":"(?:no embedder is configured|what the last turns find is not there yet[^"]*)"`)

var (
	oracleTimes   = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`)
	contextHex    = regexp.MustCompile(`_[0-9a-f]{4}_context\b`) // of a handle that another context has
	oracleEndings = regexp.MustCompile(`_[0-9a-z]{4,8}\b`)
)

// oracleNormal is an answer without what may differ. Of a time is left in which step it was.
func oracleNormal(answer string) string {
	answer = oracleVaries.ReplaceAllString(answer, "")
	answer = nextCursor.ReplaceAllString(answer, `nextCursor`)
	answer = oracleTimes.ReplaceAllStringFunc(answer, func(s string) string {
		at, err := time.Parse(time.RFC3339Nano, s)
		step := (at.Unix() - oracleBegin) / oracleStep
		if err != nil || step > 100_000 {
			return "now"
		}
		return "step " + strconv.FormatInt(step, 10)
	})
	answer = contextHex.ReplaceAllString(answer, "_context")
	return oracleEndings.ReplaceAllString(answer, "_")
}

// oracleCanaries begin words that stand in private records alone. Those that a reader has said come back.
var oracleCanaries = []string{"zqcanary", "xvfinch", "zqhidden", "xvcloak"}

// oracleFinding is what the oracle has found.
type oracleFinding struct {
	ask      string
	differs  bool // the answers do; otherwise something private stands in one
	text     string
	happened []oracleEntry
}

// oracle asks one set of things.
type oracle struct {
	asks     []*oracleAsk
	leaks    bool
	calls    map[string]int
	refused  map[string]int // of the calls, those that were answered with an error
	kinds    map[string]int
	steps    int
	findings []oracleFinding
	found    map[string]bool // asks of which something is found
}

func newOracle(asks []*oracleAsk, leaks bool) *oracle {
	return &oracle{asks: asks, leaks: leaks, calls: map[string]int{}, refused: map[string]int{}, kinds: map[string]int{}, found: map[string]bool{}}
}

// oracleShrunk is of how many findings what happened before is shrunk, and oracleShown how much of it is shown.
const (
	oracleShrunk = 3
	oracleShown  = 60
)

// oracleChapter is how many questions are asked of the same two stores.
const oracleChapter = 800

// oracleBatch draws how many changes come before a question: most find the stores as the one before did.
func oracleBatch(p *servertest.Pair) int {
	if !p.Chance(8) {
		return 0
	}
	return 1 + p.Below(4)
}

// chapter asks the questions of a deck of two new stores, with changes between them.
func (o *oracle) chapter(t *testing.T, seed uint64, deck []*oracleAsk) {
	absent := seed%2 == 0
	pair := servertest.NewPair(seed, absent)
	for _, k := range oracleKnown(absent) {
		pair.Knows(k.kind, k.id, k.name, k.secret)
	}
	var history []oracleEntry
	t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { // whose daemons end with it
		both := oracleStores(t, absent, o.leaks)
		said := ""
		at := 1
		for _, step := range pair.Begin() {
			history = append(history, oracleEntry{at: at, step: step})
			oracleApply(both, &history[len(history)-1])
			at++
		}
		for _, a := range deck {
			for range oracleBatch(pair) {
				history = append(history, oracleEntry{at: at, step: pair.Change()})
				if taken := oracleApply(both, &history[len(history)-1]); !taken[0] {
					pair.Refused()
				}
				at++
				o.steps++
			}
			args := strings.ReplaceAll(a.draw(pair), "Zqcanarylone", "Nobody") // a public note is called so: who guesses it is answered
			history = append(history, oracleEntry{at: at, ask: a, args: args})
			for _, r := range both {
				r.clock.to(at)
			}
			at++
			answers, same := a.differ(both, args)
			o.calls[a.name]++
			if oracleRefused(answers[0]) {
				o.refused[a.name]++
			}
			said += strings.ToLower(args)
			var text string
			switch found := oracleTold(answers, said); {
			case !same:
				text = oracleDifference(answers)
			case found != "":
				text = fmt.Sprintf("%s stands in %.3000s", found, answers[0])
			default:
				continue
			}
			if !o.found[a.name] {
				o.found[a.name] = true
				o.findings = append(o.findings, oracleFinding{a.name, !same, fmt.Sprintf("seed %d, absent %v: %s %s\n%s", seed, absent, a.name, args, text), slices.Clone(history)})
			}
			if a.writes { // they are no longer alike
				break
			}
		}
	})
	for kind, n := range pair.Kinds() {
		o.kinds[kind] += n
	}
}

// oracleApply does what an entry says, and reports which stores took it.
func oracleApply(both [2]*oracleReader, e *oracleEntry) (taken [2]bool) {
	oracleBoth(both, func(store int, r *oracleReader) {
		r.clock.to(e.at)
		taken[store] = r.do(e.step[store])
	})
	if e.ask != nil {
		e.ask.differ(both, e.args)
	}
	return taken
}

// oracleRefused reports whether an answer is an error.
func oracleRefused(answer string) bool {
	return strings.HasPrefix(strings.TrimPrefix(answer, `{"jsonrpc":"2.0","id":"x",`), `"error":{`) || strings.Contains(answer, `"isError":true`)
}

// oracleTold returns a word of an answer that stands in private records alone and that nobody has said.
func oracleTold(answers [2]string, said string) string {
	for _, answer := range answers {
		answer = strings.ToLower(answer)
		for _, begin := range oracleCanaries {
			_, rest, more := strings.Cut(answer, begin)
			for ; more; _, rest, more = strings.Cut(rest, begin) {
				word := begin + rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789_abcdefghijklmnopqrstuvwxyz"))]
				if !strings.Contains(said, word) {
					return word
				}
			}
		}
	}
	return ""
}

// oracleDifference shows where two answers differ first.
func oracleDifference(answers [2]string) string {
	answers[0], answers[1] = oracleNormal(answers[0]), oracleNormal(answers[1])
	at := 0
	for at < min(len(answers[0]), len(answers[1])) && answers[0][at] == answers[1][at] {
		at++
	}
	from := max(0, at-150)
	return fmt.Sprintf("store 1: …%.450s\nstore 2: …%.450s", answers[0][from:], answers[1][from:])
}

// shrink returns the part of what happened that is needed for a finding, tried a few times.
func (o *oracle) shrink(t *testing.T, f *oracleFinding) []oracleEntry {
	entries := f.happened
	absent := strings.Contains(f.text, "absent true")
	last := entries[len(entries)-1]
	entries = entries[:len(entries)-1]
	tries := 40
	fails := func(some []oracleEntry) (still bool) {
		tries--
		t.Run("shrink", func(t *testing.T) {
			both := oracleStores(t, absent, o.leaks)
			for i := range some {
				if e := &some[i]; !oracleApply(both, e)[0] && e.names() {
					return // what refers to it would be compared
				}
			}
			for _, r := range both {
				r.clock.to(last.at)
			}
			answers, same := last.ask.differ(both, last.args)
			still = !same || !f.differs && oracleTold(answers, strings.ToLower(last.args)) != ""
		})
		return still
	}
	writing := slices.DeleteFunc(slices.Clone(entries), func(e oracleEntry) bool { return e.ask != nil && !e.ask.writes })
	if !fails(writing) {
		return append(entries, last)
	}
	entries = writing
	for size := len(entries) / 2; size > 0 && tries > 0; size /= 2 {
		for from := 0; from < len(entries) && tries > 0; {
			to := min(len(entries), from+size)
			kept := slices.DeleteFunc(slices.Clone(entries[from:to]), func(e oracleEntry) bool { return !e.names() })
			less := slices.Concat(entries[:from], kept, entries[to:])
			if len(less) < len(entries) && fails(less) {
				entries = less
				from += len(kept)
			} else {
				from += size
			}
		}
	}
	return append(entries, last)
}

// names reports whether a record gets a name that only one store has: what refers to it is compared while it is there.
func (e *oracleEntry) names() bool {
	return e.ask == nil && len(e.step[0]) > 0 && oracleNaming.MatchString(e.step[0][0].Params)
}

var oracleNaming = regexp.MustCompile(`"(?:title|name|statement|words)":\[?"(?:Zq|zq)(canary\d+)`)

// report fails the test for what was found, and logs the figures.
func (o *oracle) report(t *testing.T) {
	t.Helper()
	var calls, refused, fixed int
	for _, a := range o.asks {
		calls += o.calls[a.name]
		refused += o.refused[a.name]
		if a.fixed {
			fixed += o.calls[a.name]
		}
	}
	t.Logf("%d calls of %d (%d of what has no arguments that matter; %d refused), %d changes between them; records by kind: %v; %d forms of links", calls, len(o.calls), fixed, refused, o.steps, o.kinds, servertest.NewPair(0, false).Forms())
	for _, a := range o.asks {
		if n := o.calls[a.name]; n >= 20 && o.refused[a.name] == n {
			t.Logf("%s is always refused", a.name)
		}
	}
	for i, f := range o.findings {
		happened := f.happened // as much of it as is needed
		if i < oracleShrunk {
			happened = o.shrink(t, &f)
		}
		var b strings.Builder
		for j := max(0, len(happened)-oracleShown); j < len(happened); j++ {
			if !happened[j].names() || strings.Contains(fmt.Sprint(happened[max(0, len(happened)-4):], f.text), oracleNaming.FindStringSubmatch(happened[j].step[0][0].Params)[1]) {
				fmt.Fprintf(&b, "\n%.2500s", happened[j].String())
			}
		}
		t.Errorf("%s\nafter%s", f.text, b.String())
	}
}

// run asks each thing so many times, in an order by chance; what has no arguments that matter a tenth of it, of other states of
// the stores.
func (o *oracle) run(t *testing.T, seed uint64, each int) {
	rng := rand.New(rand.NewPCG(seed, 1))
	var deck []*oracleAsk
	for _, a := range o.asks {
		n := each
		if a.fixed {
			n = (each + 9) / 10
		}
		deck = append(deck, slices.Repeat([]*oracleAsk{a}, n)...)
	}
	rng.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
	for some := range slices.Chunk(deck, oracleChapter) {
		o.chapter(t, seed, some)
		seed++
	}
}

// oracleEach is how often each thing is asked.
func oracleEach() int {
	if !campaign.Runs() {
		return 1
	}
	return campaign.Figure(500, 4000)
}

// oracleSeed is another one in each full campaign.
func oracleSeed() uint64 { return campaign.Figure(uint64(1), rand.Uint64()>>32) }

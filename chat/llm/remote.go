package llm

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ctxd/ctxd/context/outbound"
	"github.com/ctxd/ctxd/entities/fault"
)

// maxStream bounds what is read of an answer in bytes, with all that is no text.
const maxStream = 64 << 20

// protocol is how a kind of provider is spoken to.
type protocol interface {
	// encode writes a request as JSON, but for what is left out.
	encode(r *Request, model string, without leftOut) ([]byte, error)
	// authorize puts the key, if there is one, and what else is needed into a header.
	authorize(h http.Header, key string)
	// event reads the data of an event, or a whole reply. Errors are *outbound.Refusal and those
	// of the collector.
	event(data []byte, c *collector) error
}

// remote is a provider that is asked over HTTP.
type remote struct {
	words    outbound.Service
	o        Options
	at       *outbound.Address
	protocol protocol
	client   *http.Client
	time     Timing
	keyring  atomic.Pointer[error] // what the keyring said last; nil: it was not asked yet
	without  leftOut               // as it is set
	learned  learned
	told     facts
}

// Info says who is asked.
func (p *remote) Info() Info {
	return Info{
		Name: p.o.Name, Kind: p.o.Kind, Base: p.o.Base, Model: p.o.Model, Local: p.o.Local && p.at.Local,
	}
}

// Close ends the connections that are idle.
func (p *remote) Close() { p.client.CloseIdleConnections() }

// Why a stream is ended from within.
var (
	errFirstByte = errors.New("no first byte")
	errIdle      = errors.New("no next byte")
	errTotal     = errors.New("too long in all")
)

// Stream asks, and again when that may help and nothing was passed on yet; see [Provider].
func (p *remote) Stream(ctx context.Context, r *Request, emit func(Delta) error) (Answer, error) {
	if err := ctx.Err(); err != nil {
		return Answer{Finish: Cancelled}, err
	}
	if err := r.check(); err != nil {
		return Answer{Finish: Interrupted}, err
	}
	key, err := p.key()
	if err != nil {
		return nobody(fault.Message(err)+".", hintOf(err), emit)
	}
	model := r.Model
	if model == "" {
		model = p.o.Model
	}
	without := p.without | p.learned.of(model)
	body, err := p.request(ctx, r, model, key, without)
	if err != nil {
		return Answer{Finish: Interrupted}, err
	}
	var dropped leftOut // that was learned by this request
	work, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer p.time.AfterFunc(totalTimeout, func() { cancel(errTotal) })()
	for try, sent := 1, 1; ; sent++ {
		c := p.collector(emit, key)
		c.tries, c.tools = sent, r.Tools
		err := p.attempt(work, body, key, model, c)
		if err == nil {
			p.learned.add(model, dropped)
			a := c.answer(r, model, c.finish)
			a.LeftOut = dropped.names()
			return a, nil
		}
		var refusal *outbound.Refusal
		again := errors.As(err, &refusal) && !c.emitted && work.Err() == nil
		if !again {
		} else if out := (without | dropped).refused(r, p.o.Kind, refusal); out != 0 {
			dropped |= out
			if body, err = p.request(work, r, model, key, without|dropped); err == nil {
				continue
			}
		} else if refusal.Passing && try < tries && (!r.NoRetry || !waits(refusal)) {
			pause := p.time.pause(try, refusal.After)
			if err = p.waits(refusal, pause, emit); err == nil {
				err = p.time.Sleep(work, pause)
			}
			if err == nil {
				body, err = p.request(work, r, model, key, without|dropped)
			}
			if err == nil {
				try++
				continue
			}
		}
		finish := Interrupted
		var left emitError
		if ctx.Err() != nil || errors.As(err, &left) {
			finish = Cancelled
		}
		return c.answer(r, model, finish), p.failed(ctx, work, err)
	}
}

// waits tells a caller that the server is busy, and how long it is waited.
func (p *remote) waits(refusal *outbound.Refusal, pause time.Duration, emit func(Delta) error) error {
	if !waits(refusal) {
		return nil
	}
	if err := emit(Delta{Waits: pause}); err != nil {
		return emitError{err}
	}
	return nil
}

// waits reports whether a refusal is that a server is busy.
func waits(r *outbound.Refusal) bool {
	return r.Status == http.StatusTooManyRequests || r.Status == http.StatusServiceUnavailable || r.Status == statusOverloaded
}

// statusOverloaded is that of Anthropic's API.
const statusOverloaded = 529

func (p *remote) collector(emit func(Delta) error, key string) *collector {
	c := &collector{emit: emit, key: key}
	if p.o.Kind == OpenAI {
		c.tagged = &thoughts{}
	}
	return c
}

// look looks for the key, and says why the provider can't be asked without asking it.
func (p *remote) look() (keyPresent bool, err error) {
	key, err := p.key()
	if err == nil {
		err = p.checked("any", key)
	}
	return key != "", err
}

// ready is look at once.
func (p *remote) ready() error {
	if !strings.HasPrefix(p.o.Key, outbound.KeyKeyring) {
		_, err := p.look()
		return err
	}
	if said := p.keyring.Load(); said != nil {
		return *said
	}
	return nil
}

// key returns the key, "" for none. It is read for each call, so that a new one counts at
// once and none is kept. The error is that of one that is wanted and not there.
func (p *remote) key() (string, error) {
	setting := p.words.Setting + ".key"
	key, err := outbound.LoadKey(p.o.Key, setting)
	if strings.HasPrefix(p.o.Key, outbound.KeyKeyring) {
		p.keyring.Store(&err)
	}
	switch {
	case err != nil:
		return "", err
	case key == "" && p.o.Base == defaultBases[p.o.Kind]: // it would be refused
		return "", fault.New(fault.Unavailable, "%s says nowhere where the key is", setting).
			WithHint("set %s to env:%s, or to file:PATH or keyring:NAME", setting, variables[p.o.Kind])
	}
	return key, nil
}

// request encodes a request and checks that it and the key may be sent.
func (p *remote) request(ctx context.Context, r *Request, model, key string, without leftOut) ([]byte, error) {
	if strings.TrimSpace(model) == "" {
		return nil, fault.Field("model", "no model is named").WithHint("set chat.model, or %s.model", p.words.Setting)
	}
	if err := p.checked(model, key); err != nil {
		return nil, err
	}
	if r.Fresh != nil {
		if err := r.Fresh(ctx, r); err != nil {
			return nil, err
		}
	}
	return p.protocol.encode(r, model, without)
}

// checked says whether a key may be sent, and what is wrong with the name of a model.
func (p *remote) checked(model, key string) error {
	_, err := p.words.Resolve(outbound.Target{URL: p.o.Base, Model: model, Key: key, AllowRemote: true})
	var f *fault.Error
	if errors.As(err, &f) && f.Field != "model" { // it is the fault of a setting, not of the caller
		return fault.New(fault.Unavailable, "the provider %s can't be asked: %s", p.o.Name, f.Msg).WithHint("%s", f.Hint)
	}
	return err
}

// attempt asks once. The connection is closed when it returns before the end of the answer.
func (p *remote) attempt(ctx context.Context, body []byte, key, model string, c *collector) error {
	one, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	wait := firstByteTimeout
	if p.at.Local {
		wait = firstByteOnThisMachine
	}
	arrived := p.time.AfterFunc(wait, func() { cancel(errFirstByte) })
	defer arrived()
	req, err := p.at.NewRequest(one, body, "text/event-stream")
	if err != nil {
		return err
	}
	p.protocol.authorize(req.Header, key)
	res, err := p.client.Do(req)
	if err != nil {
		return p.unreached(one, err)
	}
	defer func() { _ = res.Body.Close() }() // what was read is all that counts
	if res.StatusCode != http.StatusOK {
		return p.complaint(res, model)
	}
	if coding := res.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return outbound.NewRefusal("sent a compressed answer, which it was not asked for").
			WithHint("look for a proxy before its server")
	}
	watched := &watchedBody{from: res.Body, arrived: arrived, watch: func() func() bool {
		return p.time.AfterFunc(idleTimeout, func() { cancel(errIdle) })
	}}
	err = p.read(watched, c)
	var refusal *outbound.Refusal
	var left emitError
	if err == nil || errors.As(err, &refusal) || errors.As(err, &left) {
		return errors.Join(c.flushed(err), err)
	}
	return errors.Join(c.flushed(err), p.unreached(one, err))
}

// flushed passes on what was held back, unless it was the caller who ended the answer.
func (c *collector) flushed(err error) error {
	var left emitError
	if errors.As(err, &left) {
		return nil
	}
	return c.flush()
}

// watchedBody bounds a body in bytes, and in the time in which nothing comes.
type watchedBody struct {
	from    io.Reader
	arrived func() bool        // stops the watch for the first byte
	watch   func() func() bool // starts one for the next, and returns what stops it
	begun   bool
	size    int
}

// Read reads. No watch runs while nobody waits for a byte: a caller may be slow.
func (b *watchedBody) Read(to []byte) (int, error) {
	stop := b.arrived
	if b.begun {
		stop = b.watch()
	}
	n, err := b.from.Read(to)
	stop()
	b.begun = b.begun || n > 0
	b.size += n
	if b.size > maxStream {
		return n, outbound.NewRefusal("sent more than %d MiB", maxStream>>20)
	}
	return n, err
}

// read reads an answer: a stream of events, or a whole reply of a server that does not stream.
// What the header says it is does not count.
func (p *remote) read(body io.Reader, c *collector) error {
	from := bufio.NewReaderSize(body, 16<<10)
	first, err := firstOf(from)
	switch {
	case errors.Is(err, io.EOF):
		r := outbound.NewRefusal("sent nothing")
		r.Passing = true
		return r
	case err != nil:
		return err
	case first == '<':
		return outbound.NewRefusal("answered with a page and no answer").
			WithHint("correct %s.base", p.words.Setting)
	case first == '{':
		reply, err := outbound.ReadBody(from, maxAnswer)
		if err != nil {
			return err
		}
		if err := p.protocol.event(reply, c); err != nil {
			return err
		}
		c.done = c.emitted // it is whole, whether it says how it ended or not
		return c.ended()
	}
	events := newEvents(from)
	for !c.done {
		data, err := events.next()
		switch {
		case errors.Is(err, io.EOF):
			return c.ended()
		case errors.Is(err, errLongEvent):
			return outbound.NewRefusal("sent a line of more than %d MiB", maxEvent>>20)
		case err != nil:
			return err
		}
		if err := p.protocol.event(data, c); err != nil {
			return err
		}
	}
	return c.ended()
}

// firstOf passes over blanks and a byte order mark and returns the byte that comes next.
func firstOf(from *bufio.Reader) (byte, error) {
	mark, err := from.Peek(3)
	if err == nil && bytes.Equal(mark, []byte("\xEF\xBB\xBF")) {
		_, _ = from.Discard(3) // it is buffered
	}
	for {
		b, err := from.ReadByte()
		if err != nil {
			return 0, err
		}
		if b != ' ' && b != '\t' && b != '\r' && b != '\n' {
			return b, from.UnreadByte()
		}
	}
}

// ended says whether an answer is whole when nothing of it comes any more.
func (c *collector) ended() error {
	if c.finish != "" {
		return nil
	}
	if c.done {
		c.finish = Stop
		return nil
	}
	r := outbound.NewRefusal("broke off its answer")
	r.Passing = true
	return r.WithHint("look into the log of its server")
}

// unreached is why no whole answer came: a *outbound.Refusal, or the error of ctx.
func (p *remote) unreached(ctx context.Context, err error) error {
	var op *net.OpError
	var r *outbound.Refusal
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errFirstByte):
		wait := firstByteTimeout
		if p.at.Local {
			wait = firstByteOnThisMachine
		}
		return late(true, "gave no answer within %s", wait).WithHint("look whether its model is too large for its machine")
	case errors.Is(cause, errIdle):
		return late(false, "stopped in its answer for %s", idleTimeout).WithHint("try again")
	case cause != nil:
		return cause
	case errors.As(err, &op) && op.Op == "dial" && op.Timeout():
		return late(true, "took no connection within %s", connectTimeout).
			WithHint("look whether this machine is online, or correct %s.base", p.words.Setting)
	}
	failed := p.words.Unreached(ctx, err, connectTimeout)
	if errors.As(failed, &r) && r.Passing {
		r.Fault.Retryable = true
	}
	return failed
}

// late is the refusal of a provider that took too long.
func late(passing bool, format string, args ...any) *outbound.Refusal {
	return &outbound.Refusal{Fault: fault.New(fault.Deadline, format, args...), Passing: passing}
}

// repeated are the statuses after which a request is repeated.
var repeated = []int{408, 429, 500, 502, 503, 504, 529}

// complaint is the refusal in a reply that is no success.
func (p *remote) complaint(res *http.Response, model string) *outbound.Refusal {
	r := p.words.Complaint(res, model, longestAsked)
	r.Passing = slices.Contains(repeated, r.Status) && r.Passing
	r.After = nil
	if r.Passing {
		r.After = outbound.RetryAfter(res.Header.Get("Retry-After"), p.time.Now(), longestAsked)
	}
	switch {
	case r.Status == http.StatusUnauthorized || r.Status == http.StatusForbidden:
		return r.WithHint("it refuses the key: correct what %s.key leads to", p.words.Setting)
	case r.Long:
		return tooLong(r)
	case !r.Known && r.Status == http.StatusTooManyRequests:
		return r.WithHint("wait, or raise the limits of the account")
	}
	return r
}

// tooLong is the refusal of what is too long for the model.
func tooLong(r *outbound.Refusal) *outbound.Refusal {
	r.Long, r.Fault.Kind = true, fault.Limit
	return r.WithHint("shorten what is asked, or set maxContext of the conversation to what the model takes")
}

// failed is the error of a call for its caller.
func (p *remote) failed(ctx, work context.Context, err error) error {
	var left emitError
	var refusal *outbound.Refusal
	var known *fault.Error
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &left):
		return left.error
	case errors.Is(context.Cause(work), errTotal):
		f := p.about(late(false, "took longer than %s in all", totalTimeout).WithHint("ask for a shorter answer"))
		f.Retryable = true
		return f
	case errors.As(err, &refusal):
		return p.about(refusal)
	case errors.As(err, &known): // why a request is not sent any more, see Request.Fresh
		return known
	}
	return fault.Wrap(fault.Internal, err, "cannot ask the provider %s", p.o.Name)
}

// ErrContent is the cause of the error of a provider that may have refused what it was asked, not who asked: with
// something left out it may answer.
var ErrContent = errors.New("the reason may be what was asked")

// about is the fault of a refusal, with the name of the provider.
func (p *remote) about(r *outbound.Refusal) *fault.Error {
	f := fault.New(r.Fault.Kind, "the provider %s (%s) %s", p.o.Name, p.at.Host, r.Fault.Msg)
	f.Hint, f.Err = cmp.Or(r.Fault.Hint, "look into the log of its server"), r.Fault.Err
	if f.Err == nil && r.Texts {
		f.Err = ErrContent
	}
	f.Retryable = r.Passing || r.Fault.Kind == fault.Deadline
	return f
}

func hintOf(err error) string {
	var f *fault.Error
	if errors.As(err, &f) {
		return f.Hint
	}
	return ""
}

// newRemote returns a provider of options that were checked.
func newRemote(o Options, at *outbound.Address, proto protocol) *remote {
	p := &remote{o: o, at: at, protocol: proto, time: o.Time.orSystem(), words: service(o)}
	p.without, _ = leavesOut(o.LeaveOut) // it was checked
	// As many as there are conversations at a time; a server that hangs blocks no other call.
	p.client, _ = outbound.NewClient(outbound.ClientOptions{Remote: at.Remote(true), Socket: at.Socket, Idle: 4, Connect: connectTimeout})
	return p
}

// service is what errors say of a provider.
func service(o Options) outbound.Service {
	return outbound.Service{
		Noun: "provider", Setting: fmt.Sprintf("chat.providers.%s", o.Name), Path: paths[o.Kind], Example: "llama3.2",
		Pull: ", as before ollama pull", Start: "it has no such service", Outside: "base to another address", Base: "base",
	}
}

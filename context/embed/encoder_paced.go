package embed

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
)

// PacedEncoder is the built-in encoder for a daemon: it is made ready when it is first asked, and reads texts that nobody
// waits for on a part of the processors, behind all else that runs on them. It is safe for concurrent use.
type PacedEncoder struct {
	model Model
	share func() float64
	ready atomic.Bool
}

// The parts of the processors that reading texts in the background may take.
const (
	shareOnMains   = 0.5
	shareOnBattery = 0.25
)

// OpenEncoder gives the built-in encoder. share is the part of the processors for texts that nobody waits for, up to 1; 0:
// half of them, a quarter on battery. It fails with fault.Unavailable where the processor has no instructions for it, at once.
func OpenEncoder(share float64) (*PacedEncoder, error) {
	if len(kernelsHere()) == 0 {
		return nil, noKernels()
	}
	model, err := encoderModel(builtinEncoder)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "the built-in encoder is damaged").WithHint("install ctxd again")
	}
	p := &PacedEncoder{model: model, share: func() float64 { return share }}
	if share <= 0 {
		p.share = shareByPower()
	}
	return p, nil
}

// shareByPower asks once a minute what feeds the machine.
func shareByPower() func() float64 {
	var mu sync.Mutex
	var asked time.Time
	battery := false
	return func() float64 {
		mu.Lock()
		defer mu.Unlock()
		if now := time.Now(); asked.IsZero() || now.Sub(asked) > time.Minute {
			asked, battery = now, onBattery()
		}
		if battery {
			return shareOnBattery
		}
		return shareOnMains
	}
}

// encoder makes it ready.
func (p *PacedEncoder) encoder() (*Encoder, error) {
	e, err := BuiltinEncoder()
	p.ready.Store(err == nil)
	return e, err
}

// Model is that of the encoder, which is not made ready for it. It does not fail.
func (p *PacedEncoder) Model(context.Context) (Model, error) { return p.model, nil }

// Status says that the encoder is idle until it is ready.
func (p *PacedEncoder) Status() Status {
	m := p.model
	s := Status{Kind: KindBuiltin, State: Idle, Model: &m, Device: "cpu, " + kernelsHere()[0].name}
	if p.ready.Load() {
		s.State = Ready
	}
	return s
}

// Close does nothing: the model belongs to the program.
func (p *PacedEncoder) Close() error { return nil }

// Embed is that of the encoder.
func (p *PacedEncoder) Embed(ctx context.Context, purpose Purpose, texts []string) (Model, [][]float32, error) {
	e, err := p.encoder()
	if err != nil {
		return Model{}, nil, err
	}
	return e.Embed(ctx, purpose, texts)
}

// EmbedQuestion is that of the encoder, at once.
func (p *PacedEncoder) EmbedQuestion(ctx context.Context, text string) (Model, QuestionTokens, error) {
	e, err := p.encoder()
	if err != nil {
		return Model{}, QuestionTokens{}, err
	}
	return e.EmbedQuestion(ctx, text)
}

// EmbedTokens is that of the encoder, by as many threads of the lowest class as the share has processors. With less than one
// it rests afterwards.
func (p *PacedEncoder) EmbedTokens(ctx context.Context, texts []string) (Model, []Tokens, error) {
	e, err := p.encoder()
	if err != nil {
		return Model{}, nil, err
	}
	processors := p.share() * float64(runtime.GOMAXPROCS(0))
	began := time.Now()
	out := make([]Tokens, len(texts))
	var next atomic.Int64
	var failed atomic.Pointer[error]
	all := new(sync.WaitGroup)
	for range min(max(1, int(processors)), len(texts)) {
		all.Go(func() {
			runtime.LockOSThread() // it ends with the goroutine, and its class with it
			lowestClass()
			for i := int(next.Add(1)) - 1; i < len(texts) && failed.Load() == nil; i = int(next.Add(1)) - 1 {
				_, tokens, err := e.EmbedTokens(ctx, texts[i:i+1])
				if err != nil {
					failed.Store(&err)
					return
				}
				out[i] = tokens[0]
			}
		})
	}
	done := make(chan struct{})
	go func() {
		all.Wait()
		close(done)
	}()
	select {
	case <-ctx.Done(): // the threads may not get a processor for long, and end by themselves
		return Model{}, nil, ctx.Err()
	case <-done:
	}
	if err := failed.Load(); err != nil {
		return Model{}, nil, *err
	}
	if processors < 1 {
		rest(ctx, time.Duration(float64(time.Since(began))*(1/processors-1)))
	}
	return p.model, out, nil
}

// rest waits, no longer than ctx.
func rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

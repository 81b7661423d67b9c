package outbound

import (
	"context"
	"errors"
	"strings"
)

// Gate returns a text as a reader on another machine may see it: names of private records are masked. What is sent to an
// embedder or a reranker that is not on this machine goes through one, questions as well as documents (PRIV-11). It may be
// called concurrently.
type Gate func(text string) string

type (
	keptKey  struct{}
	askedKey struct{}
	staleKey struct{}
)

// Asking returns a context of a call that asks text, as it was written. On its way to a search the marks of names are taken
// off it, by which a Gate knows them: where it names something private, the text as it was passes the Gate in its place. ""
// for a question of another origin.
func Asking(ctx context.Context, text string) context.Context {
	return context.WithValue(ctx, askedKey{}, text)
}

// Asked returns what the call of a context asks, "" for nothing: what is kept of an answer to a Question depends on it.
func Asked(ctx context.Context) string {
	asked, _ := ctx.Value(askedKey{}).(string)
	return asked
}

// Question returns a question as it may leave this machine; ok is false where it may not.
func (g Gate) Question(ctx context.Context, text string) (out string, ok bool) {
	if g == nil || isKept(ctx) {
		return "", false
	}
	if asked := Asked(ctx); asked != "" {
		if shown := g(asked); shown != asked {
			return strings.ToValidUTF8(shown[:min(len(shown), maxAsked)], ""), true
		}
	}
	return g(text), true
}

// Questions is Question for several.
func (g Gate) Questions(ctx context.Context, texts []string) (out []string, ok bool) {
	out = make([]string, len(texts))
	for i, t := range texts {
		if out[i], ok = g.Question(ctx, t); !ok {
			return nil, false
		}
	}
	return out, true
}

// maxAsked bounds the text that passes in the place of a question, in bytes.
const maxAsked = 16 << 10

// KeepHere returns a context by which nothing is asked of another machine: what is asked is private as a whole.
func KeepHere(ctx context.Context) context.Context { return context.WithValue(ctx, keptKey{}, true) }

func isKept(ctx context.Context) bool { kept, _ := ctx.Value(keptKey{}).(bool); return kept }

// Pass returns texts as they may leave this machine; ok is false where none may. Without a Gate none may.
func (g Gate) Pass(ctx context.Context, texts []string) (out []string, ok bool) {
	if g == nil || isKept(ctx) {
		return nil, false
	}
	out = make([]string, len(texts))
	for i, t := range texts {
		out[i] = g(t)
	}
	return out, true
}

// ErrStale is in the error of what is not posted for the reason of Unless: it is no fault of the server.
var ErrStale = errors.New("what was to be sent has changed, or is private by now")

// Unless returns a context by which nothing is posted once what was read for it is not what may leave this machine now: it
// is sent long after, by a retry or when a budget allows it. stale is asked right before each request, after those that ctx
// has already.
func Unless(ctx context.Context, stale func(ctx context.Context) (bool, error)) context.Context {
	if before := staleOf(ctx); before != nil {
		last := stale
		stale = func(ctx context.Context) (bool, error) {
			if is, err := before(ctx); is || err != nil {
				return is, err
			}
			return last(ctx)
		}
	}
	return context.WithValue(ctx, staleKey{}, stale)
}

func staleOf(ctx context.Context) func(ctx context.Context) (bool, error) {
	stale, _ := ctx.Value(staleKey{}).(func(ctx context.Context) (bool, error))
	return stale
}

// checkStale returns why nothing is to be posted, nil where it may be.
func checkStale(ctx context.Context) error {
	stale := staleOf(ctx)
	if stale == nil {
		return nil
	}
	is, err := stale(ctx)
	if is && err == nil {
		r := NewRefusal("was not asked: what it was to be told has changed, or is private by now")
		r.Fault.Err = ErrStale
		return r
	}
	return err
}

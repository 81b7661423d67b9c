package outbound

import "context"

// Gate returns a text as a reader on another machine may see it: names of private records are masked. What is sent to an
// embedder or a reranker that is not on this machine goes through one, questions as well as documents (PRIV-11). It may be
// called concurrently.
type Gate func(text string) string

type (
	keptKey  struct{}
	askedKey struct{}
)

// Asking returns a context of a call that asks text, as it was written. On its way to a search the marks of names are taken
// off it, by which a Gate knows them: so the text as it was passes in its place. "" for a question of another origin, which
// passes as it is.
func Asking(ctx context.Context, text string) context.Context {
	return context.WithValue(ctx, askedKey{}, text)
}

// Question returns a question as it may leave this machine; ok is false where it may not.
func (g Gate) Question(ctx context.Context, text string) (out string, ok bool) {
	if asked, _ := ctx.Value(askedKey{}).(string); asked != "" {
		text = asked
	}
	list, ok := g.Pass(ctx, []string{text})
	if !ok {
		return "", false
	}
	return list[0], true
}

// KeepHere returns a context by which nothing is asked of another machine: what is asked is private as a whole.
func KeepHere(ctx context.Context) context.Context { return context.WithValue(ctx, keptKey{}, true) }

// IsKept reports whether ctx is of KeepHere.
func IsKept(ctx context.Context) bool { kept, _ := ctx.Value(keptKey{}).(bool); return kept }

// Pass returns texts as they may leave this machine; ok is false where none may. Without a Gate none may.
func (g Gate) Pass(ctx context.Context, texts []string) (out []string, ok bool) {
	if g == nil || IsKept(ctx) {
		return nil, false
	}
	out = make([]string, len(texts))
	for i, t := range texts {
		out[i] = g(t)
	}
	return out, true
}

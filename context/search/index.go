package search

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/outbound"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/context/search/vectors"
	"github.com/ctxd/ctxd/context/search/words"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

// Options say how an index is kept. The zero value works.
type Options struct {
	// Dir is where the index is kept between starts: a folder of its own, made
	// when absent. Empty: nowhere, and every start makes the index anew.
	Dir string
	// Literal turns the stemming of English words off.
	Literal bool
	// Logger gets what nobody waits for, without any content; nil discards.
	Logger *slog.Logger
	// Read is called when what is on disk is read, or is not to be had; nil: nobody
	// waits for it.
	Read func()
	// AtOnce is up to how many bytes of texts an index is made before Open
	// returns; 0: 4 MiB, less: none.
	AtOnce int64
	// Embedder gives the vectors by which documents are found by their meaning; nil:
	// they are found by their words alone. It stays the caller's, and is to be
	// closed after the store.
	Embedder embed.Embedder
	// Gate is what texts go through to an Embedder on another machine; nil: none goes there.
	Gate outbound.Gate
	// Scheduler is shared by the indexes that the Embedder serves; nil: there is one.
	Scheduler *vectors.Scheduler
	// Words gives the vectors of words, with which a hybrid search ranks what it has found; nil: it does not. It stays the
	// caller's as Embedder does.
	Words embed.TokenEmbedder
	// WordScheduler is shared by the indexes that Words serves; nil: there is one.
	WordScheduler *vectors.Scheduler
	// Weights say what words and meaning count in a hybrid search; zero:
	// DefaultWeights.
	Weights Weights
	// Fusion says how a hybrid search makes one list of two; "": ByScore.
	Fusion Fusion

	// Now is the clock, in the zone in whose calendar queries mean their dates; nil: time.Now.
	Now func() time.Time

	// Synonyms says what means the same as words of a query, by one of them; public: as others
	// may know. The words of a query count more than what it gives. nil: nothing does.
	Synonyms func(words []string, public bool) map[string][]Synonym

	// Ahead is the file in Dir, if it is read already; nil: Open reads it.
	Ahead *Ahead
}

// Synonym is a word that means the same as one of a query.
type Synonym = words.Synonym

// Ahead is the file of an index that is read before there are documents to compare it with.
type Ahead = words.Ahead

// ReadAhead begins to read the index of words in a folder, for Options.Ahead. It
// needs no store: read it beside the opening of the store. O(size of the file), in
// the background.
func ReadAhead(dir string) *Ahead { return words.ReadAhead(dir) }

// Index finds the documents of a Source by their words and by what they mean. Open makes
// one. It is safe for concurrent use.
type Index struct {
	src     text.Source
	opts    Options
	words   *words.Index
	vectors *vectors.Index // nil without an embedder
	tokens  *vectors.Index // the vectors of words; nil without
}

// Open makes the index of the documents of a Source and keeps it current. It must be
// opened after them: their part in a commit comes first. An index that is
// not on disk, or not of this state of the store, is made in the background: a
// search meanwhile finds what is in it, and says so.
func Open(db *kv.Store, src text.Source, opts Options) *Index {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Weights == (Weights{}) {
		opts.Weights = DefaultWeights
	}
	x := &Index{src: src, opts: opts}
	read := func() {
		if opts.Read != nil {
			opts.Read()
		}
	}
	public := func(d text.Doc) (text.Doc, bool) { return x.words.Public(d) } // nobody searches before it is open
	if opts.Embedder != nil {
		x.vectors = vectors.Open(db, src, vectors.Options{
			Dir: opts.Dir, Embedder: embed.Behind(opts.Embedder, opts.Gate), Scheduler: opts.Scheduler, Logger: opts.Logger, Public: public,
		})
	}
	if opts.Words != nil {
		x.tokens = vectors.Open(db, src, vectors.Options{
			Dir: opts.Dir, Embedder: opts.Words, Scheduler: opts.WordScheduler, Logger: opts.Logger, Public: public,
		})
	}
	if opts.Words == nil && opts.Embedder != nil { // else vectors are not kept either, and a start compares them
		vectors.RemoveTokens(opts.Dir, opts.Logger) // they would not follow what is deleted
	}
	told := read
	read = func() {
		told()
		for _, v := range []*vectors.Index{x.vectors, x.tokens} {
			if v != nil {
				v.Begin()
			}
		}
	}
	x.words = words.Open(db, src,
		words.Options{
			Dir: opts.Dir, Literal: opts.Literal, Logger: opts.Logger, Read: read, AtOnce: opts.AtOnce,
			Ahead: opts.Ahead,
		})
	return x
}

// Source is the Source of the index, whose Public reads no text of a document that the index of words has. It calls the
// index: it is not for who holds a lock that a commit takes.
func (x *Index) Source() text.Source { return sharing{x.src, x.words} }

type sharing struct {
	text.Source
	words *words.Index
}

func (s sharing) Public(d text.Doc) text.Doc {
	if public, known := s.words.Public(d); known {
		return public
	}
	return s.Source.Public(d)
}

// ReindexWords makes the index of words anew; see words.Index.Reindex.
func (x *Index) ReindexWords(ctx context.Context, progress func(done, total int)) error {
	return x.words.Reindex(ctx, progress)
}

// ReindexVectors makes the vectors of all documents anew; see vectors.Index.Reindex. Those of words follow in the background.
func (x *Index) ReindexVectors(ctx context.Context, progress func(done, total int)) error {
	if x.vectors == nil {
		return fault.New(fault.Unavailable, "no embedder is configured").WithHint("set embedder in the configuration")
	}
	err := x.vectors.Reindex(ctx, progress)
	if err == nil && x.tokens != nil {
		x.tokens.ReindexLater()
	}
	return err
}

// OnProgress has tell called as vectors come to be: with the stage embed, or model
// for those of another model, or tokens for the vectors of words, and how many of the documents have them. It is called
// often, by one goroutine, and must not wait.
func (x *Index) OnProgress(tell func(stage string, done, total int)) {
	for _, v := range []*vectors.Index{x.vectors, x.tokens} {
		if v != nil {
			v.OnProgress(tell)
		}
	}
}

// CheckVectors compares the vectors with their file and with the documents, and has
// made anew what is not right. It returns the ids of those documents.
func (x *Index) CheckVectors(ctx context.Context) ([]string, error) {
	var wrong []string
	for _, v := range []*vectors.Index{x.vectors, x.tokens} {
		if v == nil {
			continue
		}
		ids, err := v.Check(ctx)
		if err != nil {
			return nil, err
		}
		wrong = append(wrong, ids...)
	}
	slices.Sort(wrong)
	return slices.Compact(wrong), nil
}

// Stats are what an Index holds, and what it waits for.
type Stats struct {
	Words    words.Stats
	Meanings vectors.Stats
	Tokens   *vectors.Stats // of the vectors of words; nil without them
	Encoder  embed.Status   // of what makes them
	Weights  Weights
}

// Stats returns the present figures. O(documents).
func (x *Index) Stats() (s Stats) {
	s.Weights, s.Words = x.opts.Weights, x.words.Stats()
	if x.vectors != nil {
		s.Meanings = x.vectors.Stats()
	}
	if x.tokens != nil {
		tokens := x.tokens.Stats()
		s.Tokens, s.Encoder = &tokens, x.tokens.Embedder()
	}
	return s
}

// Size is how many documents are in the index of words, and how many are not yet.
func (x *Index) Size() (docs, waiting int) { return x.words.Size() }

// Anew is why the file of the words was of no use at the start, "" when it was used
// or when there was none.
func (x *Index) Anew() string { return x.words.Anew() }

// Waiting is how many documents wait for their vectors.
func (x *Index) Waiting() int {
	if x.vectors == nil {
		return 0
	}
	return x.vectors.Waiting()
}

// State is how a document can be found.
type State string

// The values of State.
const (
	ByWords   State = "words"   // by its words: its vectors are to come, or it can have none
	ByMeaning State = "meaning" // by both
	Failed    State = "failed"  // by its words: the embedder refused it
)

// State says how a document can be found. O(1).
func (x *Index) State(id string) State {
	if x.vectors == nil {
		return ByWords
	}
	found, refused := x.vectors.State(id)
	switch {
	case refused:
		return Failed
	case found:
		return ByMeaning
	}
	return ByWords
}

// Embedder is how the embedder is; ok tells whether there is one.
func (x *Index) Embedder() (status embed.Status, ok bool) {
	if x.vectors == nil {
		return status, false
	}
	return x.vectors.Embedder(), true
}

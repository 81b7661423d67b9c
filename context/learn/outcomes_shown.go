package learn

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

// Bounds of what is kept.
const (
	maxConversationHits    = 50   // results of a conversation
	maxScoredConversations = 1000 // the last ones
)

// Kinds of what is shown, as memory.search calls them.
const (
	HitMemories = "memories"
	HitMessages = "messages"
)

// OutcomeHit is something that was shown.
type OutcomeHit struct {
	Kind string `json:"kind"`
	ID   string `json:"id"`
	In   string `json:"in,omitempty"` // of a message: its conversation
}

// showing is what was shown in a conversation last. Nobody changes one after it was made.
type showing struct {
	At        time.Time    `json:"at"`
	MessageID string       `json:"messageId,omitempty"` // the answer that they were shown for
	Hits      []OutcomeHit `json:"hits"`                // by their positions, from 1
	Scored    bool         `json:"scored,omitempty"`
}

var (
	showings = kv.NewCollection[showing]("learn-shown").Local() // of readers of this machine, by reader and conversation
	answers  = kv.NewCollection[answer]("learn-answer")         // by conversation and message
)

// shownKey parts what remote readers were shown from what local ones were: a remote one is told nothing of it.
func shownKey(reader audience.Reader, conversationID string) string {
	return string(reader) + "/" + conversationID
}

// last returns what a reader knows to be shown last in a conversation, nil for nothing. Hold mu.
func (r *Scorer) last(v *audience.View, conversationID string) (key string, s *showing) {
	key = shownKey(audience.Remote, conversationID)
	s = r.shown[key]
	if v.Hides() {
		return key, s
	}
	own := shownKey(audience.Local, conversationID)
	if mine := r.shown[own]; mine != nil && (s == nil || !mine.At.Before(s.At)) {
		return own, mine
	}
	return key, s
}

// Show notes what a reader was shown in a conversation, in its order, for an answer if messageID is not empty. It replaces
// what was shown there before. It does nothing where nothing was shown.
func (r *Scorer) Show(v *audience.View, conversationID, messageID string, hits []OutcomeHit) {
	if r.opts.Off || conversationID == "" || len(hits) == 0 {
		return
	}
	made := &showing{At: r.now(), MessageID: messageID, Hits: slices.Clone(hits[:min(len(hits), maxConversationHits)])}
	key := shownKey(v.Reader(), conversationID)
	r.mu.Lock()
	r.shown[key] = made
	r.dirty[key] = true
	r.trim()
	begin := !r.flushing
	r.flushing = true
	r.mu.Unlock()
	if begin {
		go r.flush()
	}
}

// trim has no more conversations than may be, and takes a tenth more so that it is rarely done. Hold mu.
func (r *Scorer) trim() {
	if len(r.shown) <= r.maxConversations {
		return
	}
	ids := make([]string, 0, len(r.shown))
	for id := range r.shown {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(r.shown[a].At.Compare(r.shown[b].At), cmp.Compare(a, b))
	})
	for _, id := range ids[:len(ids)-r.maxConversations*9/10] {
		delete(r.shown, id)
		r.dirty[id] = true
	}
}

// flush writes what has changed until nothing more has. What cannot be written is written with what comes next.
func (r *Scorer) flush() {
	for r.Flush(context.Background()) {
	}
}

// Flush writes what was shown and is not written yet, and reports whether there may be more. A store that is to be closed
// may be flushed once more before.
func (r *Scorer) Flush(ctx context.Context) (more bool) {
	r.scoring.Lock()
	defer r.scoring.Unlock()
	r.mu.Lock()
	keys, gone := r.dirty, r.gone
	r.dirty, r.gone = make(map[string]bool), make(map[string]bool)
	r.mu.Unlock()
	err := r.write(ctx, keys, gone)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		maps.Copy(r.dirty, keys)
		maps.Copy(r.gone, gone)
	}
	more = err == nil && len(r.dirty)+len(r.gone) > 0
	r.flushing = more
	return more
}

func (r *Scorer) write(ctx context.Context, keys, gone map[string]bool) error {
	if len(keys)+len(gone) == 0 {
		return nil
	}
	return r.db.Update(ctx, func(tx *kv.Tx) error {
		for id := range gone {
			if err := dropAnswers(tx, id); err != nil {
				return err
			}
		}
		for key := range keys {
			r.mu.Lock()
			s := r.shown[key]
			r.mu.Unlock()
			var err error
			if s == nil {
				err = showings.Delete(tx, key)
			} else {
				err = putShowing(tx, key, s)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// putShowing writes what was shown, without memories that were deleted meanwhile.
func putShowing(tx *kv.Tx, key string, s *showing) error {
	gone := make(map[string]bool)
	for _, h := range s.Hits {
		if h.Kind != HitMemories || h.ID == "" {
			continue
		}
		has, err := memory.Records.Has(tx, h.ID)
		if err != nil {
			return err
		}
		gone[h.ID] = !has
	}
	return showings.Put(tx, key, s.without(gone))
}

// there reports whether there is a conversation.
func (r *Scorer) there(tx *kv.Tx, conversationID string) (bool, error) {
	if r.opts.There == nil {
		return true, nil
	}
	return r.opts.There(tx, conversationID)
}

// related returns what of a showing is meant: by positions or ids, none for those that were cited, and all where none was.
func related(s *showing, given, cited []string) ([]OutcomeHit, error) {
	if len(given) == 0 {
		var list []OutcomeHit
		for _, h := range s.Hits {
			if slices.Contains(cited, h.ID) {
				list = append(list, h)
			}
		}
		if len(list) == 0 {
			list = s.Hits
		}
		return list, nil
	}
	var list []OutcomeHit
	for i, ref := range given {
		at := slices.IndexFunc(s.Hits, func(h OutcomeHit) bool { return h.ID == ref })
		if n, err := strconv.Atoi(ref); at < 0 && err == nil {
			at = n - 1
		}
		if at < 0 || at >= len(s.Hits) || s.Hits[at].ID == "" {
			return nil, notShown("related["+strconv.Itoa(i)+"]", ref)
		}
		if !slices.Contains(list, s.Hits[at]) {
			list = append(list, s.Hits[at])
		}
	}
	return list, nil
}

func notShown(field, ref string) error {
	return fault.Field(field, "%q is none of the last results of the conversation", ref).
		WithHint("give positions from 1, or ids, of the last memory.search or context.assemble with this conversationId")
}

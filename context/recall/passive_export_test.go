package recall

import "time"

// Score is the score of a record of an age.
func Score(cosine, confidence float64, age time.Duration) float64 {
	now := time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)
	r := &Passive{opts: PassiveOptions{Now: func() time.Time { return now }}}
	return r.score(cosine, confidence, now.Add(-age))
}

// Scored is a fact or an episode with its score.
type Scored struct {
	ID      string
	Episode bool
	Score   float64
}

// Choose returns the ids of those that are kept.
func Choose(list []Scored) (ids []string) {
	var all []passiveCandidate
	for _, s := range list {
		all = append(all, passiveCandidate{found: found{id: s.ID}, episode: s.Episode, score: s.Score})
	}
	for _, f := range choose(all) {
		ids = append(ids, f.id)
	}
	return ids
}

// Kept is how many conversations have a buffer for a local and for a remote reader.
func (r *Passive) Kept() (local, remote int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.local.kept), len(r.remote.kept)
}

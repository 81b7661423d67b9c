package embed

import "time"

// Tokens gives the tokens of a text, for comparison with the reference.
func (s *Static) Tokens(text string) []int32 {
	ids, _ := s.vocab.appendTokens([]int32{}, nil, text)
	return ids
}

// Waiting is how many calls wait for a runner.
func Waiting(r *Runner, p Purpose) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.queues[p])
}

// Tripped says whether the breaker of a runner is open.
func Tripped(r *Runner) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state == Failed && r.failures >= tripAfter
}

// CoolDown lets the time of peace of a runner pass.
func CoolDown(r *Runner) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.retryAt = time.Time{}
}

package embed

import (
	"time"
)

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

// ParseVectors reads an answer to request 1 for two vectors of four values.
func ParseVectors(body []byte) ([][]float32, error) { return parseVectors(body, 1, 4, 2, checkVector) }

// ParseRequest reads a request.
func ParseRequest(body []byte) (id uint64, texts []string, err error) { return parseRequest(body) }

// AppendRequest writes the body of a request.
func AppendRequest(id uint64, texts []string) []byte {
	return appendRequest(nil, frameEmbed, id, texts)[frameHead:]
}

// AppendVectors writes the body of an answer.
func AppendVectors(id uint64, dims int, v [][]float32) []byte {
	return appendVectors(nil, frameVectors, id, dims, v)[frameHead:]
}

// ParseScores reads an answer to request 1 for two scores.
func ParseScores(body []byte) ([][]float32, error) { return parseVectors(body, 1, 1, 2, checkScore) }

// Underneath is what runs the child of a reranker.
func Underneath(r *RerankRunner) *Runner { return r.runner }

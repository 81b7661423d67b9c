package library

import (
	"errors"
	"fmt"

	"github.com/ebitengine/purego"
)

// Ranker gives the function that scores a text against a question with the model that
// was loaded last: github.com/kelindar/search has none. One call may run at a time. It
// fails with a library that is not built from native/shim.cpp of today.
func Ranker() (func(query, text string) (float32, error), error) {
	address, err := symbol("ctxd_rank")
	if err != nil {
		return nil, errors.New("the native library can't rerank: build it anew by task runner")
	}
	var rank func(query, text string, out *float32) int32
	purego.RegisterFunc(&rank, address)
	return func(query, text string) (float32, error) {
		var score float32
		if code := rank(query, text, &score); code != 0 {
			return 0, fmt.Errorf("the model gave no score (code %d)", code)
		}
		return score, nil
	}, nil
}

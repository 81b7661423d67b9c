package main

import (
	"encoding/json"
	"hash/fnv"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// searchCommands are the commands of scripts about searching by meaning.
var searchCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"endpoint": serveEmbeddings,
	"reranker": serveScores,
	"table":    copyTable,
}

// copyTable is "table FILE": it writes a small table of vectors, of 16 dimensions,
// to a file.
func copyTable(ts *testscript.TestScript, _ bool, args []string) {
	data, err := os.ReadFile(filepath.Join("..", "..", "context", "embed", "testdata", "unigram.bin"))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o600))
}

// serveEmbeddings is "endpoint VARIABLE DIMS [KEY]": it serves embeddings as
// OpenAI's API does, and sets a variable to its URL. A text is near another when
// they have words in common.
func serveEmbeddings(ts *testscript.TestScript, _ bool, args []string) {
	dims, err := strconv.Atoi(args[1])
	ts.Check(err)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(args) > 2 && r.Header.Get("Authorization") != "Bearer "+args[2] {
			http.Error(w, "wrong key", http.StatusUnauthorized)
			return
		}
		var asked struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			http.Error(w, "no JSON", http.StatusBadRequest)
			return
		}
		data := make([]any, len(asked.Input))
		for i, text := range asked.Input {
			data[i] = map[string]any{"object": "embedding", "index": i, "embedding": bagOfWords(text, dims)}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data, "model": "bag"}) // a caller that left is no fault
	}))
	ts.Defer(server.Close)
	ts.Setenv(args[0], server.URL)
}

// serveScores is "reranker VARIABLE KEY": it serves scores as llama-server does with a
// BERT, and sets a variable to its URL. A text scores by the words that it has in common
// with the question.
func serveScores(ts *testscript.TestScript, _ bool, args []string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+args[1] {
			http.Error(w, "wrong key", http.StatusUnauthorized)
			return
		}
		var asked struct {
			Query     string
			Documents []string
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || r.URL.Path != "/v1/rerank" {
			http.Error(w, "no request for scores", http.StatusBadRequest)
			return
		}
		results := make([]any, len(asked.Documents))
		for i, text := range asked.Documents {
			score := -3
			for word := range strings.FieldsSeq(strings.ToLower(text)) {
				if strings.Contains(strings.ToLower(asked.Query), word) {
					score++
				}
			}
			results[i] = map[string]any{"index": i, "relevance_score": score}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"results": results}) // a caller that left is no fault
	}))
	ts.Defer(server.Close)
	ts.Setenv(args[0], server.URL)
}

func bagOfWords(text string, dims int) []float32 {
	v := make([]float32, dims)
	v[0] = 0.1 // also of a text without words
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		h := fnv.New32a()
		_, _ = h.Write([]byte(strings.Trim(word, `.,:;?!"'`)))
		v[int(h.Sum32())&0x7fffffff%dims]++
	}
	return v
}

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/rogpeppe/go-internal/testscript"
)

// chatCommands are the commands of scripts about conversations.
var chatCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"provider": startProvider, "hears": providerHears, "models": serveModels,
}

// serveModels is "models VARIABLE KEY MODEL…": it serves a list of models as Ollama does, and sets a variable to
// its URL.
func serveModels(ts *testscript.TestScript, _ bool, args []string) {
	server := httptest.NewServer(listsModels(args[1], args[2:]...))
	ts.Defer(server.Close)
	ts.Setenv(args[0], server.URL)
}

// listsModels lists models to who has a key, and quotes the key that it was given in all that it says.
func listsModels(key string, models ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given := r.Header.Get("Authorization")
		w.Header().Set("Echo", given)
		if given != "Bearer "+key {
			http.Error(w, "wrong key: "+given, http.StatusUnauthorized)
			return
		}
		list := fmt.Sprintf(`{"id":%q}`, key)
		for _, m := range models {
			list += fmt.Sprintf(`,{"id":%q}`, m)
		}
		fmt.Fprintf(w, `{"object":"list","data":[%s]}`, list)
	})
}

package protocol

import (
	"slices"
	"strings"
)

// Group is a part of the table of methods for a reader: what an app needs first comes first.
type Group struct {
	Name, About string
	spaces      []string // namespaces
	names       []string // methods of other groups' namespaces
}

// Groups are all groups. Every method is in one.
var Groups = []Group{
	{"Core", "what every app needs: notes, entities, queries, the prompt", []string{"initialize", "shutdown", "notes", "tags", "types", "entities", "wql", "graph", "context", "refs", "vault", "events"}, nil},
	{"Memory", "what is remembered of a person, and what was learned from use", []string{"memory", "synonyms", "concepts", "contexts", "books"}, nil},
	{"Chat", "conversations, and the models that answer in them", []string{"chat", "intent", "personality", "tools"}, nil},
	{"Editors", "what a language server asks", nil, []string{"vault.planRename", "vault.checkNote"}},
	{"Administration", "the daemon, its store and what is private in it", []string{"privacy", "sync", "admin", "rpc", "search"}, nil},
}

// Methods returns the methods of the group, in the order of the documentation.
func (g *Group) Methods() (list []*Method) {
	for i := range Methods {
		m := &Methods[i]
		space, _, _ := strings.Cut(m.Name, ".")
		if slices.Contains(g.names, m.Name) || slices.Contains(g.spaces, space) && !isElsewhere(m.Name) {
			list = append(list, m)
		}
	}
	return list
}

// isElsewhere reports whether a group has a method by its name.
func isElsewhere(method string) bool {
	return slices.ContainsFunc(Groups, func(g Group) bool { return slices.Contains(g.names, method) })
}

// Call is one call of FirstCalls.
type Call struct{ Method, Params, When string }

// FirstCalls are the fifteen methods that a note app needs, in the order in which it meets them. They work in that order
// on an empty store, with a folder in the place of /home/me/Notes that has a note Kickoff of an entity Alice.
var FirstCalls = []Call{
	{"initialize", `{"clientInfo":{"name":"my-app","version":"1.0"},"protocolVersion":"` + Version + `"}`, "the app connects"},
	{"events.subscribe", `{"topics":["notes.changed","index.progress"]}`, "it keeps its lists fresh"},
	{"vault.import", `{"path":"/home/me/Notes","watch":true}`, "somebody opens a folder"},
	{"notes.complete", `{"prefix":"kick"}`, "[[kick is typed"},
	{"entities.complete", `{"prefix":"al"}`, "@al is typed"},
	{"notes.resolve", `{"link":"[[Kickoff]]"}`, "a link is clicked"},
	{"notes.get", `{"ref":"Kickoff"}`, "a note is opened"},
	{"notes.put", `{"title":"Ideas","body":"Ask [[Kickoff]] again."}`, "a note is saved that is no file"},
	{"notes.search", `{"query":"who came to the kickoff"}`, "something is looked for"},
	{"wql.query", `{"query":"SELECT p FROM Person p"}`, "a table of entities is shown"},
	{"context.assemble", `{"text":"@Alice what did we decide in [[Kickoff]]?"}`, "a model is to be asked: its system prompt"},
	{"chat.append", `{"messages":[{"role":"user","content":"What did we decide?"},{"role":"assistant","content":"To begin in May."}]}`, "it was asked; chat.send has ctxd ask"},
	{"memory.add", `{"statement":"I prefer morning workouts"}`, "something is worth remembering"},
	{"memory.search", `{"query":"When do I train?"}`, "it is recalled"},
	{"admin.health", `{}`, "the status line"},
}

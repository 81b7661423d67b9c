package inspect

import "github.com/ctxd/ctxd/cmd/ctxd/shell"

// Command is ctxd inspect.
type Command struct {
	Status  statusCmd     `cmd:"" help:"Health, counts, vaults and latencies of the daemon."`
	Context Context       `cmd:"" help:"The prompt for a message: what goes in, what does not, and why."`
	Note    noteCmd       `cmd:"" help:"A note with its links and the notes that link to it."`
	Entity  Entity        `cmd:"" help:"An entity with its fields and what refers to it."`
	Graph   graphCmd      `cmd:"" help:"What lies around a note or entity; counts of the whole graph without one."`
	WQL     shell.Inspect `cmd:"" name:"wql" help:"A query: what is wrong with it, how it is read, and with --explain how it is answered."`
	Search  searchCmd     `cmd:"" help:"A search: how the query is read, the list by words, the list by meaning, and how they become one."`
	Index   indexCmd      `cmd:"" help:"The indexes of words and of meaning: how far they are, and what they take."`
	Privacy privacyCmd    `cmd:"" help:"What is private and by which rule, what prompts went without, and which methods see what."`
	RPC     rpcCmd        `cmd:"" name:"rpc" help:"Connections, calls in flight, and how long methods take."`
	Log     logCmd        `cmd:"" help:"The log of the daemon."`
}

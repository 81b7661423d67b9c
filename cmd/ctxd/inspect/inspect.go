package inspect

import (
	"github.com/ctxd/ctxd/cmd/ctxd/page"
	"github.com/ctxd/ctxd/cmd/ctxd/shell"
)

// Command is ctxd inspect.
type Command struct {
	Status   statusCmd        `cmd:"" help:"Show the health, counts, vaults and latencies of the daemon."`
	Context  Context          `cmd:"" help:"Show the prompt for a message: what goes in, what does not, and why."`
	Note     noteCmd          `cmd:"" help:"Show a note with its links and the notes that link to it."`
	Entity   Entity           `cmd:"" help:"Show an entity with its fields and what refers to it."`
	Memory   memoryCmd        `cmd:"" help:"Show a memory with where it comes from, its use, and what it said before."`
	Learning learningCmd      `cmd:"" help:"Show what was learned: outcomes, best and worst memories, conflicts, promotion and upkeep."`
	Chat     page.InspectChat `cmd:"" help:"Show what a model was given for an answer, and why."`
	Graph    graphCmd         `cmd:"" help:"Draw the graph around a note or entity, or count the whole graph."`
	WQL      shell.Inspect    `cmd:"" name:"wql" help:"Check a WQL query, and show how it is read and, with --explain, its plan."`
	Search   searchCmd        `cmd:"" help:"Explain a search: how the query is read, the hits by words, the hits by meaning, and how they are combined."`
	Why      whyCmd           `cmd:"" help:"Explain where one note stands in a search, found or not."`
	Index    indexCmd         `cmd:"" help:"Show the state and size of the search indexes."`
	Privacy  privacyCmd       `cmd:"" help:"List what is private and why, and what was withheld from prompts."`
	Capture  captureCmd       `cmd:"" help:"Show what was kept of the programs that call ctxd hook, and when that stopped."`
	RPC      rpcCmd           `cmd:"" name:"rpc" help:"Show connections, calls in progress, and how long methods take."`
	Log      logCmd           `cmd:"" help:"Show the log of the daemon."`
}

package protocol

import (
	"github.com/ctxd/ctxd/entities/record"
)

// GraphNeighbors are the parameters of graph.neighbors.
type GraphNeighbors struct {
	Ref   string   `json:"ref" formerly:"id" jsonschema:"the note or entity to start from, as for notes.get and entities.get; an entity goes before a note"`
	Depth int      `json:"depth,omitempty" min:"1" max:"4" default:"1" jsonschema:"edges to go"`
	Kinds []string `json:"kinds,omitempty" enum:"note,entity" jsonschema:"kinds of nodes to show; all when absent"`
	// Fields stays absent for 0: most clients draw names.
	Fields int `json:"fields,omitempty" min:"0" max:"16" jsonschema:"fields to show of each entity, in words; none when absent"`
	Reads
}

// GraphPath are the parameters of graph.path.
type GraphPath struct {
	From     string `json:"from" jsonschema:"the note or entity to start from, as for graph.neighbors"`
	To       string `json:"to" jsonschema:"the note or entity to reach"`
	MaxDepth int    `json:"maxDepth,omitempty" min:"1" max:"16" default:"6" jsonschema:"edges at most"`
	Ways     int    `json:"ways,omitempty" min:"0" max:"16" jsonschema:"number of shortest paths to list; when absent one, with one edge for each step"`
	Fields   int    `json:"fields,omitempty" min:"0" max:"16" jsonschema:"fields to show of each entity, in words; none when absent"`
	Reads
}

var graphMethods = []Method{
	describe[GraphNeighbors, record.GraphSubgraph]("graph.neighbors", Read,
		"Return the graph around a note or entity.", "",
		Example{
			`{"ref":"alice"}`,
			`{"nodes":[{"id":"alice","kind":"entity","name":"Alice","type":"Person","depth":0},{"id":"core","kind":"entity","name":"Core","type":"Team","depth":1}],"edges":[{"from":"alice","to":"core","field":"team"}]}`,
		}, CodeNotFound, CodeConflict, CodeDeadline),
	describe[GraphPath, record.GraphSubgraph]("graph.path", Read,
		"Find a shortest path between two records; empty if there is none.",
		"Edges are followed in both directions. With ways, nodes and edges hold everything on the shortest paths, with every edge of each step, and ways lists the paths.",
		Example{
			`{"from":"alice","to":"core"}`,
			`{"nodes":[{"id":"alice","kind":"entity","name":"Alice","type":"Person","depth":0},{"id":"core","kind":"entity","name":"Core","type":"Team","depth":1}],"edges":[{"from":"alice","to":"core","field":"team"}]}`,
		}, CodeNotFound, CodeConflict, CodeDeadline),
	describe[ReadAll, record.GraphStats]("graph.stats", Read,
		"Count records, edges, degrees, components and orphans, and list the records with the most edges.", "",
		Example{`{}`, `{"entities":40,"notes":60,"references":90,"links":120,"components":3,"orphans":2,"dangling":1,"largest":94,"maxDegree":17,"meanDegree":4.2,"medianDegree":3,"degrees":[{"from":0,"to":0,"records":2}],"hubs":[{"id":"core","kind":"entity","name":"Core","type":"Team","degree":17}]}`}),
}

package graph

import "github.com/ctxd/ctxd/entities/record"

// Parts and figures of the graph are declared in package record, because clients see
// them.

type (
	// Subgraph is a part of the graph.
	Subgraph = record.GraphSubgraph
	// Vertex is a node of a Subgraph.
	Vertex = record.GraphVertex
	// FieldText is a field of an entity in words.
	FieldText = record.GraphFieldText
	// Arc is an edge of a Subgraph.
	Arc = record.GraphArc
	// Stats are the figures of the graph.
	Stats = record.GraphStats
	// Degree is how many records have so many edges.
	Degree = record.GraphDegree
	// Hub is a record with many edges.
	Hub = record.GraphHub
)

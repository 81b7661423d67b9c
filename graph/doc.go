// Package graph is the picture of how entities and notes hang together.
//
// Graph holds the references in entity fields as dense adjacency: every entity
// and note that occurs in one has a small number, and its edges are slices of
// numbers, forwards and backwards. It is kept current by the change sets of
// the store, and must be opened after entities and notes, whose part in a
// commit comes first. Wikilinks between notes stay where they are resolved, in
// package notes, and are asked for when a walk needs them; computed references
// come from entities/wql in the same way.
//
// Walk is the breadth-first search that everything here and in context/gather
// uses: one visited set a walk, kept as an array of epochs, so that cycles end
// and nothing is cleared between walks. A walk costs O(nodes + edges visited).
//
// Neighbors and Path answer with a Subgraph, a part of the graph for people,
// and Stats counts all of it.
//
//   - graph.go, records.go, resolve.go, unresolved.go: the Graph, what is found by what people write
//   - walk.go, neighbors.go, path.go, describe.go, stats.go: walks and what they answer
//   - draw*.go: drawings of a Subgraph
//
// context, chat and rpc ask it. A Graph lives as long as the store. All methods are safe for
// concurrent use.
//
// Wall: subject: how entities and notes hang together, and drawings of it.
package graph

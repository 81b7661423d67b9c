// Package graph is the picture of how entities and notes hang together.
//
// Graph holds the references in entity fields as dense adjacency: every entity
// and note that occurs in one has a small number, and its edges are slices of
// numbers, forwards and backwards. It is kept current by the change sets of
// the store, and must be opened after entities and notes, whose part in a
// commit comes first. Wikilinks between notes stay where they are resolved, in
// package notes, and are asked for when a walk needs them; computed references
// come from package entities/wql in the same way.
//
// Walk is the breadth-first search that everything here and in context/gather
// uses: one visited set a walk, kept as an array of epochs, so that cycles end
// and nothing is cleared between walks. A walk costs O(nodes + edges visited).
//
// Neighbors and Path answer with a Subgraph, a part of the graph for people,
// and Stats counts all of it. Package draw, to the right, draws a Subgraph.
//
// All methods are safe for concurrent use.
package graph

// Package draw makes drawings of a part of the graph: DOT for Graphviz, Mermaid for
// Markdown, and SVG, which needs no other program and is laid out here (layout.go).
//
// It is pure: a graph.Subgraph in, text out; no files, clocks or state. Any function may
// be called from any goroutine. What users wrote never becomes structure of a drawing:
// every text is escaped for the format and cut to one line. A drawing shows at most
// MaxDrawn nodes and says how many it leaves out. A plain link between notes has no label.
//
// An SVG is for every viewer: its colours stand in attributes, and the style sheet only
// replaces them where variables are known; it uses no markers and no nested drawings. Texts
// are cut by their width (width.go). A dozen nodes or more at one depth stand in frames
// (groups.go). There is no PNG of our own: the fonts that Go programs can carry lack most
// scripts, and a program such as rsvg-convert makes one from the SVG.
//
// Library graphs (dominikbraun/graph) are built only for DOT, of the part at hand: the
// library copies all edges for each question.
package draw

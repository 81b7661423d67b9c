// Package drawing makes a page of a part of the graph: the drawing of graph/draw, which one
// moves with the pointer, enlarges, and thins out by hiding kinds of records, and beside it
// the record that was opened, with its fields and what it hangs together with.
//
// Page is pure: a graph.Subgraph in, one HTML document out, which needs nothing from
// elsewhere and loads nothing: its policy names the hashes of its own style and script, and
// forbids the rest. Without a script the drawing scrolls and the records stand below it.
// Canvas is the part of the script and style that moves a drawing, for other pages. No text
// of a record is read as markup. The page is of a size with the graph, at most draw.MaxDrawn
// nodes with MaxTies ties each. It may be called from any goroutine.
package drawing

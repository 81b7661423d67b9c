// Package cited writes the page of ctxd chat stats --html: which notes conversations stood on, how often and in which
// months, the graph of both, and of each note the newest messages that used it. The page is one file that loads nothing
// and runs no script; texts of a person are escaped by the template, and the drawing is a picture.
//
// Write takes O(notes and messages shown), asks nobody, and may be called concurrently.
package cited

package term

import "io"

// Streams are what a command reads from and prints to.
type Streams struct {
	In   io.Reader
	Out  *Screen
	Err  *Screen
	JSON bool // the answer is printed as JSON, errors included
}

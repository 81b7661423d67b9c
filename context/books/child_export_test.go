package books

import "time"

// SetChildGrace has a child be silent for no longer than that; the function that it returns undoes it.
func SetChildGrace(d time.Duration) (undo func()) {
	was := childGrace
	childGrace = d
	return func() { childGrace = was }
}

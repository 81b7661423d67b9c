package text

// A [TopList] keeps the first elements of what is added to it in an order, so that a page of a
// long list needs no sorting of it all. It is for one goroutine; adding costs O(1) mostly, and
// O(Most log Most) each Most elements.

import "slices"

// TopList keeps the first Most of what is added to it by Compare.
type TopList[T any] struct {
	Most    int
	Compare func(a, b T) int
	list    []T
	full    bool // there were more than Most: list[Most-1] is the last of them, until more are added
}

// Add adds an element.
func (f *TopList[T]) Add(x T) {
	if f.full && f.Compare(x, f.list[f.Most-1]) > 0 {
		return
	}
	f.list = append(f.list, x)
	if len(f.list) == 2*f.Most {
		f.Sorted()
	}
}

// Sorted returns what is kept, in order.
func (f *TopList[T]) Sorted() []T {
	slices.SortFunc(f.list, f.Compare)
	if len(f.list) >= f.Most {
		f.list, f.full = f.list[:f.Most], true
	}
	return f.list
}

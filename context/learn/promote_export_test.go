package learn

// InGroups has runs move so many memories a transaction; it returns what undoes that.
func InGroups(n int) (undo func()) {
	was := group
	group = n
	return func() { group = was }
}

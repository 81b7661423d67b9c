package learn

// KeepOnly has few events be kept; it returns what undoes that.
func KeepOnly(n int64) (undo func()) {
	was := keep
	keep = n
	return func() { keep = was }
}

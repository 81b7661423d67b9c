package write

// SetStep has fn called before each step of a write.
func SetStep(fn func(string) error) (restore func()) {
	Step = fn
	return func() { Step = func(string) error { return nil } }
}

package audience

// MayBeName reports whether a text is held against names as a whole.
var MayBeName = mayBeName

// KeysIn returns the keys of all that texts may name.
var KeysIn = keysIn

// OnReading has a function called before a text is read for what it names.
func OnReading(fn func()) { onReading = fn }

// EndReading has ReadReferences end.
func (r *Views) EndReading() {
	r.named.end()
	for _, n := range r.namers {
		n.named.end()
	}
}

// ForgetTasks drops the tasks that were read.
func (r *Views) ForgetTasks() {
	for _, t := range []*taskReader{&r.tasks.local, &r.tasks.remote} {
		t.kept, t.held = nil, 0
	}
}

package nats

// WordAt returns a word of the list.
func WordAt(i int) string { return words[i] }

package cites

// Keeps reports whether it keeps what messages were made of.
func (h *AnswerHider) Keeps() bool { return h.made != nil }

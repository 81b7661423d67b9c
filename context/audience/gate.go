package audience

// Gate returns a text as it may leave this machine: as a remote reader is shown it. It is what stands before each embedder and
// reranker that is not on this machine (outbound.Gate).
func (r *Views) Gate(text string) string { return r.remote.TextOf("", text) }

package recall

// tellsApart reports whether hits of a kind are compared by what tells them apart: the messages of
// conversations are about few subjects, and those of one are all about as near to a question of it.
func (s *run) tellsApart(kind string) bool { return kind == Messages && s.isOn(stageOf(Apart)) }

// apart says what the search did: how near documents are is told before they are candidates.
func (s *run) apart() error {
	for _, c := range s.list {
		if s.toldApart[c.kind] {
			s.changed++
		}
	}
	if s.changed == 0 {
		return skip("too few messages are near to the question to say what they have in common")
	}
	return nil
}

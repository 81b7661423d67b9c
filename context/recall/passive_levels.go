package recall

// levels are cosines of a model.
type levels struct {
	// subject is the cosine of two turns that follow each other under which the conversation has changed its subject.
	subject float64
	// fact and message are how near to two turns a memory or a message is at least that has to do with them.
	fact, message float64
}

// builtin are the levels of the built-in table, and of models that have none of their own. They were measured on
// the eight long conversations of the test data (909 turns, each message cut at 2,000 bytes).
//
// Cosines of two turns: of two that follow each other 5 % are under 0.26, half of them under 0.58; half a
// conversation apart 5 % under 0.24, half under 0.46; of two conversations half under 0.29, and 41 % under 0.26. So
// the level loses 5 % of the turns that go on, and sees two of five changes to another conversation.
//
// Cosines of two turns together and a memory of another person: 95 % are under 0.23, 99 % under 0.30. With a
// message of another person's conversation 90 % are under 0.44, with one of the same conversation, elsewhere, half
// under 0.47.
var builtin = levels{subject: 0.25, fact: 0.3, message: 0.45}

// byModel are the levels of models that have others. A model that puts all texts near to each other finds more, and
// sees no change of subject, until it has its own.
var byModel = map[string]levels{}

func levelsOf(model string) levels {
	if of, ok := byModel[model]; ok {
		return of
	}
	return builtin
}

package search

import "cmp"

// Levels are what cosines of a model of vectors mean. A model that was not measured has those of the built-in table; one that
// puts all texts near to each other then refuses nothing, finds more, and sees no change of subject.
type Levels struct {
	// Least is how near documents have to be to a query of which no word is known for a search to find anything. It is about
	// the highest that loses at most 3 % of all questions with answers, see testdata/nothing.golden.
	Least float64
	// Translates says that the model knows a text in another language. What the words of a query in another language find is
	// chance, and such a model needs none of them. Its texts in two languages are not as near to each other as those in one.
	Translates bool

	// Subject is the cosine of two turns that follow each other under which the conversation has changed its subject.
	//
	// On the eight long conversations of the test data (909 turns, each message cut at 2,000 bytes) 5 % of two turns that
	// follow each other are under 0.26 by the built-in table, half of them under 0.58; half a conversation apart 5 % under
	// 0.24, half under 0.46; of two conversations half under 0.29, and 41 % under 0.26. So the level loses 5 % of the turns
	// that go on, and sees two of five changes to another conversation.
	Subject float64
	// Fact and Message are how near to two turns a memory or a message is at least that has to do with them. Cosines of two
	// turns together and a memory of another person: 95 % are under 0.23, 99 % under 0.30. With a message of another person's
	// conversation 90 % are under 0.44, with one of the same conversation, elsewhere, half under 0.47.
	Fact, Message float64

	// Of statements of one sentence: Far is the median of those that have nothing to do with each other, and from Same on two
	// say nearly the same, the median of the English duplicates among the labelled pairs of package learn.
	Far, Same float64
}

// levels by the names of the models.
var levels = map[string]Levels{
	BuiltInModel:          {Least: 0.237, Subject: 0.25, Fact: 0.3, Message: 0.45, Far: 0.18, Same: 0.84},
	"ctxd-multilingual-1": {Least: 0.25, Translates: true, Far: 0.06, Same: 0.91},
	"all-MiniLM-L6-v2":    {Far: 0.40, Same: 0.93}, // by the runner, at 16 bits
	// The means of its words: package learn judges as many pairs rightly by them as by the table, so the table, which costs a
	// thousandth, goes on to serve upkeep, passive recall and notes.similar.
	"answerai-colbert-small": {Far: 0.60, Same: 0.94},
}

// BuiltInModel is the name of the built-in table.
const BuiltInModel = "ctxd-static-1"

// LevelsOf returns the levels of a model by its name.
func LevelsOf(model string) Levels {
	l, table := levels[model], levels[BuiltInModel]
	return Levels{
		Least: cmp.Or(l.Least, table.Least), Translates: l.Translates,
		Subject: cmp.Or(l.Subject, table.Subject), Fact: cmp.Or(l.Fact, table.Fact), Message: cmp.Or(l.Message, table.Message),
		Far: cmp.Or(l.Far, table.Far), Same: cmp.Or(l.Same, table.Same),
	}
}

// Likeness brings a cosine of two statements between 0 and 1: 0 for Far, 1 for Same.
func (l *Levels) Likeness(cosine float64) float64 {
	return min(1, max(0, (cosine-l.Far)/(l.Same-l.Far)))
}

// Cosine is the inverse of Likeness.
func (l *Levels) Cosine(likeness float64) float64 { return l.Far + likeness*(l.Same-l.Far) }

package learn

// This file and pairs_*.go decide how two statements stand to each other: whether they say the same, contradict each
// other, whether the newer one says that something changed, or whether both hold. What rules cannot decide is left to a
// model, or to the person.
//
// All of it is pure. [ReadStatement] reads a statement once, in time linear in it; [JudgePair] compares two that were
// read, in time linear in both but for the words that they do not share, of which it compares at most 32 with as many.
// Cosines come from the caller, who has the vectors, and are brought between 0 and 1 by [search.Levels], a table
// with a row for each model: cosines of two models cannot be compared. Words are those of English, German and French,
// in pairs_words.go; another language is added there and nowhere else. A verdict of VerdictDuplicate is given only
// where no word stands in the place of another, since a wrong merge loses what a person said. testdata/pairs.tsv has
// pairs with their verdicts, and testdata/*.golden what becomes of them.

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/ctxd/ctxd/context/memory"
)

// Verdict is how two statements stand to each other.
type Verdict string

// The verdicts.
const (
	VerdictDuplicate     Verdict = "duplicate"     // they say the same
	VerdictContradiction Verdict = "contradiction" // one of them is wrong, and nobody says which
	VerdictUpdate        Verdict = "update"        // the newer one says what holds now
	VerdictBoth          Verdict = "both"          // both hold
	VerdictUnsure        Verdict = "unsure"        // rules cannot tell
)

// Judgement is a verdict with its reason.
type Judgement struct {
	Verdict Verdict
	Why     string   // in a few words, for people
	Differs []string // see memory.Differences; never nil
}

// The levels of likeness that count where words alone do not tell.
const (
	likeAll   = 0.85 // statements that may be the same in other words
	likeMuch  = 0.75 // those that may be about one thing and differ in a number
	likeMost  = 0.6  // one that says more than the other
	likeSome  = 0.4  // statements that may be about the same at all
	likeLeast = 0.15 // brief ones
)

// half is the share of the shorter statement that is about the same where something of it changed.
const half = 0.5

// fewThings is how much a brief statement says.
const fewThings = 4

// weightSlight is what a slight thing weighs beside others.
const weightSlight = 0.3

// JudgePair compares two statements of one kind. like is how alike they are for an embedder, by Levels.Likeness; 0 where
// nobody knows. Whether two are duplicates does not depend on which of them is the newer one.
func JudgePair(older, newer *Statement, like float64) Judgement {
	c := comparison{older: older, newer: newer, like: like, differs: older.said.In(newer.said)}
	c.share()
	v, why := c.verdict()
	return Judgement{v, why, c.differs}
}

// comparison is two statements beside each other.
type comparison struct {
	older, newer     *Statement
	like             float64
	differs          []string
	shared           []string // what both are about, by the words of the older one
	inOlder, inNewer []string // what only one is about
}

// maxLeft is how many things that are not shared are compared by their beginnings.
const maxLeft = 32

func (c *comparison) share() {
	left := make([]string, 0, len(c.newer.things))
	for _, thing := range c.newer.things {
		if !slices.Contains(c.older.things, thing) {
			left = append(left, thing)
		}
	}
	for _, thing := range c.older.things {
		if slices.Contains(c.newer.things, thing) {
			c.shared = append(c.shared, thing)
			continue
		}
		i := -1
		if len(left) <= maxLeft && len(c.inOlder) < maxLeft {
			i = slices.IndexFunc(left, func(other string) bool { return sameStem(thing, other) })
		}
		if i < 0 {
			c.inOlder = append(c.inOlder, thing)
			continue
		}
		c.shared = append(c.shared, thing)
		left = slices.Delete(left, i, i+1)
	}
	c.inNewer = left
}

// shortestStem is how many letters two words have in common at least that are forms of one word.
const shortestStem = 4

// sameStem reports whether two words begin alike and end in a few other letters, as forms of one word do.
func sameStem(a, b string) bool {
	if a[0] == '@' || b[0] == '@' {
		return false
	}
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	for same > 0 && same < len(a) && !utf8.RuneStart(a[same]) {
		same--
	}
	ends := max(len(a), len(b)) - same
	return same >= shortestStem && ends <= 3 && 7*same >= 4*max(len(a), len(b)) ||
		same >= shortestStem-1 && ends == 1 && (isPlural(a[same:]) || isPlural(b[same:]))
}

func isPlural(end string) bool { return end == "s" || end == "n" || end == "e" }

func weigh(things []string) (w float64) {
	for _, thing := range things {
		if slight()[thing] {
			w += weightSlight
		} else {
			w++
		}
	}
	return w
}

// coverage is the share of the shorter statement that the other has too.
func (c *comparison) coverage() float64 {
	shared := weigh(c.shared)
	least := shared + min(weigh(c.inOlder), weigh(c.inNewer))
	if least == 0 {
		return 0
	}
	return shared / least
}

func (c *comparison) verdict() (Verdict, string) {
	switch c.slots() {
	case slotSame:
		if c.newer.changed != c.older.changed {
			return VerdictBoth, "the newer one says the same with a word of change"
		}
	case slotOther:
		return VerdictUpdate, "the newer one says that something changed"
	}
	opposite := c.older.denies != c.newer.denies
	alone := len(c.inOlder) == 0 && len(c.inNewer) == 0 && len(c.shared) > 0
	if c.like < likeSome && !alone && !(c.exclusive() && c.brief()) && !(c.newer.changed && c.brief()) {
		return VerdictBoth, "they are about two things"
	}
	if c.apart() || c.others() {
		return VerdictBoth, "they are about others"
	}
	if c.older.twice || c.newer.twice {
		if c.coverage() >= 1 || c.like >= likeAll {
			return VerdictUnsure, "one denies twice"
		}
		return VerdictBoth, "they are about two things"
	}
	if alone && !opposite && len(c.differs) == 0 && c.older.changed == c.newer.changed && c.older.limited == c.newer.limited {
		if c.reversed() {
			return VerdictUnsure, "the same words in another order"
		}
		return VerdictDuplicate, "the same in other words"
	}
	if c.newer.changed && !c.newer.adds {
		switch {
		case c.sameThing():
			return VerdictUpdate, "the newer one gives the same thing another number or day"
		case c.changes():
			return VerdictUnsure, "the newer one says that something changed, perhaps of this"
		}
	}
	if opposite {
		return c.denied(alone)
	}
	if c.newer.adds && len(c.inOlder)+len(c.inNewer)+len(c.differs) > 0 {
		return VerdictBoth, "the newer one adds to it"
	}
	if slices.Contains(c.differs, memory.DifferenceNumber) || slices.Contains(c.differs, memory.DifferenceDate) {
		return c.counted(alone)
	}
	return c.worded()
}

// apart reports whether the statements are about two people, or one about somebody else than the person.
func (c *comparison) apart() bool {
	a, b := c.older.of, c.newer.of
	shared := func(list []string) bool {
		return slices.ContainsFunc(list, func(of string) bool { return slices.Contains(c.shared, of) })
	}
	switch {
	case len(a) == 0 && len(b) == 0:
		return false
	case len(a) > 0 && len(b) > 0:
		return !shared(a) && !shared(b)
	}
	return c.coverage() < 1
}

// exclusive reports whether both say something of a thing that a person has one of at a time.
func (c *comparison) exclusive() bool {
	heavy := weigh(c.shared) >= 1
	for _, thing := range c.shared {
		if thing[0] == '@' && (!slight()[thing] || heavy) {
			return true
		}
	}
	return c.older.placed && c.newer.placed && len(c.older.subject) > 0 && sameThings(c.older.subject, c.newer.subject)
}

func sameThings(a, b []string) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(thing string) bool { return !slices.Contains(b, thing) })
}

// changes reports whether a newer statement that says that something changed may say it of what the older one is about.
func (c *comparison) changes() bool {
	shared := weigh(c.shared)
	switch {
	case c.exclusive():
		return true
	case shared == 0, c.newer.renewed && len(c.inOlder) > 0 && len(c.inNewer) > 0: // a new lamp for another room
		return false
	case len(c.inNewer) == 0 || len(c.inOlder) == 0:
		return true
	}
	return c.coverage() >= half && shared >= 1 && (c.like >= likeSome || c.like >= likeLeast && c.brief()) || c.like >= likeMost
}

// others reports whether each statement begins with somebody whom the other does not name.
func (c *comparison) others() bool {
	a, b := c.older, c.newer
	return !a.first && !b.first && len(a.things) > 0 && len(b.things) > 0 &&
		slices.Contains(a.names, a.things[0]) && slices.Contains(b.names, b.things[0]) &&
		!slices.Contains(b.names, a.things[0]) && !slices.Contains(a.names, b.things[0])
}

// brief reports whether both statements say so little that one word in common is much of it.
func (c *comparison) brief() bool {
	return len(c.older.things) <= fewThings && len(c.newer.things) <= fewThings
}

// mostOther is how many things may stand in the place of others where two statements give one thing two values.
const mostOther = 2

// denied judges a statement beside one that denies something.
func (c *comparison) denied(alone bool) (Verdict, string) {
	switch {
	case alone && !slices.Contains(c.differs, memory.DifferenceNumber) && !slices.Contains(c.differs, memory.DifferenceDate):
		return VerdictContradiction, "one denies what the other says"
	case len(c.shared) == 0 || len(c.inOlder) > 0 && len(c.inNewer) > 0:
		return VerdictBoth, "they are about two things"
	case c.coverage() >= 1 && weigh(c.shared) >= 1 && c.like >= likeMost:
		return VerdictUnsure, "one denies a part of what the other says"
	}
	return VerdictBoth, "they are about two things"
}

// counted judges statements that differ in a number or a date.
func (c *comparison) counted(alone bool) (Verdict, string) {
	number, date := slices.Contains(c.differs, memory.DifferenceNumber), slices.Contains(c.differs, memory.DifferenceDate)
	few := len(c.inOlder) <= mostOther && len(c.inNewer) <= mostOther
	switch {
	case alone && number && date:
		if len(c.older.years) == 1 && len(c.newer.years) == 1 && c.newer.years[0] > c.older.years[0] {
			return VerdictUnsure, "the newer one tells of a later year"
		}
		return VerdictBoth, "they tell of two days"
	case alone:
		return VerdictContradiction, "they differ in " + c.differs[0]
	case (len(c.inOlder) == 0 || len(c.inNewer) == 0) && few && weigh(c.shared) >= 1:
		if c.exclusive() {
			return VerdictContradiction, "they differ in " + c.differs[0]
		}
		return VerdictUnsure, "they differ in " + c.differs[0] + ", and one says more"
	case c.like >= likeMuch && weigh(c.shared) >= weigh(c.inNewer) && len(c.inOlder)+len(c.inNewer) > 2:
		return VerdictUnsure, "they differ in " + c.differs[0] + ", and in words"
	case c.exclusive() && weigh(c.shared) > max(weigh(c.inOlder), weigh(c.inNewer)):
		return VerdictContradiction, "they differ in " + c.differs[0]
	}
	return VerdictBoth, "they are about two things"
}

// worded judges statements that differ in words alone.
func (c *comparison) worded() (Verdict, string) {
	few := len(c.inOlder) <= mostOther && len(c.inNewer) <= mostOther
	switch {
	case len(c.shared) == 0 && c.like < likeAll:
		return VerdictBoth, "they are about two things"
	case c.exclusive() && few && len(c.inOlder) > 0 && len(c.inNewer) > 0:
		return VerdictContradiction, "there is one of it, and they name two"
	case c.exclusive() && slices.Contains(c.differs, memory.DifferenceName) && few:
		return VerdictContradiction, "there is one of it, and they name two"
	case len(c.inOlder) == 0 || len(c.inNewer) == 0:
		if c.like >= likeMost && !c.older.limited && !c.newer.limited {
			return VerdictUnsure, "one says more than the other"
		}
		return VerdictBoth, "one says more than the other"
	case slices.Contains(c.differs, memory.DifferenceName):
		return VerdictBoth, "they name two"
	case c.like >= likeAll && weigh(c.shared) >= 1 && c.coverage() > half:
		return VerdictUnsure, "nearly the same in other words"
	}
	return VerdictBoth, "they are about two things"
}

// reversed reports whether the statements name two others in two orders: who likes whom, for example.
func (c *comparison) reversed() bool { return !c.older.first && !c.newer.first && c.crossed() }

// crossed reports whether the statements have the same names in two orders.
func (c *comparison) crossed() bool {
	var order []int
	for _, name := range c.older.names {
		if i := slices.Index(c.newer.names, name); i >= 0 {
			order = append(order, i)
		}
	}
	return !slices.IsSorted(order)
}

func isCapital(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return unicode.IsUpper(r)
}

// SupportsFact reports whether a sentence says what a fact says, perhaps among other things: it has all that the fact is
// about, names nobody else, and differs from it in no negation, number, date or name.
func SupportsFact(fact, sentence *Statement) bool {
	if sentence.supposed || fact.first && !sentence.first ||
		slices.ContainsFunc(sentence.names, func(name string) bool { return !slices.Contains(fact.things, name) }) {
		return false // it may be said of somebody else
	}
	c := comparison{older: fact, newer: sentence, differs: fact.said.In(sentence.said)}
	if c.slots() == slotSame {
		return true
	}
	c.share()
	return len(c.shared) > 0 && len(c.inOlder) == 0 && len(c.differs) == 0 && !fact.twice && !sentence.twice &&
		fact.denies == sentence.denies && fact.limited == sentence.limited && fact.changed == sentence.changed && !c.apart()
}

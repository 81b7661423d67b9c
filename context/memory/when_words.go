package memory

import (
	"maps"
	"strings"

	"github.com/ctxd/ctxd/entities"
)

// months by their names and short forms.
var months = numberedWords(
	"january jan januar janvier enero gennaio", "february feb februar février fevrier febrero febbraio",
	"march mar märz maerz mars marzo", "april apr avril abril aprile", "may mai mayo maggio",
	"june jun juni juin junio giugno", "july jul juli juillet julio luglio",
	"august aug août aout agosto", "september sep sept septembre septiembre settembre",
	"october oct oktober octobre octubre ottobre", "november nov novembre noviembre",
	"december dec dezember décembre diciembre dicembre",
)

// alsoWords are names of months that are other words too.
var alsoWords = phraseSet("may march mar mars jan mai august jun dec")

// weekdays, Monday first.
var weekdays = numberedWords(
	"monday mondays montag lundi lunes lunedì", "tuesday tuesdays dienstag mardi martes martedì",
	"wednesday wednesdays mittwoch mercredi miércoles mercoledì", "thursday thursdays donnerstag jeudi jueves giovedì",
	"friday fridays freitag vendredi viernes venerdì", "saturday saturdays samstag sonnabend samedi sábado sabato",
	"sunday sundays sonntag dimanche domingo domenica",
)

// units of time, the shortest first.
var units = numberedWords(
	"day days tag tage tagen", "week weeks woche wochen", "month months monat monate monaten",
	"year years jahr jahre jahren",
)

// counts are numbers in words before a unit.
var counts = numberedWords(
	"a an one ein eine einem einer einen", "two couple zwei", "three drei", "four vier", "five fünf", "six sechs",
	"seven sieben", "eight acht", "nine neun", "ten zehn",
)

// past stands before a unit, or a day of the week, that is over; present before one that is not.
var (
	past    = phraseSet("last past previous letzte letzten letzter letztes letztem vorige vorigen voriges")
	present = phraseSet("this current diese diesen dieser dieses diesem")
	ago     = phraseSet("ago vor")
	of      = phraseSet("of de di")
	inside  = phraseSet("in during im")
)

// days are the days that have a name of their own, by how many days they are back.
var days = map[string]int{
	"today": 0, "tonight": 0, "heute": 0, "yesterday": 1, "gestern": 1, "vorgestern": 2,
	"avant-hier": 2, "hoy": 0, "ayer": 1, "anteayer": 2, "oggi": 0, "ieri": 1, "avantieri": 2,
} // hier is a word of German too

// beforeYesterday are other rows of words for the day before yesterday, which end in one of days.
var beforeYesterday = [][]string{{"day", "before", "yesterday"}, {"antes", "de", "ayer"}, {"altro", "ieri"}}

// What stands before a date, with words like "the" in between, and makes a range of it: before 1 May, until, since and after
// it; between 1 May and 3 May, from 1 May to 3 May. A from without a to is a since where a date alone follows such a word.
var (
	before  = phraseSet("before vor avant antes prima")
	until   = phraseSet("until till bis jusqu jusque hasta fino")
	since   = phraseSet("since seit ab depuis desde dal")
	ofRange = phraseSet("from von vom du dal del") // words of other things too: behind another bound they say nothing
	from    = union(since, ofRange)
	after   = phraseSet("after nach apres après después dopo")
	between = phraseSet("between zwischen entre tra fra")
	and     = phraseSet("and to until till through und bis et au y a al hasta e")
	filler  = phraseSet("the on of at day dem den der am zum le la el il lo di de au al à a")
	bounds  = union(before, until, from, after, between)
)

// recent are words and rows of words that ask for what is new, or for when something was.
var recent = rows("last", "latest", "recent", "recently", "lately", "yesterday", "today", "before", "when did", "how long ago",
	"previously", "just now", "zuletzt", "letzte", "letzten", "neulich", "kürzlich", "gestern", "heute", "vorher", "wann")

func union(sets ...map[string]bool) map[string]bool {
	all := make(map[string]bool)
	for _, set := range sets {
		maps.Copy(all, set)
	}
	return all
}

func phraseSet(words string) map[string]bool {
	in := make(map[string]bool)
	for w := range strings.FieldsSeq(words) {
		in[entities.Fold(w)] = true
	}
	return in
}

// numberedWords gives the words of each list its number, from 1.
func numberedWords(lists ...string) map[string]int {
	of := make(map[string]int)
	for i, list := range lists {
		for w := range strings.FieldsSeq(list) {
			of[entities.Fold(w)] = 1 + i
		}
	}
	return of
}

// rows are rows of words, by their first word.
func rows(texts ...string) map[string][][]string {
	of := make(map[string][][]string)
	for _, text := range texts {
		words := strings.Fields(entities.Fold(text))
		of[words[0]] = append(of[words[0]], words[1:])
	}
	return of
}

// ParseMonth returns the month, from 1, that a folded word names. certain is false for one that is another word
// too.
func ParseMonth(fold string) (month int, certain bool) {
	return months[fold], months[fold] > 0 && !alsoWords[fold]
}

// ParseWeekday returns the day of the week, Monday being 1, that a folded word names; 0 for none.
func ParseWeekday(fold string) int { return weekdays[fold] }

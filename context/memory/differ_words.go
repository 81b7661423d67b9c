package memory

import (
	"strings"

	"github.com/ctxd/ctxd/entities"
)

// negations deny what a statement says.
var negations = wordSet(`not no never none neither nor nobody nothing nowhere without cannot
	nicht kein keine keinen keinem keiner keines nie niemals nichts ohne
	pas jamais sans aucun aucune
	nunca jamás jamas sin ningún ninguna ninguno
	non senza nessuno nessuna
	não nao nem nenhum nenhuma sem
	niet geen nooit zonder
	inte aldrig utan ingen inget
	nie nigdy bez
	не нет никогда без`)

// numberWords are numbers in words that are hardly anything else: one, ein, un and uno are articles or
// pronouns as well.
var numberWords = numberedFrom(2,
	"two twice zwei deux dos", "three drei trois tres tre", "four vier quatre cuatro quattro",
	"five fünf cinq cinco cinque", "six sechs seis", "seven sieben siete sette", "eight acht huit ocho otto",
	"nine neun neuf nueve nove", "ten zehn dix diez dieci", "eleven elf onze undici", "twelve zwölf douze doce dodici",
)

// titles stand before names and end with a full stop, which ends no sentence.
var titles = wordSet("dr mr mrs ms prof st sr jr mme hr fr")

// ordinals are what is written behind the day of a month.
var ordinals = wordSet("st nd rd th er º ª")

func wordSet(words string) map[string]bool {
	in := make(map[string]bool)
	for w := range strings.FieldsSeq(words) {
		in[entities.Fold(w)] = true
	}
	return in
}

// numberedFrom gives the words of each list its number, from a first one on.
func numberedFrom(first int, lists ...string) map[string]int {
	of := make(map[string]int)
	for i, list := range lists {
		for w := range strings.FieldsSeq(list) {
			of[entities.Fold(w)] = first + i
		}
	}
	return of
}

// ParseNumberWord returns the number that a folded word is, 0 for none.
func ParseNumberWord(fold string) int { return numberWords[fold] }

// DeniesWord reports whether a folded word denies what its statement says.
func DeniesWord(fold string) bool { return negations[fold] }

// ChangeWords are what people say when something is not as it was, as folded words of English and German.
var ChangeWords = []string{
	"now", "moved", "no longer", "not any more", "any more", "anymore", "no more", "instead", "changed", "switched",
	"replaced", "stopped", "since then", "these days", "from now on", "as of", "used to", "gave up", "new", "meanwhile",
	"jetzt", "nicht mehr", "umgezogen", "stattdessen", "inzwischen", "seitdem", "mittlerweile", "gewechselt",
	"neuerdings",
}

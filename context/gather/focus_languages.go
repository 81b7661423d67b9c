package gather

import (
	"slices"
	"strings"
)

// What follows says of each language how a message shows that it goes on with what was said before. Words are folded as the
// index folds them, without accents. To add a language: its lists here, a place in followLanguages, and conversations in
// testdata/focus.txt.

// followLanguage is what is declared of one language.
type followLanguage struct {
	name string
	// function are words that say nothing of what a message is about. The language is known by them.
	function map[string]bool
	// pronouns stand for what was named before, persons those of them that stand for a person, and possessive those that do so
	// in the clause of what they stand for.
	pronouns, persons, possessive map[string]bool
	// pointing are words that point back, but not before one of times, as in "this week".
	pointing, times map[string]bool
	// clauses begin a clause, in which a pronoun may stand for what the one before has named.
	clauses map[string]bool
	// openings are phrases that begin a message that goes on.
	openings []string
	// compares say that two things are looked at together, and others that another one is left.
	compares map[string]bool
	others   []string
	// asking are words that ask, leading those that may stand before them, and been stands between one that asks and what was done.
	asking, leading, been map[string]bool
	// choosing are those that ask which of some things, participle how a word ends that says what was done ("" for any), and
	// capitals says that nouns begin with a capital letter, so that one is no name.
	choosing   map[string]bool
	participle string
	capitals   bool
	// refers decides about words that stand for something only in some places; nil: there are none.
	refers func(words []messageWord, at int) bool
}

func followSet(lists ...string) map[string]bool {
	set := make(map[string]bool)
	for _, list := range lists {
		for w := range strings.FieldsSeq(list) {
			set[w] = true
		}
	}
	return set
}

// isOneOf reports whether a word is one of a list with blanks between.
func isOneOf(word, list string) bool {
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}

// followLanguages are all that are declared. The first one is that of a message that shows none.
var followLanguages = []*followLanguage{followEnglish, followGerman, followFrench}

var followEnglish = &followLanguage{
	name: "English",
	function: followSet(`a an the and or but nor so yet if then than as at by for from in into of off on onto out over to up with without
		within about above after again against before below between during through under until since while because though
		i me my mine we us our ours you your yours he him his she her hers it its they them their theirs this that these those
		who whom whose which what when where why how is are was were be been being am do does did done doing have has had having
		can could will would shall should may might must not no yes dont doesnt didnt isnt arent wasnt don't doesn't didn't isn't
		any some all both each either neither other another one ones same such only own too also very just now ok okay well please
		there here more most less least many much few else ever never still already yet again instead rather exactly really actually
		tell show give say list find explain describe summarise summarize let lets let's get know mean means meant think want need look
		happen happened happens thing things something anything nothing else question about regarding long far old big often
		thanks thank hi hello hey good great right sure two ones anyone someone anybody somebody everyone everybody`),
	pronouns: followSet(`he him his she her hers it its they them their theirs`),
	persons:  followSet(`he him his she her hers`), possessive: followSet(`his her its their`),
	pointing: followSet(`this these those`),
	times:    followSet(`week month year quarter morning afternoon evening night weekend time season summer winter spring autumn vault days weeks`),
	clauses:  followSet(`and but or if when while because that who which where since so before after until than`),
	openings: []string{
		"and", "but", "or", "also", "then", "ok and", "okay and", "so and", "ok but", "what about", "how about", "what else", "who else", "where else", "same for",
		"i mean", "i meant", "no", "not that", "the one", "the ones", "wait",
		"how so", "why so", "why not", "since when", "until when", "in what", "more on", "more about", "tell me more", "go on", "continue", "which one", "which ones", "which of", "what of",
	},
	compares: followSet(`compare compared versus vs difference both`),
	others:   []string{"something else", "another question", "another topic", "different topic", "different question", "new topic", "new question", "by the way", "btw", "change of subject", "unrelated", "on another note"},
	asking:   followSet(`who whom whose which what when where why how many much`),
	leading:  followSet(`at by for from in of on to under until since with`),
	been:     followSet(`was were got`),
	choosing: followSet(`which`), participle: "ed",
	refers: englishRefers,
}

// englishRefers decides about "that", "one", "there", "any" and others.
func englishRefers(words []messageWord, at int) bool {
	w, last := &words[at], at == len(words)-1 || words[at+1].pause
	before := func(list string) bool { return at > 0 && isOneOf(words[at-1].fold, list) }
	switch w.fold {
	case "it", "its": // "how long does it take to …" says nothing of before
		return !(at+1 < len(words) && isOneOf(words[at+1].fold, "take takes took possible true worth rain rains snow snows") && at+2 < len(words))
	case "that":
		if last || before("is was does did about of with for from than and like do after before") {
			return true
		}
		return at >= 2 && isOneOf(words[at-2].fold, "who what which") // who owns that decision
	case "so":
		return last && before("say says said think thinks thought do does did told hope know")
	case "there", "then":
		return last && !before("is are was were")
	case "one", "ones":
		return before("which the that this other first second last another same software") || last && at > 0
	case "any", "some", "more", "else", "others", "former", "latter", "neither", "either":
		return last
	case "both", "same":
		return true
	case "two":
		return before("the of these those")
	}
	return false
}

var followGerman = &followLanguage{
	name: "German",
	function: followSet(`der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner und oder aber denn sondern
		ich du er sie es wir ihr mich dich ihn uns euch mir dir ihm ihnen sich man mein meine meinen dein deine sein seine seinen
		seinem seiner seines ihre ihren ihrem ihrer ihres unser unsere euer eure dieser diese dieses diesen diesem jener jene jenes
		wer wen wem wessen was wann wo wohin woher woran worum womit wofur wodurch wie wieso weshalb warum welche welcher welches
		welchen welchem viel viele wenig wenige mehr weniger alle alles beide beiden im in ins am an auf aus bei beim mit nach von vom vor zu zum zur
		fur uber unter hinter neben zwischen durch gegen ohne um wegen seit bis ab als ob wenn weil dass da dann hier dort
		ist sind war waren bin bist sei wird werden wurde wurden worden kann konnen konnte muss mussen soll sollen sollte will
		wollen darf durfen mag hat haben hatte hatten habe hast gibt gab geht ging macht machte machen tut tun
		nicht nie nur auch noch schon sehr so ja nein bitte danke dir hallo mal doch eigentlich gerade jetzt immer wieder dabei
		davon dazu damit dafur dagegen daran daruber darin darauf danach woraus darum etwas nichts anderes andere anderen anderer anderem
		erzahl erzahle zeig zeige sag sage nenn nenne fass fasse zusammen erklar erklare beschreib beschreibe stell stelle steht stehen
		heisst wissen weiss sagt gut ok okay genau lange weit gross ebenso stattdessen lieber oft frage sonst ausserdem zwei einmal pro`),
	pronouns: followSet(`er ihn ihm ihr ihre ihren ihrem ihrer ihres sein seine seinen seinem seiner seines es ihnen sie`), possessive: followSet(`ihr ihre ihren ihrem ihrer sein seine seinen seinem seiner`),
	pointing: followSet(`dieser diese dieses diesen diesem jener jene jenes dessen deren derselbe dieselbe dasselbe`),
	times:    followSet(`woche monat jahr quartal morgen abend tag tagen wochen zeit mal sommer winter fruhjahr herbst saison`),
	clauses:  followSet(`und aber oder wenn weil dass ob als bis bevor nachdem wahrend der die das`),
	openings: []string{
		"ich meine", "ich meinte", "nein", "nicht das",
		"und", "aber", "oder", "also", "dann", "ausserdem", "was ist mit", "wie ist es mit", "wie sieht es mit", "wie steht es mit", "was noch", "wer noch", "wo noch", "seit wann",
		"bis wann", "ab wann", "genauer", "mehr dazu", "ok und", "gut und", "warum nicht", "wieso das", "weiter", "wie weit", "wo genau", "welche davon",
	},
	compares: followSet(`vergleiche vergleich vergleichen unterschied beide beiden verglichen`),
	others:   []string{"etwas anderes", "etwas anderem", "was anderes", "was anderem", "andere frage", "anderes thema", "anderen thema", "neues thema", "themawechsel", "ubrigens", "nebenbei", "andere sache"},
	asking:   followSet(`wer wen wem wessen was wann wo wohin woher wie warum wieso weshalb welche welcher welches welchen welchem viele viel`),
	leading:  followSet(`an auf aus bei bis durch fur gegen in mit nach seit unter von vor zu`),
	been:     followSet(`wurde wurden`),
	choosing: followSet(`welche welcher welches welchen welchem`), capitals: true,
	refers: germanRefers,
}

// germanRefers decides about articles that stand alone, and about words that stand for a place or a thing said before.
func germanRefers(words []messageWord, at int) bool {
	w := &words[at]
	switch w.fold {
	case "davon", "dazu", "damit", "dafur", "dagegen", "daran", "daruber", "darin", "darauf", "danach", "dabei", "dort", "daraus", "darum", "dadurch", "da",
		"beide", "beiden", "derselbe", "dasselbe":
		return w.fold != "damit" || at > 0 // "damit …" begins a clause of its own
	case "das", "die", "der", "den", "dem":
		for i := at + 1; i < len(words) && i <= at+3 && !words[i].pause; i++ {
			if words[i].capital || words[i].name {
				return false // the article of a noun
			}
		}
		return w.fold == "das" || at > 0
	case "sie", "ihr", "ihnen", "ihre", "ihren", "ihrem":
		return at == 0 || !w.capital // else it is who is spoken to
	case "es":
		near := func(i int) bool { return i >= 0 && i < len(words) && isOneOf(words[i].fold, "gibt gab geht ging") }
		return !near(at-1) && !near(at+1)
	}
	return false
}

var followFrench = &followLanguage{
	name: "French",
	function: followSet(`le la les l un une des du de d au aux et ou mais donc or ni car si que qui quoi dont qu quel quelle quels quelles
		lequel laquelle lesquels lesquelles quand comment pourquoi combien ou je tu il elle on nous vous ils elles me te se moi toi
		lui leur leurs eux y en mon ma mes ton ta tes son sa ses notre nos votre vos ce cet cette ces c celui celle ceux celles ca
		cela ceci ne n pas plus moins tres trop bien mal aussi encore deja toujours jamais souvent dans sur sous avec sans pour par
		chez vers entre contre pendant depuis avant apres jusqu est sont etait etaient suis es sommes etes sera ete etre ai as a avons avez ont
		avait avaient avoir fait font faire faut peut peuvent peux pourrait doit dois devait va vont vais t m s j oui non merci
		bonjour parle parler dis dit dire donne montre explique resume decris raconte sait savoir chose choses quelque tout toute
		tous toutes autre autres meme deux temps longtemps plutot alors puis ensuite ici maintenant svp plait quid passe lieu contient contenu
		sujet question propos fois`),
	pronouns: followSet(`il elle ils elles lui leur leurs eux son sa ses`), possessive: followSet(`son sa ses leur leurs`),
	pointing: followSet(`cet cette ces celui celle ceux celles cela ceci ca`),
	times:    followSet(`semaine mois annee an trimestre matin soir nuit fois saison ete hiver printemps automne jour jours`),
	clauses:  followSet(`et mais ou si quand lorsque que qui parce car puisque comme`),
	openings: []string{
		"je veux dire", "je parle", "non", "pas ca",
		"et", "mais", "donc", "puis", "alors", "ok et", "qu en est il", "quid de", "quid du", "depuis quand", "jusqu a quand", "a partir de", "pourquoi pas", "lequel", "laquelle",
		"lesquels", "lesquelles", "quoi d autre", "qui d autre", "dis m en plus", "plus de details", "encore",
	},
	compares: followSet(`compare comparer comparaison difference versus`),
	others:   []string{"autre chose", "autre question", "autre sujet", "changement de sujet", "changeons de sujet", "nouvelle question", "nouveau sujet", "au fait", "rien a voir"},
	asking:   followSet(`qui que quoi quand ou comment pourquoi combien quel quelle quels quelles`),
	leading:  followSet(`a avec chez dans de depuis en par pour sans sous sur vers`),
	choosing: followSet(`quel quelle quels quelles`),
	refers:   frenchRefers,
}

// frenchRefers decides about clitics before a verb, about "ce", and about "il", which often stands for nothing.
func frenchRefers(words []messageWord, at int) bool {
	w := &words[at]
	is := func(i int, list string) bool { return i >= 0 && i < len(words) && isOneOf(words[i].fold, list) }
	const subjects = "qui quand comment pourquoi ou on je tu il elle nous vous ils elles ne n peut faut doit combien"
	switch w.fold {
	case "il":
		impersonal := is(at+1, "y faut s") || is(at-1, "t") && is(at-2, "a") && is(at-3, "y") || is(at-1, "faut")
		return !impersonal
	case "le", "la", "les", "l":
		return w.text != "là" && w.text != "Là" && is(at-1, subjects) && at+1 < len(words) && !words[at+1].capital && !words[at+1].name && !is(at-1, "ou") ||
			is(at-1, "compare montre resume explique donne dis") && strings.HasPrefix(w.gap, "-") || w.text == "là"
	case "y":
		return !is(at+1, "a") && !is(at-1, "il") // il y a
	case "en":
		return is(at-1, subjects+" quelle quel") && is(at+1, "a ai avons avez ont est etait etaient sont fait sait reste dit") || is(at-1, "d")
	case "lequel", "laquelle", "lesquels", "lesquelles":
		return true
	case "ce", "c":
		question := is(at-1, "est") && is(at+1, "que qu qui") // est-ce que
		return !question && (is(at+1, "etait est") && at > 0 || !is(at+1, "que qui qu est etait dont sont") && at+1 < len(words) && !words[at+1].pause)
	case "deux":
		return is(at-1, "les des ces")
	}
	return false
}

// languageOfWords returns the language of most words of a message, nil where none is known.
func languageOfWords(words []messageWord) (best *followLanguage) {
	most := 0
	for _, l := range followLanguages {
		n := 0
		for i := range words {
			if !words[i].name && l.function[words[i].fold] {
				n++
			}
		}
		if n > most {
			best, most = l, n
		}
	}
	return best
}

// special are words about which refers decides, whatever the lists say.
var special = followSet("it its that so there then one ones any some more else others former latter neither either both same two " +
	"davon dazu damit dafur dagegen daran daruber darin darauf danach dabei dort daraus darum dadurch da beide beiden das die der den dem sie ihr ihnen ihre ihren ihrem es " +
	"il le la les l y en lequel laquelle lesquels lesquelles ce c deux")

// pointsBack reports whether the word at a place stands for something that was said before.
func (l *followLanguage) pointsBack(words []messageWord, at int) bool {
	w := &words[at]
	switch {
	case w.name:
		return false
	case special[w.fold] && (l.pronouns[w.fold] || !l.pointing[w.fold]):
		return l.refers(words, at)
	case l.pointing[w.fold]:
		return at+1 >= len(words) || !l.times[words[at+1].fold]
	}
	return l.pronouns[w.fold]
}

// begins reports whether a message begins with one of some phrases, behind what greets or agrees.
func begins(words []messageWord, phrases []string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool { return phraseAt(words, 0, p) })
}

// has reports whether a phrase stands in a message.
func has(words []messageWord, phrases []string) bool {
	for i := range words {
		if begins(words[i:], phrases) {
			return true
		}
	}
	return false
}

func phraseAt(words []messageWord, at int, phrase string) bool {
	for p := range strings.FieldsSeq(phrase) {
		if at >= len(words) || words[at].name || words[at].fold != p {
			return false
		}
		at++
	}
	return true
}

package learn

import (
	"slices"
	"strings"
	"sync"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities"
)

// filler are words that tell nothing of what a statement is about.
var filler = set(`a an the this that these those it its i m d ll ve re t s me my mine myself we us our ours you your he him
	his she her they them their is am are was were be been being has have had do does did don isn would can could should
	to of for at by with from as and or so if than there here where which who whom whose what when how up down out off over
	please really very quite rather usually always often mostly generally about around into in on under
	der die das den dem des ein eine einen einem einer eines ich mir mich mein meine meinen meinem meiner meines wir uns unser
	unsere unseren unserem unserer sie er es ihr ihre sein seine dein deine du bin ist sind war waren habe hat haben hatte
	hatten wird werde werden wurde wurden zu zum zur für mit von vom bei beim auf an am im aus nach um als und oder dass da
	dort hier wo wer wie ganz gar überhaupt meistens meist immer oft eben herr uhr
	le la les l un une des du de j je moi mon ma mes nous notre nos vous votre il elle ils elles ce c cet
	cette ces qui que qu où suis es sommes est était étais ai as avons ont avait y en et ou pour par avec dans
	sur sous à au aux chez comme très toujours souvent d habitude tous toutes tout toute se lui leur bien beaucoup n ne
	lot lots viel viele
	el los las al del yo mi mis tu su sus te lo y o que con por para muy soy es está estoy eres era ha he han hemos tengo tiene
	siempre mucho mucha`)

// groups are words and rows of words that stand for the same thing, behind the name of that thing. A name that begins
// with @ is of a thing of which a person has one at a time: where two statements give it two values, one of them does not
// hold.
var groups = [][]string{
	{
		"@residence", "live in", "lives in", "living in", "reside in", "home is", "my home", "moved to", "relocated to", "my address is",
		"wohne", "wohnt", "wohnen", "zuhause", "umgezogen", "gezogen", "lebe in", "lebt in", "habite", "vis à", "vit à", "déménagé", "vivo en", "vive en", "mudé", "mudado", "mudó",
	},
	{
		"@employer", "work for", "work at", "works for", "works at", "working for", "working at", "employed by", "my employer is",
		"arbeite bei", "arbeitet bei", "arbeite jetzt bei", "mein arbeitgeber", "travaille chez", "travaille maintenant chez",
		"mon employeur", "trabajo en", "trabaja en", "trabajo para", "trabaja para",
	},
	{
		"@profession", "work as", "works as", "working as", "my job is", "my profession is", "arbeite als", "arbeitet als", "beruf ist",
		"travaille comme", "de métier", "mon métier",
	},
	{"@name", "called", "named", "name", "heißt", "heiße", "name", "namen", "s'appelle", "m'appelle", "nom", "me llamo", "se llama", "nombre"},
	{"@favourite", "favourite", "favorite", "préféré", "préférée"},
	{"@favourite colour", "lieblingsfarbe"},
	{"@birth", "born", "birthday", "birthdate", "geboren", "geburtstag", "né", "née", "anniversaire", "nací", "nació", "cumpleaños"},
	{"@age", "years old", "year old", "jahre alt", "歳"},
	{
		"@marriage", "single", "married", "divorced", "ledig", "verheiratet", "geheiratet", "geschieden", "célibataire",
		"marié", "mariée", "divorcé", "divorcée", "soltero", "soltera", "casado", "casada", "casé", "divorciado", "divorciada", "divorcié",
	},
	{"@phone", "phone", "smartphone", "iphone", "pixel", "android", "handy", "téléphone", "portable"},
	{"@bank", "bank", "banque"},
	{"@manager", "manager", "boss", "chef", "chefin", "cheffe", "vorgesetzter", "vorgesetzte"},
	{"@doctor", "my doctor", "my gp", "mein arzt", "meine ärztin", "mein hausarzt", "meine hausärztin", "mon médecin", "ma médecin"},
	{"@blood", "blood type", "blood group", "blutgruppe", "groupe sanguin"},
	{"@rent", "rent", "miete", "loyer", "alquiler", "家賃"},
	{
		"@car", "my car is", "drive a", "drive an", "mein auto ist", "fahre einen", "fahre jetzt einen", "ma voiture est", "conduis une",
		"conduis maintenant une",
	},

	{"like", "like", "likes", "love", "loves", "enjoy", "fond of", "mag", "liebe", "gern", "gerne", "mögen", "aime", "adore"},
	{"prefer", "prefer", "like best", "best", "liebsten", "bevorzuge", "préfère"},
	{"colour", "colour", "color", "farbe", "couleur"},
	{"goal", "goal", "want to", "plan to", "möchte", "will", "ziel", "veux", "but"},
	{"afraid", "afraid", "scared", "fear", "angst", "peur"},
	{"code", "code", "coding", "programming", "programmieren", "programmer"},
	{"use", "use", "using", "benutze", "benutzen", "nutze", "verwende", "utilise", "utilisons"},
	{"train", "train", "training", "workout", "workouts", "work out", "exercise", "trainiere", "entraîne", "entraîner"},
	{"car", "car", "auto", "voiture"},
	{"keep", "keep", "keeps", "lies", "liegt", "hängt", "garde"},
	{"deadline", "deadline", "due", "frist", "échéance"},
	{"buy", "bought", "purchased", "gekauft", "acheté"},
	{"meeting", "meeting", "meetings", "besprechung", "réunion"},
}

// opposites turn a statement about what they name around: who hates something does not like it.
var opposites = [][]string{
	{"like", "hate", "hates", "detest", "dislike", "can't stand", "cannot stand", "hasse", "hasst", "verabscheue", "déteste"},
}

// slight are things that a statement is hardly about: what somebody uses, likes or does is another thing.
var slight = set(`like prefer use go goes went gehe geht vais va make do want goal eat esse mange drink trinke bois take nehme
	prends play spiele joue speak spreche parle have train code write writing schreibe écrire get keep read lese lire visit
	reisen visiter allergic allergisch allergique allergie @name @favourite met kennengelernt rencontré purchase hurts weh mal
	work arbeite travaille run lauf month monat mois year jahr an cm km pound pounds euro euros pence hour hours stunde stunden heure heures week weeks woche semaine days tage jours`)

// relations are whom or what a statement may be about beside the person. Statements about two of them are about two things.
var relations = set(`sister brother mother father mum mom dad son daughter wife husband uncle aunt cousin friend partner girlfriend
	boyfriend neighbour neighbor colleague grandmother grandfather child children dog cat
	mutter vater sohn tochter frau mann onkel tante cousine freund freundin partnerin nachbar nachbarin kollege kollegin oma opa
	kind kinder hund katze
	hermana hermano madre padre hijo hija esposa marido tío tía amigo amiga novio novia vecino vecina perro gato
	妹 姉 兄 弟 母 父 息子 娘 妻 夫 叔父 叔母 友達 彼女 彼氏 犬 猫
	mère père fils fille femme mari oncle ami amie voisin voisine collègue enfant enfants chien chat`)

// changes are what people say when something is not as it was: what all rules read so, and what statements about a
// person say besides.
var changes = rows(changeWords...)

// newWords call something new, which may stand beside what was there.
var newWords = []string{"new", "neue", "neuen", "neues", "neuer", "nouvelle", "nouveau", "nouvel", "nuevo", "nueva"}

var changesButNew = rows(slices.DeleteFunc(slices.Clone(changeWords), func(w string) bool { return slices.Contains(newWords, w) })...)

var changeWords = append(slices.Concat(memory.ChangeWords, newWords),
	"relocated", "quit", "since", "nowadays", "given up", "gone up", "gone down", "went up", "went down", "got married",
	"got divorced", "sold", "has left", "became", "become", "retired", "was moved", "rescheduled", "postponed", "kein mehr",
	"keine mehr", "keinen mehr", "mehr", "seit", "ab jetzt", "ab sofort", "von nun an", "aufgehört", "aufgegeben",
	"umgestiegen", "verschoben", "gestiegen", "gesunken", "verkauft", "geheiratet", "früher", "ersetzt", "maintenant", "désormais", "dorénavant", "plus de", "ne plus", "plus", "n'est plus", "déménagé",
	"arrêté", "abandonné", "changé", "remplacé", "passé à", "passée à", "passés de", "passé de", "plutôt",
	"ces derniers temps", "ces temps-ci", "depuis peu", "depuis", "déplacée", "déplacé", "reporté", "reportée", "vendu",
	"partie", "marié en", "mariée en",
	"ahora", "ya no", "mudé", "mudado", "mudó", "a partir de ahora", "casé", "divorcié", "movido", "movida", "aplazado", "aplazada",
	"subido", "bajado", "subió", "bajó", "en vez de", "en lugar de", "dejé de", "dejado de", "cambié", "cambiado", "últimamente",
	"actualmente", "vendí", "vendido", "ya",
	"turned", "got engaged", "gezogen", "cumplí", "cumplió",
)

// additions are what people say when what held before still holds.
var additions = rows("too", "also", "as well", "another", "besides", "auch", "außerdem", "ebenfalls", "zusätzlich", "noch ein",
	"noch eine", "noch einen", "aussi", "également", "en plus", "encore un", "encore une",
	"también", "además", "otro", "otra")

// limits say that something holds at times only.
var limits = rows("only", "except", "unless", "sometimes", "mostly", "nur", "außer", "manchmal", "seulement", "sauf", "parfois", "solo", "sólo", "excepto",
	"a veces")

// suppositions are what people say of what might be.
var suppositions = rows("if", "would", "suppose", "imagine", "pretend", "wenn", "falls", "angenommen", "würde", "wäre", "hätte",
	"serait", "aurait", "imagine que", "supposons", "quisiera", "sería", "tendría")

// Words of "my key is under the mat".
var (
	definite = set(`the my our der die das mein meine unser unsere le la l les mon ma mes notre nos
		el los las mi mis`)
	copulas = set(`is are lies ist sind liegt hängt steht est sont es está`)
	places  = set(`under in on at behind inside beside below above unter im auf am hinter neben beim bei an sous dans sur derrière
		chez à au`)
)

// persons are words by which somebody speaks of himself.
var persons = set(`i my we our ich mein meine wir unser unsere je j mon ma mes nous notre yo mi mis me
		vivo trabajo tengo estoy soy como tomo`)

// set are words. Like rows and namesOf it is made at its first use, since a start of the program needs none.
func set(words string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		in := make(map[string]bool)
		for w := range strings.FieldsSeq(words) {
			in[entities.Fold(w)] = true
		}
		return in
	})
}

// rows are rows of words, by their first word.
func rows(texts ...string) func() map[string][][]string {
	return sync.OnceValue(func() map[string][][]string {
		of := make(map[string][][]string)
		for _, text := range texts {
			words := wordsOf(text)
			of[words[0]] = append(of[words[0]], words)
		}
		return of
	})
}

// namedWords is a row of words with the name of what it stands for.
type namedWords struct {
	row  []string
	name string
}

var groupNames, oppositeNames = namesOf(groups), namesOf(opposites)

// namesOf are the rows of groups, by their first word.
func namesOf(groups [][]string) func() map[string][]namedWords {
	return sync.OnceValue(func() map[string][]namedWords {
		of := make(map[string][]namedWords)
		for _, g := range groups {
			for _, text := range g[1:] {
				row := wordsOf(text)
				of[row[0]] = append(of[row[0]], namedWords{row, g[0]})
			}
		}
		return of
	})
}

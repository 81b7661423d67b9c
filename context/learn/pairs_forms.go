package learn

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/text"
)

// slots are what a person has one of at a time. What somebody owns, likes, eats or reads is none of them.
var (
	slotHome     = &slot{"home", isPlace}
	slotEmployer = &slot{"employer", isNamed}
	slotJob      = &slot{"job", isWork}
	slotName     = &slot{"name", isNamed}
	slotAge      = &slot{"age", isNumber}
	slotPartner  = &slot{"partner", isNamed}
	slotMarriage = &slot{"marriage", isState}
)

// slotForms are the statements that give a slot its value, per language. <who> is the holder, <v> the value, <old> the
// value before; a|b are alternatives. lightWords are left out before. To add a language: its lines here, and in the lists
// below.
var slotForms = []struct {
	*slot
	forms []string
}{
	{slotHome, []string{
		"i live|living|reside in <v>", "i am|m living in <v>", "i moved|relocated to <v>", "i moved|relocated from <old> to <v>",
		"my home is in <v>", "<who> lives in <v>", "<who> is living in <v>", "<who> moved|relocated to <v>",
		"<who> moved|relocated from <old> to <v>",

		"ich wohne|lebe in <v>", "wohne|lebe ich in <v>", "ich bin nach <v> umgezogen|gezogen", "ich zog nach <v>",
		"ich bin von <old> nach <v> umgezogen|gezogen", "bin ich nach <v> umgezogen|gezogen", "mein zuhause ist in <v>",
		"<who> wohnt|lebt in <v>", "<who> ist nach <v> umgezogen|gezogen", "<who> ist von <old> nach <v> umgezogen|gezogen",

		"j habite à|en|au <v>", "je vis|demeure à|en|au <v>", "j déménagé à|en|au <v>", "j déménagé de <old> à <v>",
		"<who> habite|vit à|en|au <v>", "<who> déménagé à|en|au <v>", "<who> déménagé de <old> à <v>",

		"vivo|resido en <v>", "yo vivo en <v>", "me mudé|mudado a <v>", "me mudé|mudado de <old> a <v>", "mi casa está en <v>",
		"<who> vive en <v>", "<who> se mudó|mudado a <v>", "<who> se mudó|mudado de <old> a <v>",
	}},
	{slotEmployer, []string{
		"i work|working for|at <v>", "i am|m employed by|at <v>", "i am|m working for|at <v>", "my employer is <v>",
		"<who> works for|at <v>", "i switched|changed from <old> to <v>",

		"ich arbeite bei|für <v>", "arbeite ich bei|für <v>", "mein arbeitgeber ist <v>", "<who> arbeitet bei|für <v>",

		"je travaille chez|pour <v>", "mon employeur est <v>", "<who> travaille chez|pour <v>",

		"trabajo en|para <v>", "yo trabajo en|para <v>", "mi empresa es <v>", "<who> trabaja en|para <v>",
	}},
	{slotJob, []string{
		"i work as <v>", "i am|m working as <v>", "my job|profession|occupation is <v>", "<who> works as <v>",

		"ich arbeite als <v>", "arbeite ich als <v>", "mein beruf ist <v>", "<who> arbeitet als <v>",

		"je travaille comme <v>", "<who> travaille comme <v>",

		"trabajo como|de <v>", "yo trabajo como|de <v>", "mi profesión es <v>", "<who> trabaja como|de <v>",
	}},
	{slotName, []string{
		"my name is <v>", "i am|m called|named <v>", "my <who> is called|named <v>", "i changed my name to <v>", "my <who> s name is <v>",

		"ich heiße <v>", "mein name ist <v>", "mein|meine <who> heißt <v>", "heiße ich <v>",

		"je m appelle <v>", "mon nom est <v>", "mon|ma <who> s appelle <v>",

		"me llamo <v>", "mi nombre es <v>", "mi <who> se llama <v>",
	}},
	{slotAge, []string{
		"i am|m <v>", "i am|m <v> years old", "<who> is|turned <v> years old", "<who> is|turned <v>", "i turned <v>",

		"ich bin <v> jahre alt", "ich bin <v>", "<who> ist <v> jahre alt", "bin ich <v> jahre alt", "<who> ist <v>",

		"j <v> ans", "<who> a <v> ans", "<who> <v> ans",

		"tengo <v> años", "<who> tiene <v> años", "<who> cumplió <v> años", "cumplí <v> años",
	}},
	{slotMarriage, []string{
		"i am|m <v>", "i got <v>", "i am|m in a <v>", "<who> is|got <v>",
		"ich bin <v>", "ich habe <v>", "<who> ist|hat <v>",
		"je suis <v>", "je me suis <v>", "je suis <v>", "<who> est|s <v>",
		"estoy|soy <v>", "me <v>", "<who> está <v>",
	}},
	{slotPartner, []string{
		"my wife|husband|partner|girlfriend|boyfriend is called|named <v>", "i am|m married to <v>", "i am|m engaged to <v>",
		"mein|meine mann|frau|freund|freundin|partner|partnerin heißt <v>", "ich bin mit <v> verheiratet|zusammen",
		"je suis marié|mariée|fiancé|fiancée à|avec <v>",
		"estoy casado|casada|prometido|prometida con <v>",
	}},
}

// form is one of slotForms, read.
type form struct {
	*slot
	words [][]string
}

var forms = sync.OnceValue(func() (list []form) {
	for _, s := range slotForms {
		for _, text := range s.forms {
			f := form{slot: s.slot}
			for word := range strings.FieldsSeq(text) {
				if word[0] != '<' {
					word = entities.Fold(word)
				}
				f.words = append(f.words, strings.Split(word, "|"))
			}
			list = append(list, f)
		}
	}
	return list
})

// lightWords stand in a statement that gives a slot its value, and do not change which one.
var lightWords = rows("now", "currently", "just", "finally", "recently", "meanwhile", "these days", "nowadays", "from now on",
	"have", "ve", "has", "had", "been", "actually", "as of now",
	"jetzt", "nun", "inzwischen", "mittlerweile", "neuerdings", "gerade", "seit kurzem", "ab jetzt", "ab sofort", "derzeit",
	"maintenant", "désormais", "dorénavant", "actuellement", "depuis peu", "enfin", "récemment", "ai", "viens de", "ces temps ci",
	"ahora", "actualmente", "desde ahora", "recientemente", "últimamente", "he", "ha", "acabo de", "por fin", "ya")

// endingWords say, around others, that something is no longer so; each word of a line is found behind the one before.
var endingWords = sync.OnceValue(func() (list [][][]string) {
	for _, line := range []string{
		"no longer", "not|t any more|longer", "not|t anymore", "nicht mehr", "n|ne plus", "ya no", "no más",
	} {
		var words [][]string
		for w := range strings.FieldsSeq(line) {
			words = append(words, strings.Split(entities.Fold(w), "|"))
		}
		list = append(list, words)
	}
	return list
})

// strongChanges are words of change that leave what a statement is about as it is. "New" is none of them: a new lamp is
// another lamp.
var strongChanges = rows("now", "currently", "from now on", "these days", "nowadays", "meanwhile", "has been", "have been", "has", "instead",
	"was", "moved", "rescheduled", "postponed", "brought forward", "changed", "gone up", "gone down", "went up", "went down", "risen",
	"increased", "rose", "fell", "fallen", "dropped", "raised", "as of today",
	"jetzt", "inzwischen", "mittlerweile", "neuerdings", "ab jetzt", "ab sofort", "von nun an", "wurde", "wurden", "verschoben",
	"verlegt", "gestiegen", "gesunken", "erhöht", "geändert", "stattdessen",
	"maintenant", "désormais", "dorénavant", "a été", "ai", "déplacée", "déplacé", "reporté", "reportée", "avancé", "avancée", "passé",
	"passée", "augmenté", "baissé",
	"ahora", "desde ahora", "a partir de ahora", "ha", "sido", "se ha", "aplazado", "aplazada", "movido", "movida", "pasado", "pasada",
	"subido", "bajado", "cambiado", "se pasó", "se movió", "subió", "bajó", "últimamente")

// recentWords say at the end of a statement that something changed in these days.
var recentWords = rows("today", "yesterday", "last week", "last month", "this week", "this month", "this year", "last year",
	"heute", "gestern", "letzte woche", "letzten monat", "diese woche", "diesen monat", "dieses jahr",
	"hier", "la semaine dernière", "le mois dernier", "cette semaine", "ce mois ci", "cette année",
	"hoy", "ayer", "la semana pasada", "el mes pasado", "esta semana", "este mes", "este año")

// regions are countries and parts of the world: who lives in one may live in a town of it as well.
var regions = phraseSet(`england, scotland, wales, ireland, britain, great britain, uk, united kingdom, usa, us, united states, america,
	germany, france, spain, italy, austria, switzerland, portugal, poland, norway, sweden, denmark, finland, netherlands, belgium,
	greece, turkey, russia, ukraine, japan, china, india, korea, brazil, argentina, mexico, chile, canada, australia, new zealand,
	europe, asia, africa, california, texas, bavaria, saxony, iceland, hungary, czechia, croatia, egypt, morocco, thailand, vietnam,
	deutschland, frankreich, spanien, italien, österreich, schweiz, polen, norwegen, schweden, dänemark, finnland, niederlande,
	belgien, griechenland, türkei, russland, bayern, sachsen, hessen, schottland, irland, großbritannien, kanada, australien,
	europa, asien, afrika, island, ungarn, tirol, steiermark,
	allemagne, espagne, italie, autriche, suisse, pologne, norvège, suède, danemark, finlande, pays bas, belgique, grèce, turquie,
	russie, japon, chine, inde, brésil, argentine, mexique, chili, angleterre, écosse, irlande, bretagne, normandie, provence,
	maroc, tunisie, algérie, québec, alsace,
	alemania, francia, españa, italia, suiza, polonia, noruega, suecia, dinamarca, finlandia, holanda, bélgica, grecia, turquía,
	rusia, japón, brasil, méxico, perú, colombia, uruguay, venezuela, ecuador, bolivia, inglaterra, escocia, irlanda, andalucía,
	cataluña, galicia, estados unidos,
	日本, ドイツ, フランス, スペイン, イタリア, イギリス, アメリカ, 中国, 韓国, カナダ, オーストラリア, 九州, 北海道, 関東, 関西, 四国`)

// notPlaces are written with a capital letter behind "moved to", and are no places: programs, companies, departments.
var notPlaces = set(`linux windows mac macos android ios iphone vim emacs slack teams python rust go linear jira notion obsidian
	apple google microsoft amazon meta siemens bosch sap ibm intel samsung sony toyota bmw volkswagen daimler airbus boeing
	marketing sales support finance engineering accounting hr it legal operations design research vertrieb einkauf buchhaltung
	ventas finanzas compras ventes achats finances`)

// notNames are written with a capital letter at the beginning of a sentence.
var notNames = set(`ich er sie es wir i we je yo`)

// states are the values of a slot, by the words for them.
var states = sync.OnceValue(func() map[string]string {
	of := make(map[string]string)
	for state, words := range map[string]string{
		"single":   "single, ledig, célibataire, soltero, soltera, 独身",
		"married":  "married, verheiratet, geheiratet, marié, mariée, casado, casada, casé, 結婚",
		"divorced": "divorced, geschieden, divorcé, divorcée, divorciado, divorciada, divorcié, 離婚",
		"engaged":  "engaged, verlobt, fiancé, fiancée, prometido, prometida, 婚約",
		"widowed":  "widowed, verwitwet, veuf, veuve, viudo, viuda",
	} {
		for w := range phraseSet(words)() {
			of[w] = state
		}
	}
	return of
})

var (
	// ownWords stand before the holder of a slot who belongs to the person.
	ownWords = set(`my mein meine meiner mon ma mi`)
	// notHolders are in no name of a holder: what has them tells of another thing, or of nobody who is known.
	notHolders = set(`i we you he she it they who in of at for from to and or office company team meeting
		ich wir du er sie es wer von und büro firma
		je j nous tu il elle on de et bureau
		yo nosotros él ella de y oficina que me se no
		there today dort hoy`)
	articles  = set(`a an the der die das den dem ein eine einen einem la le l les un une el los las una`)
	particles = set(`of de la le du am an der den im in upon del los las y and und et sur the`)
	inWords   = set(`in im en`)
	notWork   = set(`part time freelance second side temporary weekend weekends evenings occasional volunteer for at in on with to of and or
		nebenbei ehrenamtlich für bei mit am im und oder teilzeit freiberuflich
		à pour le en avec et bénévole indépendant
		por para con los y voluntario autónomo tiempo`)
	// beforeAmounts stand between a thing and its number or day, and say nothing else.
	beforeAmounts = set(`costs beträgt kostet coûte cuesta de is are on at to by was are in auf am ist um sind est à au le sont es está a el al son en los`)
	// severalWords are of what a person does or has more than one of: two statements with them may both hold.
	severalWords = set(`own owns like likes love loves eat eats read reads bought buy met visited ran saw watched ate new another old
		besitze besitzt mag liebe esse isst lese liest gekauft kaufte traf besuchte lief neu neue neuen neuer neues
		possède aime adore mange lis lit acheté rencontré visité couru nouveau nouvelle nouvel
		poseo gusta gustan como come leo lee compré comprado visité corrí vi nuevo nueva`)
)

func phraseSet(list string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		in := make(map[string]bool)
		for phrase := range strings.SplitSeq(list, ",") {
			in[entities.Fold(strings.Join(strings.Fields(phrase), " "))] = true
		}
		return in
	})
}

// Japanese sets no blanks: its forms are expressions over the text without the words of japaneseLight.

// japanese reports whether a text has letters of Japanese alone.
func japanese(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.In(r, unicode.Hiragana, unicode.Katakana) })
}

var japaneseLight = []string{"今は", "今では", "現在は", "現在", "最近", "いまは", "このたび", "これからは", "、", "。", " ", "　"}

// japaneseChanges say that something is not as it was.
var japaneseChanges = []string{
	"今は", "今では", "現在は", "これからは", "引っ越し", "引越し", "移りました", "転職し", "転勤し", "になりました", "になった", "変わりました", "変わった",
	"変更", "延期", "もう", "やめ", "辞め", "代わりに", "上がりました", "上がった", "下がりました", "改名し", "結婚しました", "離婚しました", "乗り換え", "切り替え",
	"今度から", "最近は",
}

var japaneseAdditions = []string{"も", "ほかに", "さらに"}

var japaneseLimits = []string{"だけ", "のみ", "時々", "ときどき", "週末", "の間", "とき"}

const japaneseHolder = `(?:私は|僕は|俺は|わたしは|(?P<who>[^はがをもにで]{1,12})は)?`

type japaneseForm struct {
	*slot
	pattern func() *regexp.Regexp
}

var japaneseForms = []japaneseForm{
	{slotHome, text.Pattern(`^` + japaneseHolder + `(?P<v>[^はがをもにでと]{1,12})に(?:住んでいます|住んでいる|住んでます|引っ越しました|引っ越した|引越しました|移りました)$`)},
	{slotHome, text.Pattern(`^` + japaneseHolder + `(?P<old>[^はがをもにでと]{1,12})から(?P<v>[^はがをもにでと]{1,12})(?:に|へ)(?:引っ越しました|引っ越した|移りました)$`)},
	{slotEmployer, text.Pattern(`^` + japaneseHolder + `(?P<v>[^はがをもにでと]{1,16})(?:で働いています|で働いている|に勤めています|に勤めている|に転職しました|に転職した)$`)},
	{slotJob, text.Pattern(`^` + japaneseHolder + `(?P<v>[^はがをもにでと]{1,12})として働いて(?:います|いる)$`)},
	{slotJob, text.Pattern(`^(?:私の)?(?:仕事|職業)は(?P<v>[^はがをもにでと]{1,12})(?:です|になりました|に変わりました)$`)},
	{slotName, text.Pattern(`^(?:私の)?名前は(?P<v>[^はがをもにでと]{1,16})(?:です|になりました|に変わりました)$`)},
	{slotAge, text.Pattern(`^` + japaneseHolder + `(?P<v>\d{1,3})歳(?:です|だ|になりました|になった)$`)},
	{slotMarriage, text.Pattern(`^` + japaneseHolder + `(?P<v>独身|結婚|離婚|婚約)(?:です|しています|しました|した)$`)},
}

func japaneseSlot(statement string) *slotValue {
	plain := strings.TrimSuffix(entities.Fold(statement), "。")
	for _, w := range japaneseLight {
		plain = strings.ReplaceAll(plain, w, "")
	}
	for _, f := range japaneseForms {
		m := f.pattern().FindStringSubmatch(plain)
		if m == nil {
			continue
		}
		v := &slotValue{slot: f.slot}
		for i, name := range f.pattern().SubexpNames() {
			switch name {
			case "who":
				v.holder = m[i]
			case "v":
				v.value = m[i]
				if state := states()[m[i]]; state != "" {
					v.value = state
				}
			case "old":
				v.left = m[i]
			}
		}
		return v
	}
	return nil
}

var (
	japaneseNumber = text.Pattern(`\d+(?:[.,:]\d+)*|[月火水木金土日]曜日?`)
	japaneseEnd    = text.Pattern(`(?:です|だ|ます|になりました|になった|に変わりました|に変更されました|に変更になりました|に延期されました|に延期になりました|に上がりました|に上がった|に下がりました|に増えました|に減りました)$`)
)

// japaneseAmount reads what is said of a thing: "家賃は9万円です".
func japaneseAmount(statement string) *amount {
	plain := entities.Fold(statement)
	for _, w := range japaneseLight {
		plain = strings.ReplaceAll(plain, w, "")
	}
	end := japaneseEnd().FindStringIndex(plain)
	if end == nil || strings.Contains(plain, "も") || strings.Contains(plain, "新し") {
		return nil
	}
	plain = plain[:end[0]]
	a := &amount{values: japaneseNumber().FindAllString(plain, -1)}
	a.frame = japaneseNumber().ReplaceAllString(plain, "#")
	a.several = slices.ContainsFunc([]string{"好き", "食べ", "読", "買", "持って"}, func(w string) bool { return strings.Contains(plain, w) })
	return a
}

// japaneseWords are the runs of Chinese characters and of Katakana of a word of Japanese, which carry what it is about, and
// what denies it. O(word).
func japaneseWords(word string) (list []string) {
	denies := slices.ContainsFunc([]string{"ません", "ない", "なかった", "やめ", "辞め"}, func(w string) bool { return strings.Contains(word, w) })
	for _, w := range japaneseChanges {
		word = strings.ReplaceAll(word, w, " ")
	}
	list = strings.FieldsFunc(word, func(r rune) bool {
		return !unicode.In(r, unicode.Han, unicode.Katakana, unicode.Digit) && r != 'ー'
	})
	if denies {
		list = append(list, "not")
	}
	return list
}

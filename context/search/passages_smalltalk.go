package search

import (
	"strings"

	"github.com/ctxd/ctxd/context/search/text"
	entitiestext "github.com/ctxd/ctxd/entities/text"
)

// smallTalk are words of greetings, thanks, and assent in several languages, folded. A
// message of such words alone asks for nothing.
var smallTalk = wordSet(`hi hello hey hiya yo thanks thank you thx ty cheers please ok okay k yes no yep nope sure great
	cool nice good morning evening afternoon night bye goodbye very much so lol haha wow perfect fine
	hallo moin servus guten tag morgen abend nacht danke schon bitte vielen dank ja nein gut tschuss
	bonjour bonsoir salut merci beaucoup oui non d accord au revoir bien
	hola gracias buenos buenas dias tardes noches muchas si vale adios
	ciao grazie mille buongiorno buonasera va bene prego
	ola obrigado obrigada bom dia boa tarde noite
	hoi je wel bedankt goedemorgen czesc dzieki dziekuje привет спасибо здравствуйте`)

// smallTalkWhole are such messages in languages without blanks between words.
var smallTalkWhole = wordSet(`你好 您好 谢谢 多谢 好的 再见 早上好 晚安 こんにちは おはよう おはようございます こんばんは ありがとう
	ありがとうございます はい 안녕 안녕하세요 감사합니다 고마워요 네 สวัสดี ขอบคุณ`)

// requestWords are words that ask for something and name nothing, folded and without accents. They are what is left of a
// message such as "tell me about #42", whose subject is a reference.
var requestWords = wordSet(`tell show give explain describe summarise summarize about of on for to the a an this that these
	those and or with what how is are can could would you
	erzahl erzahle zeig zeige erklar erklare beschreib beschreibe was ist uber von mit zu
	parle explique montre de sur cuentame explica muestrame`)

// addressees are words for the person that ask for nothing directly after a word of askFor, as in "tell me".
// Elsewhere they are what the message is about.
var (
	addressees = wordSet(`me us mir uns moi nous`)
	askFor     = wordSet(`tell show give erzahl erzahle zeig zeige erklar erklare parle explique montre`)
)

func wordSet(list string) map[string]bool {
	set := make(map[string]bool)
	for w := range strings.FieldsSeq(list) {
		set[entitiestext.Fold(w)] = true
	}
	return set
}

// AsksNothing reports whether a message has no words, or only those of a greeting, of
// thanks or of assent ("hi", "thank you very much"), or only words that ask for what something
// else names ("tell me about"). O(length of the message).
func AsksNothing(message string) bool { return hasOnly(message, true) }

// IsSmallTalk reports whether a message has no words, or only those of a greeting, of thanks or of assent. O(length of the
// message).
func IsSmallTalk(message string) bool { return hasOnly(message, false) }

// hasOnly reports whether a message has no other words than those of small talk and, with requests, of asking for something.
func hasOnly(message string, requests bool) bool {
	whole := strings.TrimFunc(message, func(r rune) bool { return strings.ContainsRune(" \t\r\n!.?,。！？、~", r) })
	if smallTalkWhole[entitiestext.Fold(whole)] {
		return true
	}
	var split text.Splitter
	asks := false
	afterAskFor := false
	split.Split(message, func(t text.Token) {
		if asks || t.Symbol {
			return
		}
		word := string(t.Text)
		asks = !smallTalk[word] && !(requests && (requestWords[word] || afterAskFor && addressees[word]))
		afterAskFor = askFor[word]
	})
	return !asks
}

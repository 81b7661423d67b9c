package searchtest

import (
	"math/rand/v2"
	"strings"
	"unicode"
)

// Script is a sentence of a language.
type Script struct{ Name, Said string }

// Scripts are sentences of languages whose texts are split in different ways.
var Scripts = []Script{
	{"english", "The beekeepers weighed their hives in the evening and wrote the figures down, because a colony that grows lighter in spring may starve."},
	{"german", "Die Imker wogen ihre Völker am Abend und schrieben die Maße auf, weil ein Volk, das im Frühling leichter wird, verhungern könnte."},
	{"french", "Les apiculteurs pesaient leurs ruches à l’entrée de l’été, là où la récolte s’était arrêtée, et notaient les chiffres relevés."},
	{"russian", "Пчеловоды взвешивали ульи вечером и записывали цифры, потому что семья, которая весной становится легче, может погибнуть."},
	{"greek", "Οι μελισσοκόμοι ζύγιζαν τις κυψέλες το βράδυ και σημείωναν τους αριθμούς, γιατί ένα μελίσσι που ελαφραίνει πεινάει."},
	{"hebrew", "הדבוראים שקלו את הכוורות בערב ורשמו את המספרים, כי משפחה שנעשית קלה יותר באביב עלולה לרעוב."},
	{"arabic", "وَزَنَ النَّحَّالُونَ خلاياهم في المساء وكتبوا الأرقام لأن الطائفة التي تصبح أخف في الربيع قد تجوع."},
	{"hindi", "मधुमक्खी पालकों ने शाम को अपने छत्तों का वज़न किया और आँकड़े लिख लिए, क्योंकि वसंत में हल्का होने वाला छत्ता भूखा रह सकता है।"},
	{"thai", "คนเลี้ยงผึ้งชั่งน้ำหนักรังผึ้งในตอนเย็นและจดตัวเลขไว้ เพราะรังที่เบาลงในฤดูใบไม้ผลิอาจอดอาหารได้"},
	{"chinese", "养蜂人在傍晚称了蜂箱的重量，并记下了数字，因为春天变轻的蜂群可能会饿死。"},
	{"japanese", "養蜂家は夕方に巣箱の重さを量り、数字を書き留めた。春に軽くなるコロニーは飢えるかもしれないからだ。"},
	{"korean", "양봉가들은 저녁에 벌통의 무게를 재고 숫자를 적어 두었다. 봄에 가벼워지는 봉군은 굶을 수 있기 때문이다."},
	{"emoji", "Bees 🐝 make honey 🍯, beekeepers 👩🏽‍🌾 from 🇩🇪 and 🇫🇷 pay in € or ₿ and press ⌘ ❤️ now."},
}

// Text makes a text of about so many bytes out of the words of the sentence, or of its
// characters with their marks where there are no blanks. The same seed makes the same.
func (s Script) Text(size int, seed uint64) string {
	blank := " "
	words := strings.Fields(s.Said)
	if len(words) < 8 {
		words, blank = characters(s.Said), ""
	}
	r := rand.New(rand.NewPCG(1, seed)) //nolint:gosec // the same text each time
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(words[r.IntN(len(words))] + blank)
	}
	return b.String()
}

// characters are those of a text, with their marks: a mark alone is in no text that people
// write.
func characters(text string) (list []string) {
	for _, r := range text {
		if unicode.IsMark(r) && len(list) > 0 {
			list[len(list)-1] += string(r)
		} else {
			list = append(list, string(r))
		}
	}
	return list
}

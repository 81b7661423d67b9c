package text_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/search/text"
)

// scripts are sentences of languages whose texts are split in different ways.
var scripts = []struct{ name, said string }{
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

// written makes a text of about so many bytes out of the words of a sentence, or of its
// characters where there are no blanks.
func written(said string, size int) string {
	blank := " "
	words := strings.Fields(said)
	if len(words) < 8 {
		words, blank = strings.Split(said, ""), ""
	}
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(words[r.IntN(len(words))] + blank)
	}
	return b.String()
}

// BenchmarkSplit is what it takes to split a text, by script: a write of many megabytes in
// any of them is to take at most five times what English takes.
func BenchmarkSplit(b *testing.B) {
	for _, c := range scripts {
		b.Run(c.name, func(b *testing.B) {
			t := written(c.said, 1<<20)
			var s text.Splitter
			b.SetBytes(int64(len(t)))
			b.ReportAllocs()
			tokens := 0
			for b.Loop() {
				tokens = 0
				s.Split(t, func(text.Token) { tokens++ })
			}
			b.ReportMetric(float64(tokens), "tokens")
		})
	}
}

package text

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func split(text string) (list []Token, texts []string) {
	var s Splitter
	s.Split(text, func(t Token) {
		texts = append(texts, string(t.Text))
		t.Text = nil
		list = append(list, t)
	})
	return list, texts
}

func TestSRCH2_Words(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "",
		"Hello, World!":                  "hello|world",
		"foo_bar-baz example.com a/b.md": "foo|bar|baz|example|com|a|b|md",
		"3.14 1,000 1,2,3 1,000€ v1.2.3": "3.14|1000|1|2|3|1000|€|v1.2.3",
		"can't Anna's we're l'eau O'Brien 'quoted'":    "can't|anna|we|l|eau|o|brien|quoted",
		"can’t Anna’s l’eau":                           "can't|anna|l|eau",
		"Café CAFÉ café Straße STRASSE Ωμέγα Łódź Ærø": "cafe|cafe|cafe|strasse|strasse|ωμεγα|lodz|aero",
		"ﬁne Ｆｕｌｌ Ⅳ x²":                                "fine|full|iv|x|2",
		"soft\u00adhyphen":                             "softhyphen",
		"東京タワー":                                        "東京|京タ|タワ|ワー|ー",
		"日":                                            "日",
		"ガﾞ ｶﾞ が が":                                    "ガ\u3099|ガ|が|が",
		"iPhone用ケース":                                   "iphone|用ケ|ケー|ース|ス",
		"한국어":                                          "한국|국어|어",
		"שָׁלוֹם שלום צה״ל":                            "שלום|שלום|צה״ל",
		"مُحَمَّد محمد الأَحَد الاحد مـــحمد": "محمد|محمد|الاحد|الاحد|محمد",
		"हिन्दी":                    "हिन्दी",
		"привет Ёлка елка":          "привет|елка|елка",
		"ไทย":                       "ไท|ทย|ย",
		"🐝 bee🙂bee -- !!":           "🐝|bee|🙂|bee",
		"R&D C++ C# a/b #tag a_b":   "r|&|d|c|+|+|c|a|b|tag|a|b",
		"🇩🇪🇫🇷 🇩 x🇩🇪":                "🇩🇪|🇫🇷|🇩|x|🇩🇪",
		"❤️ ❤ 👍🏽 👍 👩🏽‍🌾 🏽":          "❤|❤|👍|👍|👩‍🌾|🏽",
		"→⌘₿€™ 5㎏ ≠ §7 10%":         "→|⌘|₿|€|tm|5|kg|≠|§|7|10|%",
		"“a” (b) [c] – … · • d。「e」": "a|b|c|d|e",
		"漢🐝字 ก€":                    "漢|🐝|字|ก|€",
		"İstanbul":                  "istanbul",
		strings.Repeat("x", 100):    strings.Repeat("x", MaxWord),
		strings.Repeat("é", 100):    strings.Repeat("e", MaxWord),
		"\xff\xfebad\xff utf8\xf0":  "bad|utf8",
	} {
		list, texts := split(text)
		if got := strings.Join(texts, "|"); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
		for _, tok := range list {
			if tok.Start >= tok.End || tok.End > len(text) {
				t.Errorf("%q: a word from %d to %d", text, tok.Start, tok.End)
			}
		}
	}
	list, _ := split("x Anna’s 東京都")
	for i, want := range []string{"x", "Anna", "東京", "京都", "都"} {
		if got := "x Anna’s 東京都"[list[i].Start:list[i].End]; got != want {
			t.Errorf("word %d stands at %q, want %q", i, got, want)
		}
	}
	if !list[4].Last || list[3].Last {
		t.Error("the last character of a run is marked, and no other")
	}
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{"a'b", "1,000", "東京タ\u3099", "x\xffy", "’’", "צה״ל", "a\u00ad", "ﾞｶﾞ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, texts := split(text)
		for i, tok := range list {
			if tok.Start < 0 || tok.Start >= tok.End || tok.End > len(text) || texts[i] == "" {
				t.Fatalf("%q: word %q from %d to %d", text, texts[i], tok.Start, tok.End)
			}
			if i > 0 && tok.Start < list[i-1].Start {
				t.Fatalf("%q: words out of order", text)
			}
			if utf8.ValidString(text) && !utf8.ValidString(texts[i]) {
				t.Fatalf("%q: word %q", text, texts[i])
			}
		}
	})
}

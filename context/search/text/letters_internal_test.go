package text

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/clipperhouse/uax29/v2/words"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/fixtures/campaign"
)

// splitPlainly is Split without letters: words that are not of ASCII alone are found segment
// by segment, by the rules of UAX 29, and each character is looked at several times.
func splitPlainly(text string) (list []tokenOf) {
	var s Splitter
	emit := func(t Token) { list = append(list, keep(t)) }
	for i := 0; i < len(text); {
		kind := kinds[text[i]]
		switch {
		case kind == blank:
			i++
			continue
		case kind == symbol && (i+1 == len(text) || kinds[text[i+1]] != foreign):
			i = s.symbol(text, i, i+1, emit)
			continue
		case kind == letter:
			end := s.ascii(text, i, emit)
			if end > i {
				i = end
				continue
			}
		}
		end := stretchOf(text, i)
		for i < end {
			i = s.paired(text, i, emit)
			for seg := words.FromString(text[i:end]); seg.Next(); {
				next := i + seg.End()
				s.segment(text, i+seg.Start(), next, emit)
				if r, _ := decode(text[next:]); next == end || s.goesOn(classOf(r).is) || classOf(r).is&isPaired != 0 {
					i = next
					break
				}
			}
		}
		s.endRun(text, emit)
	}
	return list
}

// tokenOf is a Token to be compared.
type tokenOf struct {
	Token
	text string
}

func keep(t Token) tokenOf {
	text := string(t.Text)
	t.Text = nil
	return tokenOf{t, text}
}

func sameToken(a, b tokenOf) bool {
	return a.text == b.text && a.Start == b.Start && a.End == b.End && a.Last == b.Last && a.Symbol == b.Symbol
}

// sameWords fails when a text is split otherwise than plainly.
func sameWords(fail func(string, ...any), text string) {
	var got []tokenOf
	var s Splitter
	s.Split(text, func(t Token) { got = append(got, keep(t)) })
	want := splitPlainly(text)
	if !slices.EqualFunc(got, want, sameToken) {
		fail("%+q is split into %+v, want %+v", text, got, want)
	}
}

// pieces are what of texts is split in different ways.
var pieces = []string{
	"a", "é", "can’t", "l’", "'s", "’ll", "'t", "’", "'", `"`, "״", "׳", "1", "1.5", "1,000", "²", "Ⅳ", "٣", "٫", "½",
	".", ",", ":", "·", "-", "_", "‿", "(", "!", "،", "؟", "。", "…", " ", "\u00a0", "\u2028", "\u0085", "\t", "/",
	"א", "שלום", "ב", "ع", "مُ", "ـ", "ي", "\u064b", "ñ", "ï", "ß", "ς", "Ё", "й", "अ", "क्ष", "\u093c", "ਪੰ",
	"ก", "น้ำ", "漢", "カ", "ｶ", "ﾞ", "が", "한", "ᄒ", "\u1161", "ᆫ", "ー", "ᦀ", "ཀ", "ꦏ", "𐐀", "𞤀", "𝒜", "\U00020000",
	"\u0301", "\u0323", "\u200d", "\u200c", "\u00ad", "\ufe0f", "\u20e3", "\u200b", "\u0600", "\u070f", "\u2060", "\ufeff",
	"🐝", "👩🏽\u200d🌾", "🇩", "🇪", "❤️", "€", "+", "#", "ℹ", "Ⓜ", "‼", "™", "㊗", "㎏", "\xff", "\xf0\x9f", "\ufffd",
}

// TestSRCH2_WordsOfLettersAreThoseOfTheirSegments splits texts of all kinds of characters as
// quickly as Split does, and by the rules alone.
func TestSRCH2_WordsOfLettersAreThoseOfTheirSegments(t *testing.T) {
	for _, a := range pieces {
		for _, b := range pieces {
			for _, c := range []string{"", "'s", ".5"} {
				sameWords(t.Fatalf, "ё"+a+b+c)
			}
		}
	}
	for _, said := range []string{
		"Die Völker, die im Frühling (leicht) werden: 3,5 kg.", "là où l’été s’était arrêté aujourd’hui",
		"Ёлка, ульи и записывали; цифры?", "γιατί ένα μελίσσι που ελαφραίνει πεινάει…", "צה״ל, ק\"מ וה-IDF.",
		"وَزَنَ النَّحَّالُونَ، خلاياهم؟", "मधुमक्खी पालकों ने शाम को आँकड़े लिख लिए।", "iPhone用ケース 한국어로a",
	} {
		sameWords(t.Fatalf, said)
	}
	piece := rapid.OneOf(rapid.SampledFrom(pieces), rapid.StringN(1, 1, -1),
		rapid.StringOfN(rapid.RuneFrom(nil, unicode.M, unicode.L, unicode.N, unicode.Cf), 1, 2, -1))
	rapid.Check(t, func(t *rapid.T) {
		sameWords(t.Fatalf, strings.Join(rapid.SliceOfN(piece, 1, 30).Draw(t, "pieces"), ""))
	})
}

// TestSRCH2_EveryCharacterStandsInWordsAsUAX29Says splits each character between others.
func TestSRCH2_EveryCharacterStandsInWordsAsUAX29Says(t *testing.T) {
	campaign.Only(t)
	tried := 0
	for r := rune(0); r < pageCount*pageSize; r++ {
		alike := 0x3500 <= r && r < 0x9F00 || 0xAC00 <= r && r < 0xD7A4 || 0xD800 <= r && r < 0xF900 ||
			!unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.C)
		if alike && r%31 != 0 {
			continue
		}
		tried++
		for _, around := range [...]string{"é%é", "é1%1", "א%א", "%é", "é%'s", "%\u0301é", "é\u200d%a", "ก%é"} {
			sameWords(t.Fatalf, strings.Replace(around, "%", string(r), 1))
		}
	}
	if tried < 25_000 {
		t.Errorf("%d characters were tried", tried)
	}
}

// TestSRCH2_SymbolsAreNormalAsTheirCharactersAre looks at each character alone and behind
// a symbol.
func TestSRCH2_SymbolsAreNormalAsTheirCharactersAre(t *testing.T) {
	fast := 0
	for r := rune(0); r < pageCount*pageSize; r++ {
		for _, text := range [...]string{string(r), "€" + string(r)} {
			got, want := isNormalString(text), norm.NFKC.IsNormalString(text)
			if got != want {
				t.Fatalf("%+q is normal: %v, want %v", text, got, want)
			}
		}
		if classOf(r).is&isNormal != 0 {
			fast++
		}
	}
	if fast < 50_000 {
		t.Errorf("%d characters are normal by themselves", fast)
	}
}

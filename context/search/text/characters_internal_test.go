package text

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/fixtures/campaign"
)

// TestSRCH2_CharactersFoldAsWordsDo compares the folds of characters, which are looked up
// one by one, with those of words as a whole: each character between others of its kind,
// and on and below letters of all kinds.
func TestSRCH2_CharactersFoldAsWordsDo(t *testing.T) {
	campaign.Only(t)
	around := []string{"%", "a%", "%b", "é%\u0301", "ไ%่", "क%\u094d", "न%\u093c", "%\u093c", "र\u094d%", "が%\u3099", "한%\u11a8", "ا%\u064b", "א%\u05b0", "e%\u0323\u0301", "α%\u0345", "ç\u0327%"}
	looked := 0
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		if r >= 0x30000 && r%97 != 0 || 0xD800 <= r && r < 0xE000 {
			continue
		}
		if 0x4E00 <= r && r < 0x9F00 && r%13 != 0 || 0xAC00 <= r && r < 0xD7A4 && r%13 != 0 || 0x20000 <= r && r%13 != 0 {
			continue // they are alike
		}
		for _, a := range around {
			if r > 0xFFFF && strings.ContainsAny(a, "\u093c\u0301\u0323\u0327\u0345\u3099") {
				continue // package norm takes them for others when it composes
			}
			word := strings.Replace(a, "%", string(r), 1)
			fast, ok := appendClassed(nil, word)
			if !ok {
				continue
			}
			looked++
			if want := string(appendWhole(nil, word)); string(fast) != want {
				t.Fatalf("%+q folds to %+q by character, and to %+q as a whole", word, fast, want)
			}
		}
	}
	if looked < 300_000 {
		t.Errorf("%d words were folded by character", looked)
	}
}

// TestSRCH2_WordsOfManyCharactersFoldAlike does the same with characters side by side that
// act upon each other.
func TestSRCH2_WordsOfManyCharactersFoldAlike(t *testing.T) {
	const letters = "aEÉßİıſøŁﬁΑάΐᾳςЁйאשׁاآأी़्कऩখাகொไำ่ัุលក្ក漢がｶﾞﾟハ한ᄒ\u1161ᆫ\u0301\u0307\u0323\u0327\u0345\u0344\u200d\u00ad\u064b\u0653\u05b0\u3099\u0e38\u0e48\u093cـ’'²Ⅳ€\ufe0f"
	some := rapid.StringOf(rapid.RuneFrom([]rune(letters), &unicode.RangeTable{R16: unicode.Mn.R16}, &unicode.RangeTable{R16: unicode.Mc.R16}))
	rapid.Check(t, func(t *rapid.T) {
		word := some.Draw(t, "word")
		if strings.ContainsFunc(word, func(r rune) bool { return r > 0xFFFF }) {
			t.Skip("package norm takes such characters for others when it composes")
		}
		fast, ok := appendClassed(nil, word)
		if want := string(appendWhole(nil, word)); ok && string(fast) != want {
			t.Fatalf("%+q folds to %+q by character, and to %+q as a whole", word, fast, want)
		}
	})
}

// TestSRCH2_PairsAreTheFoldsOfTheirCharacters splits texts without blanks, and compares the
// pairs with the folds of their characters, each with its marks.
func TestSRCH2_PairsAreTheFoldsOfTheirCharacters(t *testing.T) {
	const letters = "กข漢字がｶハ한ᄒไ"
	marks := []rune("\u0e48\u0e38\u0e31\u0e4d\u3099\u0301\u0323\u093cﾞﾟ\u1161\u11a8")
	character := rapid.Custom(func(t *rapid.T) string {
		most := rapid.SampledFrom([]int{0, 1, 3, 30}).Draw(t, "most")
		return string(rapid.RuneFrom([]rune(letters)).Draw(t, "letter")) +
			rapid.StringOfN(rapid.RuneFrom(marks), 0, most, -1).Draw(t, "marks")
	})
	rapid.Check(t, func(t *rapid.T) {
		characters := rapid.SliceOfN(character, 1, 40).Draw(t, "characters")
		cut := func(b []byte) string {
			for len(b) > MaxWord || !utf8.Valid(b) {
				b = b[:min(len(b)-1, MaxWord)]
			}
			return string(b)
		}
		var want []string
		for i, c := range characters {
			fold := appendFolded(nil, c)
			if i+1 < len(characters) {
				fold = append(fold, appendFolded(nil, characters[i+1])...)
			}
			want = append(want, cut(fold))
		}
		_, got := split(strings.Join(characters, ""))
		if !slices.Equal(got, want) {
			t.Fatalf("%+q are the words %+q, want %+q", characters, got, want)
		}
	})
}

// TestSRCH2_AllMarksThatComposeAreKnown looks for them where composing does not.
func TestSRCH2_AllMarksThatComposeAreKnown(t *testing.T) {
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		parts := []rune(norm.NFD.String(string(r)))
		if len(parts) < 2 || norm.NFC.String(string(parts)) != string(r) || 0xAC00 <= r && r <= 0xD7A3 {
			continue
		}
		last, set := parts[len(parts)-1], compositions()
		for _, base := range norm.NFC.String(string(parts[:len(parts)-1])) {
			if !set.marks[last] || !set.bases[base] {
				t.Errorf("%U is composed of %U and %U, which are not known to compose", r, base, last)
			}
		}
	}
}

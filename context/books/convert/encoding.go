package convert

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gogs/chardet"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// The encodings of countries are told by what comes out of them: a text whose letters one language has, and whose words are
// words. chardet, which knows how often letters follow each other, decides between those that read equally well.

// codePages are the encodings of one byte a letter, the likelier first.
var codePages = []*charmap.Charmap{
	charmap.Windows1252, charmap.Windows1250, charmap.Windows1251, charmap.Windows1253, charmap.Windows1254, charmap.Windows1255,
	charmap.Windows1256, charmap.Windows1257, charmap.Windows874, charmap.KOI8R, charmap.KOI8U, charmap.ISO8859_2, charmap.Macintosh,
	charmap.MacintoshCyrillic, charmap.CodePage866, charmap.CodePage850, charmap.CodePage852, charmap.Windows1258,
}

// alphabets are the letters of languages that ASCII has not, in lower case.
var alphabets = func() (list []map[rune]bool) {
	for _, letters := range []string{
		"äöüß", "àâæçéèêëîïôœùûüÿ", "áéíñóúü", "ãáâàçéêíóôõú", "àèéìíîòóù", "åäöé", "æøåéó", "áéíóúýðþæö", "äöåšžõü", // Western and Northern Europe
		"ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "ăâîșțşţ", "čćđšž", "çëäöü", "ąčęėįšųūž", "āčēģīķļņšūž", // Central and Eastern
		"çğıöşüâîûi̇", "àảãáạăằẳẵắặâầẩẫấậđèẻẽéẹêềểễếệìỉĩíịòỏõóọôồổỗốộơờởỡớợùủũúụưừửữứựỳỷỹýỵ", "ĉĝĥĵŝŭ", "áàâäçèéêëíìîïñóòôöúùûü",
		"абвгдежзийклмнопрстуфхцчшщъыьэюяё", "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя", "абвгдежзийклмнопрстуфхцчшщъьюя", "абвгдђежзијклљмнњопрстћуфхцчџш", "абвгдеёжзійклмнопрстуўфхцчшыьэюя",
		"αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ",
	} {
		of := make(map[rune]bool)
		for _, r := range letters {
			of[r] = true
		}
		list = append(list, of)
	}
	return list
}()

const (
	sampled    = 64 << 10 // bytes of a text by which its encoding is told
	leastSense = 0.8      // of a text whose encoding is taken for known
	leastFirst = 0.75     // of the characters of a script of thousands that are among the common ones
)

// decodeLocal returns a text in an encoding of a country; false where none makes sense of it. declared is what the file says
// of itself, "" for nothing.
func decodeLocal(data []byte, declared string) (string, bool) {
	sample := data
	if len(sample) > sampled {
		cut := sampled
		for cut > sampled-8 && sample[cut-1] >= 0x80 { // between two letters, if it can be had
			cut--
		}
		sample = sample[:cut]
	}
	guessed := make(map[string]float64)
	if list, err := chardet.NewTextDetector().DetectAll(sample); err == nil {
		for _, g := range list {
			e, name := charset.Lookup(g.Charset)
			if e != nil {
				guessed[name] = max(guessed[name], float64(g.Confidence)/100)
			}
		}
	}
	type reading struct {
		e     encoding.Encoding
		sense float64
	}
	var list []reading
	add := func(e encoding.Encoding, name string, sense float64) {
		if sense >= leastSense {
			list = append(list, reading{e, sense + 0.03*guessed[name]})
		}
	}
	if e, name := charset.Lookup(declared); e != nil && name != "utf-8" {
		if text, err := e.NewDecoder().Bytes(sample); err == nil && senseOf(string(text)) >= leastSense {
			list = append(list, reading{e, 2})
		}
	}
	for _, e := range []struct {
		encoding.Encoding
		name   string
		common func(data []byte) float64
	}{
		{japanese.ShiftJIS, "shift_jis", shiftJIS},
		{japanese.EUCJP, "euc-jp", pairs(0xA4, 0xCF)},
		{korean.EUCKR, "euc-kr", pairs(0xB0, 0xC8)},
		{simplifiedchinese.GB18030, "gb18030", func(data []byte) float64 { return pairs(0xB0, 0xD7)(withoutFours(data)) }},
		{traditionalchinese.Big5, "big5", bigFive},
	} {
		if share := e.common(sample); share >= leastFirst {
			text, err := e.NewDecoder().Bytes(sample)
			if err == nil && !bytes.ContainsRune(bytes.TrimSuffix(text, []byte("\uFFFD")), utf8.RuneError) && parted(string(text)) {
				add(e.Encoding, e.name, share+0.05)
			}
		}
	}
	for _, e := range codePages {
		text, err := e.NewDecoder().Bytes(sample)
		if err == nil {
			_, name := charset.Lookup(strings.ReplaceAll(strings.ToLower(e.String()), " ", "-"))
			add(e, name, senseOf(string(text)))
		}
	}
	if len(list) == 0 {
		return "", false
	}
	best := slices.MaxFunc(list, func(a, b reading) int { return cmp.Compare(a.sense, b.sense) }) // the first of equals
	out, err := best.e.NewDecoder().Bytes(data)
	return string(bytes.ToValidUTF8(out, nil)), err == nil
}

// pairs returns the share of letters of two bytes whose first byte is in a range: that of the common characters. 0 where bytes
// stand alone.
func pairs(from, to byte) func(data []byte) float64 {
	return func(data []byte) float64 {
		all, common := 0, 0
		for i := 0; i < len(data); i++ {
			c := data[i]
			if c < 0x80 {
				continue
			}
			if i+1 == len(data) || data[i+1] < 0x40 {
				return 0
			}
			if i++; c >= 0xA1 && c <= 0xA3 { // signs, and letters in full width
				continue
			}
			all++
			if c >= from && c <= to {
				common++
			}
		}
		return share(common, all)
	}
}

// withoutFours returns a text in GB18030 without its letters of four bytes, which other encodings do not have: a digit is their
// second byte and their last.
func withoutFours(data []byte) []byte {
	var out []byte
	at := 0
	for i := 0; i+3 < len(data); i++ {
		switch {
		case data[i] < 0x81:
		case data[i+1] >= '0' && data[i+1] <= '9' && data[i+2] >= 0x81 && data[i+3] >= '0' && data[i+3] <= '9':
			out = append(out, data[at:i]...)
			at = i + 4
			i += 3
		default:
			i++ // the second byte of a letter
		}
	}
	if at == 0 {
		return data
	}
	return append(out, data[at:]...)
}

// stateful returns the encoding of a text of seven bits that changes its letters by escapes, nil for none.
func stateful(data []byte) encoding.Encoding {
	for _, escape := range []string{"\x1b$B", "\x1b$@", "\x1b(J"} {
		if bytes.Contains(data[:min(len(data), sampled)], []byte(escape)) {
			return japanese.ISO2022JP
		}
	}
	return nil
}

func bigFive(data []byte) float64 { return pairs(0xA4, 0xC6)(data) }

// shiftJIS is pairs for Shift_JIS, in which kana may take one byte.
func shiftJIS(data []byte) float64 {
	all, common := 0, 0
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c < 0x80, c >= 0xA1 && c <= 0xDF:
			if c >= 0xA1 { // rare today
				all++
			}
		case i+1 == len(data) || data[i+1] < 0x40:
			return 0
		default:
			i++
			if c == 0x81 {
				continue
			}
			all++
			if c >= 0x82 && c <= 0x97 {
				common++
			}
		}
	}
	return share(common, all)
}

// parted reports whether most characters of a script of thousands stand apart from Latin letters: within a word they are an
// accent that was read with the letter behind it.
func parted(s string) bool {
	all, touching := 0, 0
	var before rune
	latin := func(r rune) bool { return r < utf8.RuneSelf && unicode.IsLetter(r) }
	for _, r := range s {
		wide := r >= 0x2E80
		if wide {
			all++
		}
		if wide && latin(before) || before >= 0x2E80 && latin(r) {
			touching++
		}
		before = r
	}
	return touching <= all/2
}

func share(part, all int) float64 {
	if all == 0 {
		return 0
	}
	return float64(part) / float64(all)
}

// senseOf says how much of what is not ASCII in a text can be text: letters of one language, in words of one script and of a
// case that words have, and signs where they stand. 1 is all of it.
func senseOf(s string) float64 {
	all, bad := 0, 0.0
	counts := make([]int, len(alphabets))
	letters, vowelless, vowels := 0, 0, 0 // the last two of Cyrillic, which writes its vowels
	var before rune
	for _, r := range s {
		if r >= utf8.RuneSelf {
			all++
		}
		switch {
		case r < utf8.RuneSelf:
		case r == utf8.RuneError || unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Co, r):
			bad += 2
		case unicode.IsLetter(r):
			lower := unicode.ToLower(r)
			if !unicode.In(r, unicode.Latin, unicode.Cyrillic, unicode.Greek) {
				break
			}
			letters++
			if unicode.Is(unicode.Cyrillic, r) {
				if strings.ContainsRune("аеёиоуыэюяіїє", lower) {
					vowels++
				} else {
					vowelless++
				}
			}
			for i := range alphabets {
				if alphabets[i][lower] {
					counts[i]++
				}
			}
		case unicode.Is(unicode.Mn, r):
			if !unicode.IsLetter(before) && !unicode.Is(unicode.Mn, before) {
				bad++
			}
		case unicode.IsLetter(before) && !strings.ContainsRune("’‘“”„–—…»«°·™®©\u00A0†‰", r): // a sign within a word
			bad++
		}
		if unicode.IsLetter(r) && unicode.IsLetter(before) && (r >= utf8.RuneSelf || before >= utf8.RuneSelf) {
			if unicode.IsLower(before) && unicode.IsUpper(r) || scriptOf(before) != scriptOf(r) || before == 'ς' { // which ends a word
				bad++
			}
		}
		before = r
	}
	if all == 0 {
		return 1
	}
	if letters > 0 {
		bad += float64(letters - slices.Max(counts))
	}
	if n := vowels + vowelless; n >= 8 && 4*vowels < n {
		bad += float64(n) / 3
	}
	return max(0, 1-bad/float64(all))
}

// isGarbage reports whether a good part of a text is letters that no language has: a file whose fonts say nothing of their
// letters, or that was damaged by another program.
func isGarbage(blocks []Block) bool {
	var b strings.Builder
	for i := range blocks {
		b.WriteString(blocks[i].Text)
		b.WriteByte('\n')
		if b.Len() > sampled {
			break
		}
	}
	all, strange := 0, 0
	for _, r := range b.String() {
		if unicode.IsSpace(r) {
			continue
		}
		all++
		if r >= utf8.RuneSelf || r < ' ' {
			strange++
		}
	}
	return strange*10 > all*3 && senseOf(b.String()) < leastReadable
}

// leastReadable is what sense a text of a converted file makes at least.
const leastReadable = 0.35

func scriptOf(r rune) *unicode.RangeTable {
	for _, s := range []*unicode.RangeTable{unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Hebrew, unicode.Arabic, unicode.Thai} {
		if unicode.Is(s, r) {
			return s
		}
	}
	return nil
}

package convert

import (
	"bytes"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
)

// TestMEM85_EncodingsOfCountries: texts as short as people have them are read in the encoding that they are in.
func TestMEM85_EncodingsOfCountries(t *testing.T) {
	for _, c := range []struct {
		text string
		in   []encoding.Encoding
	}{
		{"姓名,城市\n张三,北京市朝阳区\n李四,上海市浦东新区\n王五,广州市天河区\n", []encoding.Encoding{simplifiedchinese.GBK, simplifiedchinese.GB18030}},
		{"这是一个简单的测试文件,里面有一些常用的汉字。", []encoding.Encoding{simplifiedchinese.GBK}},
		{"これは日本語のテキストです。東京都に住んでいます。猫が好きです。", []encoding.Encoding{japanese.ShiftJIS, japanese.EUCJP, japanese.ISO2022JP}},
		{"这个城市有一家叫做 El Niño 的咖啡馆,里面的人说 façade 和 naïve。", []encoding.Encoding{simplifiedchinese.GB18030}},
		{"Debian 的发布周期:每一个 ñ 都要四个字节。测试版、稳定版和不稳定版。", []encoding.Encoding{simplifiedchinese.GB18030}},
		{"名前,住所\n山田太郎,大阪府堺市\n", []encoding.Encoding{japanese.ShiftJIS}},
		{"這是一份繁體中文的文件,臺北市的天氣很好。", []encoding.Encoding{traditionalchinese.Big5}},
		{"이름,도시\n김철수,서울특별시\n이영희,부산광역시\n", []encoding.Encoding{korean.EUCKR}},
		{"Привет, это текст на русском языке про самовар и чай.", []encoding.Encoding{charmap.Windows1251, charmap.KOI8R, charmap.CodePage866, charmap.MacintoshCyrillic}},
		{"Имя;Город\nИванов;Москва\nПетров;Казань\n", []encoding.Encoding{charmap.Windows1251, charmap.KOI8R}},
		{"Привіт, це текст українською мовою про їжу.", []encoding.Encoding{charmap.Windows1251, charmap.KOI8U}},
		{"Příliš žluťoučký kůň úpěl ďábelské ódy v Brně.", []encoding.Encoding{charmap.Windows1250, charmap.ISO8859_2}},
		{"Zażółć gęślą jaźń, proszę pana.", []encoding.Encoding{charmap.Windows1250, charmap.ISO8859_2}},
		{"Árvíztűrő tükörfúrógép, őszi eső", []encoding.Encoding{charmap.Windows1250}},
		{"Αυτό είναι ένα κείμενο για τη θάλασσα.", []encoding.Encoding{charmap.Windows1253}},
		{"Türkçe güzel bir dildir, şiir ve ışık İstanbul", []encoding.Encoding{charmap.Windows1254}},
		{"Ąžuolas ir šermukšnis žydi pavasarį", []encoding.Encoding{charmap.Windows1257}},
		{"שלום עולם, זה טקסט בעברית", []encoding.Encoding{charmap.Windows1255}},
		{"مرحبا بالعالم، هذا نص قصير", []encoding.Encoding{charmap.Windows1256}},
		{"สวัสดีชาวโลก นี่คือข้อความ", []encoding.Encoding{charmap.Windows874}},
		{"Name;Ville\nÉlodie;Besançon\n", []encoding.Encoding{charmap.Windows1252, charmap.ISO8859_1, charmap.Macintosh}},
		{"Größe: 12 m², Preis 3 € – „schön“", []encoding.Encoding{charmap.Windows1252}},
		{"El niño comió jamón en España ¿verdad?", []encoding.Encoding{charmap.Windows1252}},
		{"Blåbærsyltetøy på brød", []encoding.Encoding{charmap.Windows1252, charmap.Macintosh}},
		{"Bonjour giraffe, the quick brown fox", []encoding.Encoding{unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), unicode.UTF16(unicode.BigEndian, unicode.UseBOM), unicode.UTF8BOM}},
	} {
		for _, e := range c.in {
			data, err := e.NewEncoder().Bytes([]byte(c.text))
			if err != nil {
				t.Fatalf("%v: %v", e, err)
			}
			got, err := decodeText(data, "")
			if err != nil || got != c.text {
				t.Errorf("%v: %q became %q, %v", e, c.text, got, err)
			}
		}
	}
	wide, err := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewEncoder().Bytes([]byte("Vòng đời của một bản phát hành, as it is told"))
	if got := Detect(Text, bytes.NewReader(wide), int64(len(wide))); err != nil || got != Text {
		t.Errorf("UTF-16 without a mark is %q, %v", got, err)
	}
	random := make([]byte, 4000)
	for i := range random {
		random[i] = byte(i*i*7919>>3) | 0x80
	}
	if got, err := decodeText(random, ""); err == nil {
		t.Errorf("what is no text became %.80q", got)
	}
}

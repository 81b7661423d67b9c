package audience

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/ctxd/ctxd/entities/text"
)

// FoldStatement returns the form under which two statements, tags or domains are the same: NFC, without case, with one
// blank where there are some, and without full stops at the end. All else tells statements apart: C and C#, 10 and 10 %,
// 10⁶ and 106.
func FoldStatement(s string) string {
	s = strings.Join(strings.Fields(text.Fold(s)), " ")
	for {
		end, size := utf8.DecodeLastRuneInString(s)
		if !strings.ContainsRune(".!…。！｡।۔", end) {
			return s
		}
		cut := strings.TrimRight(s[:len(s)-size], " ")
		if before, _ := utf8.DecodeLastRuneInString(cut); cut == "" || end == '!' && unicode.IsDigit(before) { // 5! is 120
			return s
		}
		s = cut
	}
}

// ContextNameKey returns the form under which two names of contexts are the same: NFKC, without case, with one
// '_' for each run of blanks, '-' and '_'. One at the end of a text stays: more of the name may follow.
func ContextNameKey(s string) string {
	s = withoutCase(s)
	var b strings.Builder
	b.Grow(len(s))
	parted := true // nothing begins with a '_'
	for _, r := range s {
		if r == '_' || r == '-' || unicode.IsSpace(r) {
			if !parted {
				b.WriteByte('_')
			}
			parted = true
			continue
		}
		b.WriteRune(r)
		parted = false
	}
	return b.String()
}

// withoutCase returns a text in NFKC and without case.
func withoutCase(s string) string {
	plain := strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
	if plain { // as most are
		return strings.ToLower(s)
	}
	return norm.NFKC.String(cases.Fold().String(norm.NFKC.String(s)))
}

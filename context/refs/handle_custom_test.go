package refs_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities/fault"
)

func TestREF5_CustomHandles(t *testing.T) {
	for _, c := range []struct {
		handle string
		kind   refs.HandleKind
		want   string // "" where it is refused
	}{
		{"ssdva", refs.ContextHandle, "ssdva"},
		{"SSDva", refs.MemoryHandle, "ssdva"},
		{"abc", refs.MemoryHandle, "abc"},
		{"ab", refs.MemoryHandle, ""},
		{"", refs.MemoryHandle, ""},
		{strings.Repeat("x", 60), refs.MemoryHandle, strings.Repeat("x", 60)},
		{strings.Repeat("x", 61), refs.MemoryHandle, ""},
		{"a-b_2", refs.MemoryHandle, "a-b_2"},
		{"a__--b", refs.MemoryHandle, "a__--b"},
		{"2ab", refs.MemoryHandle, ""},
		{"_ab", refs.MemoryHandle, ""},
		{"\u0301abc", refs.MemoryHandle, ""},
		{"abc_", refs.MemoryHandle, ""},
		{"abc-", refs.MemoryHandle, ""},
		{"a b", refs.MemoryHandle, ""},
		{"a.b", refs.MemoryHandle, ""},
		{"a/b", refs.MemoryHandle, ""},
		{"@abc", refs.MemoryHandle, ""},
		{"abc\n", refs.MemoryHandle, ""},
		{"ab\xff", refs.MemoryHandle, ""},
		{"🙂abc", refs.MemoryHandle, ""},
		{"Jose\u0301", refs.MemoryHandle, "josé"},
		{"健康目标", refs.ContextHandle, "健康目标"},
		{"go_语言", refs.ContextHandle, "go_语言"},
		{"go语言", refs.ContextHandle, ""}, // it would be read as go
		{"语言go", refs.ContextHandle, "语言go"},
		{strings.Repeat("e\u0301", 60), refs.MemoryHandle, strings.Repeat("é", 60)},

		{"claim", refs.MemoryHandle, ""},
		{"Memory", refs.ContextHandle, ""},
		{"mem", refs.MemoryHandle, ""},
		{"conv", refs.MemoryHandle, ""},
		{"conversation", refs.ConversationHandle, ""},
		{"ｃｌａｉｍ", refs.MemoryHandle, ""}, // it is looked up as claim
		{"claims", refs.MemoryHandle, "claims"},
		{"mem_2", refs.MemoryHandle, "mem_2"},
		{"claim_1", refs.MemoryHandle, ""},
		{"Claim_0042", refs.MemoryHandle, ""},
		{"claim_４２", refs.MemoryHandle, ""},
		{"claim_99999999999999999999", refs.MemoryHandle, ""},
		{"claim_1a", refs.MemoryHandle, "claim_1a"},
		{"claim_form", refs.MemoryHandle, "claim_form"},
		{"conversation_x_message_3", refs.MemoryHandle, ""},
		{"Conv_x_Msg_a3f2b1", refs.ConversationHandle, ""},
		{"conversation_x", refs.ConversationHandle, "conversation_x"},
		{"conv_message_3", refs.ConversationHandle, "conv_message_3"},

		{"work_context", refs.ContextHandle, "work_context"},
		{"work_context", refs.MemoryHandle, ""},
		{"work_CONTEXT", refs.ConversationHandle, ""},
		{"fit_tag", refs.MemoryHandle, ""},
		{"fit_tag", refs.ContextHandle, ""},
		{"x_domain", refs.MemoryHandle, ""},
		{"x_entity", refs.ConversationHandle, ""},
		{"context", refs.MemoryHandle, "context"},
		{"tag_of", refs.MemoryHandle, "tag_of"},
		{"my-tag", refs.MemoryHandle, "my-tag"},
	} {
		got, err := refs.CheckHandle(c.handle, c.kind)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q, of a %s, is stored as %q: %v; want %q", c.handle, c.kind, got, err, c.want)
		}
		if err == nil {
			continue
		}
		var e *fault.Error
		if !errors.As(err, &e) || e.Kind != fault.Invalid || e.Field != "handle" || e.Hint == "" {
			t.Errorf("%q, of a %s: %+v", c.handle, c.kind, e)
		}
	}
}

// TestREF5_ErrorsDoNotTellTheHandle, which goes to the log with them otherwise.
func TestREF5_ErrorsDoNotTellTheHandle(t *testing.T) {
	for _, text := range []string{"zqzq zq", "zqzq_", "2zqzq", "conv_zqzq_message_3", "zqzq_tag", strings.Repeat("zqzq", 60)} {
		_, err := refs.CheckHandle(text, refs.MemoryHandle)
		var e *fault.Error
		if !errors.As(err, &e) || strings.Contains(e.Error()+e.Hint, "zq") {
			t.Errorf("%q: %+v", text, e)
		}
	}
}

// TestREF5_ComputedHandlesAreNotChosen, whatever they are.
func TestREF5_ComputedHandlesAreNotChosen(t *testing.T) {
	for kind, hint := range map[refs.HandleKind]string{
		refs.EntityHandle: "rename the entity", refs.TagHandle: "rename the tag", refs.DomainHandle: "rename the domain",
	} {
		for _, text := range []string{"fine", "x" + kind.Suffix(), ""} {
			got, err := refs.CheckHandle(text, kind)
			var e *fault.Error
			if got != "" || !errors.As(err, &e) || e.Kind != fault.Conflict || e.Field != "handle" || e.Hint != hint {
				t.Errorf("%q, of a %s: %q %+v", text, kind, got, e)
			}
		}
	}
}

// TestREF5_HostileHandles: refused, or stored in a form that is stored as it is.
func TestREF5_HostileHandles(t *testing.T) {
	for name, text := range hostileNames {
		t.Run(name, func(t *testing.T) { checkCustom(t, text) })
	}
}

func checkCustom(t handleTester, text string) {
	for _, kind := range refs.HandleKinds() {
		stored, err := refs.CheckHandle(text, kind)
		if err != nil {
			if stored != "" || fault.KindOf(err) == fault.Internal {
				t.Fatalf("%q, of a %s: %q, %v", text, kind, stored, err)
			}
			continue
		}
		again, err := refs.CheckHandle(stored, kind)
		if err != nil || again != stored {
			t.Fatalf("%q is stored as %q, and that as %q: %v", text, stored, again, err)
		}
		if refs.FoldHandle(stored) != refs.FoldHandle(text) {
			t.Fatalf("%q folds to %q, as it is stored to %q", text, refs.FoldHandle(text), refs.FoldHandle(stored))
		}
	}
}

func TestREF5_LookedUpWithoutCase(t *testing.T) {
	for _, c := range [][2]string{
		{"SSDVA", "ssdva"},
		{"Prefer_Morning_A3F2", "prefer_morning_a3f2"},
		{"Jose\u0301_x", "josé_X"},
		{"ＡＢＣ", "abc"},
		{"ΣΟΦΟΣ", "σοφος"},
		{"STRASSE", "straße"},
		{"ﬁx", "fix"},
	} {
		if refs.FoldHandle(c[0]) != refs.FoldHandle(c[1]) {
			t.Errorf("%q folds to %q, %q to %q", c[0], refs.FoldHandle(c[0]), c[1], refs.FoldHandle(c[1]))
		}
	}
	for _, c := range [][2]string{{"a_b", "a-b"}, {"jose", "josé"}, {"a_b", "ab"}} {
		if refs.FoldHandle(c[0]) == refs.FoldHandle(c[1]) {
			t.Errorf("%q and %q are the same handle", c[0], c[1])
		}
	}
}

// TestREF5_FoldingIsDoneOnce looks at every mark, and every letter and number that has a
// case or a decomposition, alone and with what may join it.
func TestREF5_FoldingIsDoneOnce(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		changes := unicode.SimpleFold(r) != r || !norm.NFKD.IsNormalString(string(r))
		if !unicode.IsMark(r) && !(changes && unicode.In(r, unicode.L, unicode.N)) {
			continue
		}
		for _, text := range []string{string(r), "a" + string(r) + "\u0301", string(r) + "\u0345\u0307"} {
			once := refs.FoldHandle(text)
			if twice := refs.FoldHandle(once); twice != once {
				t.Fatalf("%+q folds to %+q, and that to %+q", text, once, twice)
			}
			if nfd := refs.FoldHandle(norm.NFD.String(text)); nfd != once {
				t.Fatalf("%+q folds to %+q, decomposed to %+q", text, once, nfd)
			}
			if lower := refs.FoldHandle(strings.ToLower(norm.NFC.String(text))); lower != once {
				t.Fatalf("%+q folds to %+q, in lower case to %+q", text, once, lower)
			}
		}
	}
}

// handlePieces are what texts are drawn from where plain characters would hardly hit a rule.
var handlePieces = []string{
	"not", "never", "no", "don't", "the", "I", "of", "claim", "memory", "conv", "conversation", "message", "msg", "tag",
	"context", "entity", "domain", "42", "3", "_", "-", " ", " ", "/", "'", "’", ".", "@", "#", "é", "e\u0301", "\u0301", "\u0345",
	"\ufe0f", "\u200d", "🙂", "语", "言", "ー", "々", "ท", "한", "א", "ا", "ß", "Σ", "ς", "İ", "ı", "ﬁ", "ﷺ", "½", "²", "A",
	"supercalifragilisticexpialidocious", "\xff", "\x00", "\u202e",
}

var handleTexts = rapid.Custom(func(t *rapid.T) string {
	if rapid.Bool().Draw(t, "any text") {
		return rapid.String().Draw(t, "text")
	}
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(handlePieces), 0, 12).Draw(t, "pieces"), "")
})

func TestREF4_AnyTextHasHandles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkAll(t, handleTexts.Draw(t, "text")) })
}

func TestREF5_AnyTextIsRefusedOrStored(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkCustom(t, handleTexts.Draw(t, "text")) })
}

// TestREF4_NegationsStay makes statements of up to three words that tell, between others
// that don't: the handle is these, and says so when something is not.
func TestREF4_NegationsStay(t *testing.T) {
	telling := map[string]string{
		"not": "not", "No": "no", "NEVER": "never", "don't": "dont", "don’t": "dont", "dont": "dont", "eat": "eat", "Meat,": "meat",
	}
	drawn := slices.Sorted(maps.Keys(telling))
	rapid.Check(t, func(t *rapid.T) {
		var said, want []string
		for range rapid.IntRange(1, 3).Draw(t, "words") {
			said = append(said, rapid.SliceOfN(rapid.SampledFrom([]string{"I", "do", "the", "is", "that's"}), 0, 3).Draw(t, "between")...)
			word := rapid.SampledFrom(drawn).Draw(t, "word")
			said, want = append(said, word), append(want, telling[word])
		}
		statement := strings.Join(said, " ")
		got, err := refs.NewMemoryHandle(statement, "fact", refs.ShortHandleHex, bytesOf())
		if err != nil || got != strings.Join(want, "_")+"_0123" {
			t.Fatalf("the handle of %q is %q: %v; want %q", statement, got, err, want)
		}
	})
}

func FuzzREF4_HandlesOfAnyText(f *testing.F) {
	for _, c := range table {
		f.Add(c.statement)
	}
	for _, text := range hostileNames {
		f.Add(text[:min(len(text), 1000)])
	}
	f.Fuzz(func(t *testing.T, text string) {
		checkAll(t, text)
		checkCustom(t, text)
		if number, ok := refs.ParseMemoryNumber(text); ok && (number == 0 || number > 999_999_999) {
			t.Fatalf("%q is %d", text, number)
		}
		if of, which, ok := refs.SplitMessageRef(text); ok && (of == "" || which == "") {
			t.Fatalf("%q is %q of %q", text, which, of)
		}
	})
}

// TestREF4_EveryCharacterCanBeTyped behind a Latin letter, a digit, a script without blanks
// and a blank.
func TestREF4_EveryCharacterCanBeTyped(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.Sk) {
			continue
		}
		c := string(r)
		for _, text := range []string{"x" + c + "9" + c + "x " + c, "语" + c + "x " + c + "语" + c} {
			made := refs.NewContextHandle(text)
			if stored, err := refs.CheckHandle(made, refs.ContextHandle); err != nil || stored != made {
				t.Fatalf("the handle of %+q is %+q, stored as %+q: %v", text, made, stored, err)
			}
		}
	}
}

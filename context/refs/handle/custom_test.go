package handle_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/refs/handle"
	"github.com/ctxd/ctxd/entities/fault"
)

func TestREF5_CustomHandles(t *testing.T) {
	for _, c := range []struct {
		handle string
		kind   handle.Kind
		want   string // "" where it is refused
	}{
		{"ssdva", handle.Context, "ssdva"},
		{"SSDva", handle.Memory, "ssdva"},
		{"abc", handle.Memory, "abc"},
		{"ab", handle.Memory, ""},
		{"", handle.Memory, ""},
		{strings.Repeat("x", 60), handle.Memory, strings.Repeat("x", 60)},
		{strings.Repeat("x", 61), handle.Memory, ""},
		{"a-b_2", handle.Memory, "a-b_2"},
		{"a__--b", handle.Memory, "a__--b"},
		{"2ab", handle.Memory, ""},
		{"_ab", handle.Memory, ""},
		{"\u0301abc", handle.Memory, ""},
		{"abc_", handle.Memory, ""},
		{"abc-", handle.Memory, ""},
		{"a b", handle.Memory, ""},
		{"a.b", handle.Memory, ""},
		{"a/b", handle.Memory, ""},
		{"@abc", handle.Memory, ""},
		{"abc\n", handle.Memory, ""},
		{"ab\xff", handle.Memory, ""},
		{"🙂abc", handle.Memory, ""},
		{"Jose\u0301", handle.Memory, "josé"},
		{"健康目标", handle.Context, "健康目标"},
		{"go_语言", handle.Context, "go_语言"},
		{"go语言", handle.Context, ""}, // it would be read as go
		{"语言go", handle.Context, "语言go"},
		{strings.Repeat("e\u0301", 60), handle.Memory, strings.Repeat("é", 60)},

		{"claim", handle.Memory, ""},
		{"Memory", handle.Context, ""},
		{"mem", handle.Memory, ""},
		{"conv", handle.Memory, ""},
		{"conversation", handle.Conversation, ""},
		{"ｃｌａｉｍ", handle.Memory, ""}, // it is looked up as claim
		{"claims", handle.Memory, "claims"},
		{"mem_2", handle.Memory, "mem_2"},
		{"claim_1", handle.Memory, ""},
		{"Claim_0042", handle.Memory, ""},
		{"claim_４２", handle.Memory, ""},
		{"claim_99999999999999999999", handle.Memory, ""},
		{"claim_1a", handle.Memory, "claim_1a"},
		{"claim_form", handle.Memory, "claim_form"},
		{"conversation_x_message_3", handle.Memory, ""},
		{"Conv_x_Msg_a3f2b1", handle.Conversation, ""},
		{"conversation_x", handle.Conversation, "conversation_x"},
		{"conv_message_3", handle.Conversation, "conv_message_3"},

		{"work_context", handle.Context, "work_context"},
		{"work_context", handle.Memory, ""},
		{"work_CONTEXT", handle.Conversation, ""},
		{"fit_tag", handle.Memory, ""},
		{"fit_tag", handle.Context, ""},
		{"x_domain", handle.Memory, ""},
		{"x_entity", handle.Conversation, ""},
		{"context", handle.Memory, "context"},
		{"tag_of", handle.Memory, "tag_of"},
		{"my-tag", handle.Memory, "my-tag"},
	} {
		got, err := handle.CheckCustom(c.handle, c.kind)
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
		_, err := handle.CheckCustom(text, handle.Memory)
		var e *fault.Error
		if !errors.As(err, &e) || strings.Contains(e.Error()+e.Hint, "zq") {
			t.Errorf("%q: %+v", text, e)
		}
	}
}

// TestREF5_ComputedHandlesAreNotChosen, whatever they are.
func TestREF5_ComputedHandlesAreNotChosen(t *testing.T) {
	for kind, hint := range map[handle.Kind]string{
		handle.Entity: "rename the entity", handle.Tag: "rename the tag", handle.Domain: "rename the domain",
	} {
		for _, text := range []string{"fine", "x" + kind.Suffix(), ""} {
			got, err := handle.CheckCustom(text, kind)
			var e *fault.Error
			if got != "" || !errors.As(err, &e) || e.Kind != fault.Conflict || e.Field != "handle" || e.Hint != hint {
				t.Errorf("%q, of a %s: %q %+v", text, kind, got, e)
			}
		}
	}
}

// TestREF5_HostileHandles: refused, or stored in a form that is stored as it is.
func TestREF5_HostileHandles(t *testing.T) {
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) { checkCustom(t, text) })
	}
}

func checkCustom(t fataler, text string) {
	for _, kind := range handle.Kinds() {
		stored, err := handle.CheckCustom(text, kind)
		if err != nil {
			if stored != "" || fault.KindOf(err) == fault.Internal {
				t.Fatalf("%q, of a %s: %q, %v", text, kind, stored, err)
			}
			continue
		}
		again, err := handle.CheckCustom(stored, kind)
		if err != nil || again != stored {
			t.Fatalf("%q is stored as %q, and that as %q: %v", text, stored, again, err)
		}
		if handle.Fold(stored) != handle.Fold(text) {
			t.Fatalf("%q folds to %q, as it is stored to %q", text, handle.Fold(text), handle.Fold(stored))
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
		if handle.Fold(c[0]) != handle.Fold(c[1]) {
			t.Errorf("%q folds to %q, %q to %q", c[0], handle.Fold(c[0]), c[1], handle.Fold(c[1]))
		}
	}
	for _, c := range [][2]string{{"a_b", "a-b"}, {"jose", "josé"}, {"a_b", "ab"}} {
		if handle.Fold(c[0]) == handle.Fold(c[1]) {
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
			once := handle.Fold(text)
			if twice := handle.Fold(once); twice != once {
				t.Fatalf("%+q folds to %+q, and that to %+q", text, once, twice)
			}
			if nfd := handle.Fold(norm.NFD.String(text)); nfd != once {
				t.Fatalf("%+q folds to %+q, decomposed to %+q", text, once, nfd)
			}
			if lower := handle.Fold(strings.ToLower(norm.NFC.String(text))); lower != once {
				t.Fatalf("%+q folds to %+q, in lower case to %+q", text, once, lower)
			}
		}
	}
}

// pieces are what texts are drawn from where plain characters would hardly hit a rule.
var pieces = []string{
	"not", "never", "no", "don't", "the", "I", "of", "claim", "memory", "conv", "conversation", "message", "msg", "tag",
	"context", "entity", "domain", "42", "3", "_", "-", " ", " ", "/", "'", "’", ".", "@", "#", "é", "e\u0301", "\u0301", "\u0345",
	"\ufe0f", "\u200d", "🙂", "语", "言", "ー", "々", "ท", "한", "א", "ا", "ß", "Σ", "ς", "İ", "ı", "ﬁ", "ﷺ", "½", "²", "A",
	"supercalifragilisticexpialidocious", "\xff", "\x00", "\u202e",
}

var texts = rapid.Custom(func(t *rapid.T) string {
	if rapid.Bool().Draw(t, "any text") {
		return rapid.String().Draw(t, "text")
	}
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "pieces"), "")
})

func TestREF4_AnyTextHasHandles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkAll(t, texts.Draw(t, "text")) })
}

func TestREF5_AnyTextIsRefusedOrStored(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkCustom(t, texts.Draw(t, "text")) })
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
		got, err := handle.ForMemory(statement, "fact", handle.ShortHex, bytesOf())
		if err != nil || got != strings.Join(want, "_")+"_0123" {
			t.Fatalf("the handle of %q is %q: %v; want %q", statement, got, err, want)
		}
	})
}

func FuzzREF4_HandlesOfAnyText(f *testing.F) {
	for _, c := range table {
		f.Add(c.statement)
	}
	for _, text := range hostile {
		f.Add(text[:min(len(text), 1000)])
	}
	f.Fuzz(func(t *testing.T, text string) {
		checkAll(t, text)
		checkCustom(t, text)
		if number, ok := handle.ParseNumber(text); ok && (number == 0 || number > 999_999_999) {
			t.Fatalf("%q is %d", text, number)
		}
		if of, which, ok := handle.SplitMessage(text); ok && (of == "" || which == "") {
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
			made := handle.ForContext(text)
			if stored, err := handle.CheckCustom(made, handle.Context); err != nil || stored != made {
				t.Fatalf("the handle of %+q is %+q, stored as %+q: %v", text, made, stored, err)
			}
		}
	}
}

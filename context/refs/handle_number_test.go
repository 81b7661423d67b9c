package refs_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/fixtures/steps"
)

func TestREF2_NumbersOfMemories(t *testing.T) {
	for ref, want := range map[string]uint64{
		"42": 42, "#42": 42, "claim_42": 42, "Claim_42": 42, "CLAIM_1": 1, "1": 1, "999999999": 999_999_999, "claim_999999999": 999_999_999,
		"": 0, "#": 0, "claim_": 0, "0": 0, "#0": 0, "042": 0, "#042": 0, "claim_042": 0, "1234567890": 0, "#1234567890": 0,
		"claim_1234567890": 0, "99999999999999999999": 0, "-1": 0, "+1": 0, " 42": 0, "42 ": 0, "4.2": 0, "4_2": 0, "##42": 0, "#claim_42": 0,
		"@42": 0, "claim42": 0, "claim-42": 0, "42abc": 0, "４２": 0, "٤٢": 0, "clåim_42": 0,
	} {
		got, ok := refs.ParseMemoryNumber(ref)
		if got != want || ok != (want != 0) {
			t.Errorf("%q is the number %d (%v), want %d", ref, got, ok, want)
		}
	}
}

func TestREF14_ReferencesToMessages(t *testing.T) {
	for ref, want := range map[string][2]string{
		"conversation_fix_bus_1a2b_message_3":         {"fix_bus_1a2b", "3"},
		"conversation_fix_message_bus_1a2b_message_3": {"fix_message_bus_1a2b", "3"},
		"conv_h_msg_a3f2b1":                           {"h", "a3f2b1"},
		"Conv_H_MSG_A3F2B1":                           {"h", "a3f2b1"},
		"conversation_h_msg_3":                        {"h", "3"},
		"conv_message_3_1a2b_message_5":               {"message_3_1a2b", "5"},
		"conv_a_message_b_msg_c":                      {"a_message_b", "c"},
		"conv_conv_message_3":                         {"conv", "3"},
		"conversation_健康_1a2b_message_0":              {"健康_1a2b", "0"},
		"conv_message_3":                              {}, // of no conversation
		"conv__message_3":                             {},
		"conv_h_message_":                             {},
		"conv_h_message":                              {},
		"conv_h_message_3_":                           {},
		"conv_h_message_a-b":                          {},
		"conv_h_message_é":                            {},
		"conv_hmessage_3":                             {},
		"conversations_h_message_3":                   {},
		"xconv_h_message_3":                           {},
		"":                                            {},
	} {
		of, which, ok := refs.SplitMessageRef(ref)
		if of != want[0] || which != want[1] || ok != (want[1] != "") {
			t.Errorf("%q is the message %q of %q (%v), want %q", ref, which, of, ok, want)
		}
	}
}

// handleFunctions are all that read a text, by their names.
var handleFunctions = map[string]func(text string){
	"HandleWords":            func(text string) { refs.HandleWords(text) },
	"NewMemoryHandle":        func(text string) { _, _ = refs.NewMemoryHandle(text, text, refs.LongHandleHex, seeded()) },
	"NewContextHandle":       func(text string) { refs.NewContextHandle(text) },
	"NewRandomContextHandle": func(text string) { _, _ = refs.NewRandomContextHandle(text, seeded()) },
	"NewTagHandle":           func(text string) { refs.NewTagHandle(text) },
	"NewDomainHandle":        func(text string) { refs.NewDomainHandle(text) },
	"NewConversationHandle":  func(text string) { refs.NewConversationHandle(text, created, 0) },
	"MessageHash":            func(text string) { refs.MessageHash(text, text, 0) },
	"CheckHandle":            func(text string) { _, _ = refs.CheckHandle(text, refs.MemoryHandle) },
	"RenameHandle":           func(text string) { _, _ = refs.RenameHandle(refs.MemoryHandle, text, []string{text}, text) },
	"OpenHandles.Turned":     func(text string) { refs.OpenHandles(nil).Turned(text, []string{text}, true) },
	"OpenHandles.Opened":     func(text string) { refs.OpenHandles{text}.Opened(text) },
	"OpenHandles.Has":        func(text string) { refs.OpenHandles{text}.Has(text) },
	"LowerHandle":            func(text string) { refs.LowerHandle(text) },
	"FoldHandle":             func(text string) { refs.FoldHandle(text) },
	"ParseMemoryNumber":      func(text string) { _, _ = refs.ParseMemoryNumber("claim_" + text) },
	"SplitMessageRef":        func(text string) { _, _, _ = refs.SplitMessageRef("conv_" + text + "_message_3") },
}

// TestREF4_EveryFunctionIsLinear runs all of them over texts that are hostile, and over
// those that are so for handles, and looks at the growth of their steps.
func TestREF4_EveryFunctionIsLinear(t *testing.T) {
	if !steps.Counting(t, "github.com/ctxd/ctxd/context/refs", "github.com/ctxd/ctxd/entities/names") {
		return
	}
	measure := func(family string, text func(size int) string) {
		for name, call := range handleFunctions {
			steps.Linear(t, name, family, 4<<10, text, func(text string) func() { return func() { call(text) } })
		}
	}
	steps.Each([]steps.Place{{}}, func(family string, text func(size int) string, _ steps.Place) { measure(family, text) })
	for family, unit := range map[string]string{
		"marks": "\u0301", "marks of several classes": "a\u0327\u0301\u0345", "apostrophes": "e'\u0301", "spaceless": "健", "spaceless and others": "a健",
		"stopwords": "the ", "digits": "1 ", "reserved": "claim ", "messages": "_message_3", "numbers": "9", "underscores": "_",
	} {
		measure(family, func(size int) string { return strings.Repeat(unit, size/len(unit)) })
	}
}

// TestEveryFunctionOfATextIsMeasured_Handle: one that is exported has its entry above.
func TestEveryFunctionOfATextIsMeasured_Handle(t *testing.T) {
	steps.Every(t, steps.Exported(t, "handle*.go", "string"), slices.Collect(maps.Keys(handleFunctions)))
}

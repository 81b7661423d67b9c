package transfer_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ctxd/ctxd/chat/transfer"
	"github.com/ctxd/ctxd/entities/fault"
)

// fuzzed reads anything and checks what holds whatever it is.
func fuzzed(t *testing.T, export string) ([]transfer.ForeignConversation, transfer.ReadReport, error) {
	t.Helper()
	found, report, err := readAll(t, export)
	var f *fault.Error
	if err != nil && (!errors.As(err, &f) || f.Kind != fault.Invalid && f.Kind != fault.Limit || f.Hint == "") {
		t.Fatalf("error %v", err)
	}
	for _, c := range found {
		checkConversation(t, c)
	}
	if report.Conversations != len(found) {
		t.Errorf("%d conversations, the report says %d", len(found), report.Conversations)
	}
	for _, p := range report.Problems {
		if p.Offset < 0 || p.End < p.Offset || p.End > int64(len(export)) && p.File == "" || p.Number < 1 {
			t.Errorf("problem %+v", p)
		}
	}
	return found, report, err
}

// fuzzElement reads an element alone and with a good conversation before and behind it. The
// one before is read whatever the element is. One that is valid JSON is read as it is alone,
// and the one behind it is read too.
func fuzzElement(t *testing.T, element string) {
	t.Helper()
	alone, _, _ := fuzzed(t, "["+element+"]")
	among, report, err := fuzzed(t, "["+claudeTalk("before", "1")+","+element+","+claudeTalk("behind", "2")+"]")
	if len(among) == 0 || among[0].ID != "before" {
		t.Fatalf("the conversation before it is lost: %v, %v", among, err)
	}
	var value any
	if json.Unmarshal([]byte(element), &value) != nil {
		return
	}
	if err != nil {
		t.Fatalf("valid JSON: %v", err)
	}
	want := append(append([]transfer.ForeignConversation{among[0]}, alone...), among[len(among)-1])
	if diff := cmp.Diff(want, among, cmpopts.EquateEmpty()); diff != "" || among[len(among)-1].ID != "behind" {
		t.Errorf("among others (-alone +among):\n%s", diff)
	}
	for _, p := range report.Problems {
		if p.Reason == transfer.ReasonDamaged || p.Reason == transfer.ReasonAfterTheEnd {
			t.Errorf("valid JSON is reported as %+v", p)
		}
	}
}

// elements splits an export of testdata into its conversations.
func elements(f *testing.F, name string) []string {
	f.Helper()
	var parts []json.RawMessage
	if err := json.Unmarshal([]byte(testdata(f, name)), &parts); err != nil {
		f.Fatal(err)
	}
	var out []string
	for _, p := range parts {
		out = append(out, string(p))
	}
	return out
}

func FuzzCHAT36_ChatGPT(f *testing.F) {
	for _, e := range elements(f, "chatgpt.json") {
		f.Add(e)
	}
	f.Add(`{"mapping":{"a":{"parent":"b","message":{"author":{"role":"user"},"content":{"parts":["\ud800"]}}},"b":{"parent":"a"}}}`)
	f.Fuzz(fuzzElement)
}

func FuzzCHAT36_Claude(f *testing.F) {
	for _, e := range elements(f, "claude.json") {
		f.Add(e)
	}
	f.Add(`{"chat_messages":[{"sender":"human","text":"\u0000x"},null,{"sender":"human","content":[{"type":"text","text":1}]}]}`)
	f.Fuzz(fuzzElement)
}

// FuzzCHAT36_File reads any bytes as a file, a .zip too.
func FuzzCHAT36_File(f *testing.F) {
	for _, name := range []string{"chatgpt.json", "claude.json"} {
		f.Add(testdata(f, name))
	}
	f.Add("\xef\xbb\xbf[]")
	f.Add("[" + strings.Repeat(`{"a":`, 600))
	f.Add(archived(f, [2]string{"conversations.json", "[" + claudeTalk("a", "1") + "]"}))
	f.Fuzz(func(t *testing.T, export string) {
		if found, _, err := fuzzed(t, export); err != nil && len(found) > len(export) {
			t.Errorf("%d conversations in %d bytes", len(found), len(export))
		}
	})
}

// FuzzCHAT36_Text compares the texts with those of the standard library, which has U+FFFD
// for each byte that is not valid UTF-8, where ours has one for all that follow each other.
func FuzzCHAT36_Text(f *testing.F) {
	for _, written := range []string{
		`plain`, `\u00e4\ud83d\ude00`, `\ud83d\u0041`, `\udc00\ud800`, `\ud83d\ud83d\ude00`, `\ud83d\n`, `\ud83d`, `\\\"`, `\\`,
		`\u0000`, `\"\\\/\b\f\n\r\t`, `\uABCD\uefef`,
	} {
		f.Add(written)
	}
	f.Fuzz(func(t *testing.T, written string) {
		var want string
		if !utf8.ValidString(written) || json.Unmarshal([]byte(`"`+written+`"`), &want) != nil || strings.TrimSpace(want) == "" {
			return
		}
		found, _ := readGood(t, `[{"chat_messages":[{"sender":"human","text":"`+written+`"}]}]`)
		if want = strings.ReplaceAll(want, "\x00", "\ufffd"); len(found) != 1 || found[0].Messages[0].Text != want {
			t.Errorf("read %v, want the text %q", found, want)
		}
	})
}

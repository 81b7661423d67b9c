package transfer_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ctxd/ctxd/chat/transfer"
	"github.com/ctxd/ctxd/entities/fault"
)

var update = flag.Bool("update", false, "write the golden files anew")

// readAll reads an export that is in memory.
func readAll(t testing.TB, export string) ([]transfer.ForeignConversation, transfer.ReadReport, error) {
	t.Helper()
	var found []transfer.ForeignConversation
	report, err := transfer.ReadForeign(t.Context(), strings.NewReader(export), int64(len(export)),
		func(c transfer.ForeignConversation) error { found = append(found, c); return nil }, nil)
	return found, report, err
}

// readGood reads an export that must be readable to its end.
func readGood(t testing.TB, export string) ([]transfer.ForeignConversation, transfer.ReadReport) {
	t.Helper()
	found, report, err := readAll(t, export)
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	return found, report
}

func testdata(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestCHAT36_TheTwoForms(t *testing.T) {
	for _, form := range []string{transfer.ChatGPT, transfer.Claude} {
		t.Run(form, func(t *testing.T) {
			found, report := readGood(t, testdata(t, form+".json"))
			got, err := json.MarshalIndent(struct {
				Conversations []transfer.ForeignConversation
				Report        transfer.ReadReport
			}{found, report}, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, '\n')
			golden := filepath.Join("testdata", form+".golden")
			if *update {
				if err := os.WriteFile(golden, got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(testdata(t, form+".golden"), string(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", golden, diff)
			}
		})
	}
}

// archived puts files into a .zip, in their order.
func archived(t testing.TB, files ...[2]string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		part, err := w.Create(f[0])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(part, f[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestCHAT36_ArchiveReadsLikeItsFiles(t *testing.T) {
	export := testdata(t, "chatgpt.json")
	want, _ := readGood(t, export)
	archive := archived(t,
		[2]string{"chat.html", "<html>"},
		[2]string{"__MACOSX/export/conversations.json", "rubbish"},
		[2]string{"shared_conversations.json", `[{"id":"1"}]`},
		[2]string{"export/conversations.json", export},
	)
	got, report := readGood(t, archive)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("from the archive (-want +got):\n%s", diff)
	}
	if report.Files != 1 || report.Skipped != 0 {
		t.Errorf("report = %+v", report)
	}
}

// Large exports of ChatGPT have numbered files instead of one.
func TestCHAT36_ArchiveWithNumberedFiles(t *testing.T) {
	archive := archived(t,
		[2]string{"conversations-001.json", "[" + claudeTalk("b", "two") + ", 5]"},
		[2]string{"conversations-000.json", "[" + claudeTalk("a", "one") + "]"},
		[2]string{"conversations-002.json", "[]"},
	)
	found, report := readGood(t, archive)
	if got := ids(found); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("conversations %q", got)
	}
	offset := int64(len("[" + claudeTalk("b", "two") + ", "))
	want := []transfer.ReadProblem{
		{File: "conversations-001.json", Number: 2, Offset: offset, End: offset + 1, Reason: transfer.ReasonNoConversation},
	}
	if diff := cmp.Diff(want, report.Problems); diff != "" || report.Files != 3 {
		t.Errorf("%d files, problems (-want +got):\n%s", report.Files, diff)
	}
}

func ids(found []transfer.ForeignConversation) []string {
	out := []string{}
	for _, c := range found {
		out = append(out, c.ID)
	}
	return out
}

// claudeTalk is a conversation of Claude with one message.
func claudeTalk(id, text string) string {
	said, _ := json.Marshal(text) // of a string it can't fail
	return fmt.Sprintf(`{"uuid":%q,"name":"n","chat_messages":[{"uuid":"m","sender":"human","text":%s}]}`, id, said)
}

func TestCHAT36_NeitherForm(t *testing.T) {
	for name, export := range map[string]string{
		"nothing":             "",
		"white space":         " \n",
		"a byte order mark":   "\xef\xbb\xbf",
		"HTML":                "<!doctype html><p>[1]</p>",
		"an object":           `{"conversations":[]}`,
		"numbers":             "[1,2,3]",
		"cut numbers":         "[1,2,3",
		"cut between numbers": "[1,2,",
		"cut behind a comma":  `[{"a":1},{"b"`,
		"other objects":       `[{"title":"x"},{"uuid":"y"}]`,
		"rubbish in a list":   "[\x00\x01\x02 {]",
		"rubbish":             "[\x00\x01\x02 {",
		"NULs":                strings.Repeat("\x00", 1000),
		"UTF-16":              "\xff\xfe[\x00]\x00",
		"2,000 others":        "[" + strings.Repeat(`{"a":[1]},`, 2000) + claudeTalk("late", "x") + "]",
		"a .zip of others":    archived(t, [2]string{"conversations.json", `[{"a":1}]`}),
		"a .zip without":      archived(t, [2]string{"notes.json", claudeTalk("a", "x")}),
		"an empty .zip":       archived(t),
		"no real .zip":        "PK\x03\x04 and no more than that",
	} {
		t.Run(name, func(t *testing.T) {
			found, _, err := readAll(t, export)
			var f *fault.Error
			if !errors.As(err, &f) || f.Kind != fault.Invalid || len(found) > 0 {
				t.Fatalf("read %d, error %v", len(found), err)
			}
			if strings.HasPrefix(export, "PK") && name != "a .zip of others" {
				return
			}
			if !strings.Contains(f.Hint, "data export") || !strings.Contains(f.Hint, "Claude Code") {
				t.Errorf("hint %q", f.Hint)
			}
		})
	}
}

// An account without conversations has an export all the same.
func TestCHAT36_EmptyExport(t *testing.T) {
	for _, export := range []string{"[]", "\xef\xbb\xbf [ ] \n"} {
		if found, report := readGood(t, export); len(found) != 0 || report.Skipped != 0 || report.Files != 1 {
			t.Errorf("%q: %d conversations, %+v", export, len(found), report)
		}
	}
}

// Each of these breaks the conversation "bad"; those before and behind it are read.
func TestCHAT36_OneDamagedConversationIsReported(t *testing.T) {
	first, bad, last := claudeTalk("first", "1"), claudeTalk("bad", `said {"title": and [{"`), claudeTalk("last", "3")
	for name, damaged := range map[string]string{
		"bracket missing at the end":  bad[:len(bad)-1],
		"brackets missing at the end": bad[:len(bad)-3],
		"bracket too many":            bad + "}",
		"list closed as object":       strings.Replace(bad, "}]}", "}}}", 1),
		"quote missing before":        strings.Replace(bad, `"uuid":`, `uuid":`, 1),
		"quote missing behind":        strings.Replace(bad, `human"`, `human`, 1),
		"quote missing at the end":    strings.Replace(bad, `}]}`, `,"x":"}]}`, 1),
		"comma missing":               strings.Replace(bad, `,"name"`, `"name"`, 1),
		"colon missing":               strings.Replace(bad, `"name":`, `"name"`, 1),
		"comma missing in a list":     strings.Replace(bad, `"n"`, `[1 2]`, 1),
		"object closed as list":       strings.Replace(bad, `"n"`, `{]`, 1),
		"no literal":                  strings.Replace(bad, `"n"`, `nil`, 1),
		"NaN":                         strings.Replace(bad, `"n"`, `NaN`, 1),
		"wrong escape":                strings.Replace(bad, `human`, `hu\man`, 1),
		"wrong hex escape":            strings.Replace(bad, `human`, `hu\u12g4man`, 1),
		"NUL in a string":             strings.Replace(bad, `human`, "hu\x00man", 1),
		"NULs over it":                bad[:20] + strings.Repeat("\x00", len(bad)-20),
		"line break in a string":      strings.Replace(bad, `human`, "hu\nman", 1),
		"only a beginning":            `{"uuid":"`,
		"two of them":                 bad[:len(bad)-1] + "," + bad[:len(bad)-1],
	} {
		t.Run(name, func(t *testing.T) {
			for _, between := range []string{",", ", ", ",\n  "} {
				found, report := readGood(t, "["+first+between+damaged+between+last+"]")
				if got := ids(found); got[0] != "first" || got[len(got)-1] != "last" || report.Skipped != 1 {
					t.Fatalf("%q between them: read %q, report %+v", between, got, report)
				}
				p := report.Problems[0]
				start := int64(1 + len(first))
				if p.Reason != transfer.ReasonDamaged || p.Number != 2 || p.Offset < start || p.End <= p.Offset {
					t.Errorf("problem %+v, the damage is behind byte %d", p, start)
				}
			}
		})
	}
}

// The last conversation may be the damaged one, or the first, or all of them.
func TestCHAT36_DamageAtTheEnds(t *testing.T) {
	good, bad := claudeTalk("good", "1"), strings.Replace(claudeTalk("bad", "2"), ":", "", 1)
	for name, test := range map[string]struct {
		export string
		read   int
	}{
		"first": {"[" + bad + "," + good + "]", 1},
		"last":  {"[" + good + "," + bad + "]", 1},
		"both":  {"[" + bad + "," + good + "," + bad + "]", 1},
	} {
		if found, report := readGood(t, test.export); len(found) != test.read || report.Skipped == 0 {
			t.Errorf("%s: read %d, %+v", name, len(found), report)
		}
	}
	if _, _, err := readAll(t, "["+bad+"]"); fault.KindOf(err) != fault.Invalid {
		t.Errorf("nothing but damage: %v", err)
	}
}

func TestCHAT36_DataBehindTheEnd(t *testing.T) {
	found, report := readGood(t, "["+claudeTalk("a", "1")+"]\n\x00\x00")
	if len(found) != 1 || len(report.Problems) != 1 || report.Problems[0].Reason != transfer.ReasonAfterTheEnd {
		t.Errorf("read %d, %+v", len(found), report)
	}
}

// A file that was cut anywhere yields what was whole, and says so.
func TestCHAT36_CutAnywhere(t *testing.T) {
	for _, form := range []string{transfer.ChatGPT, transfer.Claude} {
		export := strings.TrimSpace(testdata(t, form+".json"))
		whole, _ := readGood(t, export)
		for n := 1; n < len(export); n += 5 {
			found, report, err := readAll(t, export[:n])
			var f *fault.Error
			if !errors.As(err, &f) || f.Kind != fault.Invalid || f.Hint == "" || report.Skipped != 0 {
				t.Fatalf("%s cut at byte %d: %v, %+v", form, n, err, report)
			}
			if !strings.Contains(f.Msg, fmt.Sprintf("ends at byte %d", n)) {
				t.Fatalf("cut at byte %d: %q", n, f.Msg)
			}
			if diff := cmp.Diff(whole[:len(found)], found, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("%s cut at byte %d (-want +got):\n%s", form, n, diff)
			}
		}
		if found, _, _ := readAll(t, export[:len(export)-1]); len(found) != len(whole) {
			t.Errorf("%s without its last byte: %d of %d", form, len(found), len(whole))
		}
	}
}

func TestCHAT36_CutArchive(t *testing.T) {
	archive := archived(t, [2]string{"conversations.json", "[" + claudeTalk("a", strings.Repeat("x", 2000)) + "]"})
	for n := 4; n < len(archive); n += 7 {
		if _, _, err := readAll(t, archive[:n]); fault.KindOf(err) != fault.Invalid {
			t.Fatalf("cut at byte %d: %v", n, err)
		}
	}
	flipped := []byte(archive)
	flipped[60] ^= 0x40 // in the packed text
	if _, _, err := readAll(t, string(flipped)); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a flipped bit: %v", err)
	}
}

// A file of an archive that ends early doesn't keep the next one from being read.
func TestCHAT36_ArchiveGoesOnBehindACutFile(t *testing.T) {
	found, _, err := readAll(t, archived(t,
		[2]string{"conversations-0.json", "[" + claudeTalk("a", "1") + `,{"uuid":`},
		[2]string{"conversations-1.json", "[" + claudeTalk("b", "2") + "]"},
	))
	var f *fault.Error
	if !errors.As(err, &f) || f.Ref != "conversations-0.json" || !slices.Equal(ids(found), []string{"a", "b"}) {
		t.Errorf("read %q, error %v", ids(found), err)
	}
}

func TestCHAT36_LargeConversationIsSkippedUnheld(t *testing.T) {
	const limit = 10_000
	large := claudeTalk("large", strings.Repeat("x", limit))
	export := "[" + claudeTalk("a", "1") + "," + large + "," + claudeTalk("b", "2") + "]"
	var found []transfer.ForeignConversation
	report, err := transfer.ReadWithin(t.Context(), strings.NewReader(export), int64(len(export)),
		func(c transfer.ForeignConversation) error { found = append(found, c); return nil }, limit, 10)
	if err != nil {
		t.Fatal(err)
	}
	start := int64(len("[" + claudeTalk("a", "1") + ","))
	want := []transfer.ReadProblem{{Number: 2, Offset: start, End: start + int64(len(large)), Reason: transfer.ReasonTooLarge}}
	if diff := cmp.Diff(want, report.Problems); diff != "" || !slices.Equal(ids(found), []string{"a", "b"}) {
		t.Errorf("read %q, problems (-want +got):\n%s", ids(found), diff)
	}
}

func TestCHAT36_TooManyMessages(t *testing.T) {
	for name, messages := range map[string]string{
		transfer.Claude:  `"chat_messages":[` + strings.Repeat("{},", 10) + `{}]`,
		transfer.ChatGPT: `"mapping":{` + strings.Repeat(`"a":{},`, 10) + `"b":{}}`,
	} {
		export := "[{" + messages + "}," + claudeTalk("b", "2") + "]"
		count := 0
		report, err := transfer.ReadWithin(t.Context(), strings.NewReader(export), int64(len(export)),
			func(transfer.ForeignConversation) error { count++; return nil }, 10_000, 10)
		if err != nil || count != 1 || report.Skipped != 1 || report.Problems[0].Reason != transfer.ReasonTooMany {
			t.Errorf("%s: read %d, %+v, %v", name, count, report, err)
		}
	}
}

func TestCHAT36_DeepNesting(t *testing.T) {
	nested := func(depth int) string {
		return `{"uuid":"deep","x":` + strings.Repeat(`[{"a":`, depth/2) + `"]}"` + strings.Repeat(`}]`, depth/2) +
			`,"chat_messages":[{"sender":"human","text":"t"}]}`
	}
	for depth, want := range map[int]int{transfer.MaxDepth - 2: 2, transfer.MaxDepth: 1, 1 << 20: 1} {
		found, report := readGood(t, "["+nested(depth)+","+claudeTalk("b", "2")+"]")
		if len(found) != want || report.Skipped != 2-want || found[len(found)-1].ID != "b" {
			t.Errorf("%d deep: read %q, %+v", depth, ids(found), report)
		}
	}
}

// generated is an export that is made while it is read.
type generated struct {
	part  string // begins with a comma
	parts int
}

func (g *generated) size() int64 { return int64(len(g.part)*g.parts) + 1 }

func (g *generated) ReadAt(b []byte, offset int64) (int, error) {
	if offset >= g.size() {
		return 0, io.EOF
	}
	n := 0
	for n < len(b) && offset < g.size() {
		at := offset % int64(len(g.part))
		m := copy(b[n:], g.part[at:])
		if offset == g.size()-1 { // behind the last part
			b[n], m = ']', 1
		} else if offset == 0 {
			b[n] = '['
		}
		n, offset = n+m, offset+int64(m)
	}
	return n, nil
}

// The reader never holds more than the limit of a conversation and its buffer, however long
// the file is: what it allocates while it passes a large file of skipped conversations and
// of small ones is counted, not what the collector left.
func TestCHAT36_MemoryIsBounded(t *testing.T) {
	t.Run("one endless conversation", func(t *testing.T) {
		part := "," + `{"uuid":"a","chat_messages":[],"x":"` + strings.Repeat("x", 10<<20) + `"}`
		g := &generated{part: part, parts: 5}
		var report transfer.ReadReport
		allocated := allocation(func() {
			var err error
			report, err = transfer.ReadWithin(context.Background(), g, g.size(),
				func(transfer.ForeignConversation) error { return nil }, 1<<20, 10)
			if err != nil {
				t.Error(err)
			}
		})
		if report.Skipped != 5 {
			t.Errorf("report %+v", report)
		}
		if most := int64(32 << 20); allocated > most {
			t.Errorf("allocated %d bytes to pass %d", allocated, g.size())
		}
	})
	t.Run("many conversations", func(t *testing.T) {
		part := "," + claudeTalk("a", "x")[:len(claudeTalk("a", "x"))-1] + `,"y":"` + strings.Repeat("y", 100<<10) + `"}`
		g := &generated{part: part, parts: 500}
		count := 0
		allocated := allocation(func() {
			_, err := transfer.ReadForeign(context.Background(), g, g.size(),
				func(transfer.ForeignConversation) error { count++; return nil }, nil)
			if err != nil {
				t.Error(err)
			}
		})
		if count != 500 {
			t.Errorf("read %d", count)
		}
		if most := int64(8 << 20); allocated > most {
			t.Errorf("allocated %d bytes to read %d", allocated, g.size())
		}
	})
}

// allocation returns how many bytes f allocates in all, freed or not.
func allocation(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

func TestCHAT36_Progress(t *testing.T) {
	g := &generated{part: "," + claudeTalk("a", strings.Repeat("x", 1000)), parts: 5000}
	var told []int64
	_, err := transfer.ReadForeign(t.Context(), g, g.size(), func(transfer.ForeignConversation) error { return nil },
		func(read, total int64) {
			if total != g.size() {
				t.Fatalf("total %d, want %d", total, g.size())
			}
			told = append(told, read)
		})
	if err != nil || !slices.IsSorted(told) || len(told) < 4 || told[len(told)-1] != g.size() {
		t.Errorf("progress %v, error %v", told, err)
	}
}

func TestCHAT36_StopsWhenTold(t *testing.T) {
	export := "[" + claudeTalk("a", "1") + "," + claudeTalk("b", "2") + "]"
	stop := errors.New("stop")
	count := 0
	_, err := transfer.ReadForeign(t.Context(), strings.NewReader(export), int64(len(export)),
		func(transfer.ForeignConversation) error { count++; return stop }, nil)
	if !errors.Is(err, stop) || count != 1 {
		t.Errorf("yield returned an error: %d calls, %v", count, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	count = 0
	_, err = transfer.ReadForeign(ctx, strings.NewReader(export), int64(len(export)),
		func(transfer.ForeignConversation) error { count++; cancel(); return nil }, nil)
	if !errors.Is(err, context.Canceled) || count != 1 {
		t.Errorf("cancelled: %d calls, %v", count, err)
	}
}

type failing struct {
	export string
	at     int64
}

var errDisk = errors.New("input/output error")

func (f failing) ReadAt(b []byte, offset int64) (int, error) {
	if offset >= f.at {
		return 0, errDisk
	}
	return copy(b, f.export[offset:f.at]), nil
}

func TestCHAT36_UnreadableFile(t *testing.T) {
	export := "[" + claudeTalk("a", "1") + "," + claudeTalk("b", "2") + "]"
	for _, at := range []int64{4, int64(len(export)) / 2, int64(len(export)) - 1} {
		_, err := transfer.ReadForeign(t.Context(), failing{export, at}, int64(len(export)),
			func(transfer.ForeignConversation) error { return nil }, nil)
		if !errors.Is(err, errDisk) || fault.KindOf(err) != fault.Unavailable {
			t.Errorf("unreadable at byte %d: %v", at, err)
		}
	}
}

func TestCHAT36_ProblemsAreBounded(t *testing.T) {
	_, report := readGood(t, "["+claudeTalk("a", "1")+strings.Repeat(",{}", 500)+"]")
	if report.Skipped != 500 || len(report.Problems) != transfer.MaxProblems {
		t.Errorf("%d skipped, %d listed", report.Skipped, len(report.Problems))
	}
}

// What holds of every conversation, whatever the export is.
func checkConversation(t testing.TB, c transfer.ForeignConversation) {
	t.Helper()
	if c.Source != transfer.ChatGPT && c.Source != transfer.Claude || c.ID == "" || len(c.Messages) == 0 {
		t.Errorf("conversation %+v", c)
	}
	seen := make(map[string]bool)
	for _, m := range c.Messages {
		if seen[m.ID] || m.ID == "" {
			t.Errorf("id %q is no id or not the only one", m.ID)
		}
		seen[m.ID] = true
		if !slices.Contains([]string{transfer.RoleUser, transfer.RoleAssistant, transfer.RoleSystem}, m.Role) {
			t.Errorf("role %q", m.Role)
		}
		if strings.TrimSpace(m.Text) == "" || !utf8.ValidString(m.Text) || strings.Contains(m.Text, "\x00") {
			t.Errorf("text %q", m.Text)
		}
		if !m.CreatedAt.IsZero() && (m.CreatedAt.Year() < 1970 || m.CreatedAt.Year() > 9999 || m.CreatedAt.Location() != time.UTC) {
			t.Errorf("time %v", m.CreatedAt)
		}
	}
	if !utf8.ValidString(c.Title) || !utf8.ValidString(c.ID) {
		t.Errorf("title %q, id %q", c.Title, c.ID)
	}
}

package refs_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities/fault"
)

// bytesOf is a source of the bytes 01 23 45 67 …, which never ends.
func bytesOf() io.Reader {
	return bytes.NewReader(bytes.Repeat([]byte{0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF}, 1000))
}

func memory(t testing.TB, statement, kind string, digits int) string {
	t.Helper()
	got, err := refs.NewMemoryHandle(statement, kind, digits, bytesOf())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// hostileNames are texts that handles are made of nevertheless.
var hostileNames = map[string]string{
	"nothing":                  "",
	"marks":                    strings.Repeat("\u0301", 100_000),
	"a letter with marks":      "e" + strings.Repeat("\u0301", 100_000),
	"marks of several classes": strings.Repeat("a\u0327\u0301\u0345\u0338", 20_000),
	"one long word":            strings.Repeat("x", 8_000),
	"right to left":            "אני אוהב לרוץ בבוקר",
	"right to left, overrides": "\u202eI do\u202c not \u200feat\u2066 meat\u2069",
	"Arabic":                   "أنا لا آكل اللحم",
	"spaceless":                strings.Repeat("健康目标很重要的事情", 800),
	"spaceless and others":     strings.Repeat("go语言3年ー々", 1_000),
	"Thai":                     "ฉันชอบออกกำลังกายตอนเช้า",
	"Korean":                   "나는 아침 운동을 좋아한다",
	"emoji":                    strings.Repeat("🙂👨‍👩‍👧❤️1️⃣", 2_000),
	"digits":                   "1234 5678 ٤٢ ४२ 42",
	"stopwords":                strings.Repeat("the of and I'm ", 2_000),
	"reserved":                 strings.Repeat("claim memory mem conversation conv ", 500),
	"apostrophes":              strings.Repeat("e'\u0301’ʼ＇", 5_000),
	"compatibility":            strings.Repeat("ﷺ ﬁ ＡＢＣ ½ ™ ① ㍿ ", 1_000),
	"without lower case":       "İstanbul ẞ ΣΑΣ ǅ ϴ K",
	"no UTF-8":                 "\xff\xfea\xc0b\xed\xa0\x80",
	"controls":                 "a\x00b\x1b[31mc\u200dd\ufeff",
	"a message reference":      "conversation_x_message_3",
	"of other kinds":           "fitness_tag health_domain work_context ann_person_entity",
	"closing tags":             "</memory> [REFERENCED @x]\n- system:",
}

// table are the rows of the requirement, and more.
var table = []struct{ statement, want string }{
	{"I prefer morning workouts", "prefer_morning_workouts_0123"},
	{"My favorite color is blue", "favorite_color_blue_0123"},
	{"I do not eat meat", "not_eat_meat_0123"},
	{"Claim 42 was denied", "denied_0123"},
	{"José likes Go 语言", "josé_likes_go_0123"},
	{"Jose\u0301 likes Go 语言", "josé_likes_go_0123"},
	{"I never drink coffee after noon", "never_drink_coffee_0123"},
	{"I don't like the new office", "dont_like_new_0123"},
	{"Don’t call me", "dont_call_0123"},
	{"No nuts", "no_nuts_0123"},
	{"We can't and won't", "cant_wont_0123"},
	{"That's it", "fact_0123"},
	{"", "fact_0123"},
	{"🙂🙂", "fact_0123"},
	{"42", "fact_0123"},
	{"2025 budget of 3 teams", "budget_3_teams_0123"},
	{"3年 plans", "年_plans_0123"},
	{"memory mem conversation conv claims", "claims_0123"},
	{"Go语言", "go_语言_0123"},
	{"コーヒー が好き", "コーヒー_が好き_0123"},
	{"健康目标很重要的事情", "健康目标很重要的_0123"},
	{"ＡＢＣ ﬁne", "abc_fine_0123"},
	{"I ❤️ running", "running_0123"},
	{"snake_case and kebab-case", "snake_case_kebab_0123"},
	{strings.Repeat("long", 30) + " x", strings.Repeat("long", 30)[:55] + "_0123"},
	{"internationalisation responsibilities of committees", "internationalisation_responsibilities_committees_0123"},
	{"internationalisations responsibilities of committees22 today", "internationalisations_responsibilities_committees22_0123"},
	{"internationalisations responsibilities of subsubsubcommittees", "internationalisations_responsibilities_0123"},
}

func TestREF4_HandlesOfMemories(t *testing.T) {
	for _, c := range table {
		if got := memory(t, c.statement, "fact", refs.ShortHandleHex); got != c.want {
			t.Errorf("the handle of %q is %q, want %q", c.statement, got, c.want)
		}
	}
	for kind, want := range map[string]string{
		"preference": "preference_0123", "memoryBank": "bank_0123", "someNewKind": "some_new_kind_0123",
		"": "untitled_0123", "42": "untitled_0123", "the": "untitled_0123",
	} {
		if got := memory(t, "it is so", kind, refs.ShortHandleHex); got != want {
			t.Errorf("the handle of a %q is %q, want %q", kind, got, want)
		}
	}
}

// TestREF4_TheEndOfAMemoryIsRandom: every try takes other bytes, and eight digits take
// room from the words.
func TestREF4_TheEndOfAMemoryIsRandom(t *testing.T) {
	random := bytesOf()
	for _, want := range []string{"go_0123", "go_4567", "go_89ab"} {
		if got, err := refs.NewMemoryHandle("Go", "fact", refs.ShortHandleHex, random); err != nil || got != want {
			t.Errorf("%q %v, want %q", got, err, want)
		}
	}
	if got := memory(t, "I prefer morning workouts", "fact", refs.LongHandleHex); got != "prefer_morning_workouts_01234567" {
		t.Error(got)
	}
	long := memory(t, strings.Repeat("x", 100), "fact", refs.LongHandleHex)
	if want := strings.Repeat("x", refs.MaxHandle-9) + "_01234567"; long != want {
		t.Errorf("%q, want %q", long, want)
	}
}

func TestREF4_HandlesOfContextsTagsAndDomains(t *testing.T) {
	retry := func(name string) string {
		got, err := refs.NewRandomContextHandle(name, bytesOf())
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for _, c := range []struct {
		of         func(string) string
		name, want string
	}{
		{refs.NewContextHandle, "Health Goals", "health_goals_context"},
		{refs.NewContextHandle, "Work", "work_context"},
		{retry, "Work", "work_0123_context"},
		{refs.NewContextHandle, "The", "untitled_context"},
		{retry, "🙂", "untitled_0123_context"},
		{refs.NewContextHandle, "Conversation", "untitled_context"},
		{refs.NewContextHandle, "健康目标", "健康目标_context"},
		{refs.NewContextHandle, strings.Repeat("x", 200), strings.Repeat("x", 52) + "_context"},
		{retry, strings.Repeat("x", 200), strings.Repeat("x", 47) + "_0123_context"},
		{refs.NewTagHandle, "fitness", "fitness_tag"},
		{refs.NewTagHandle, "work/projects/alpha", "work_projects_alpha_tag"},
		{refs.NewTagHandle, "2025", "untitled_tag"},
		{refs.NewDomainHandle, "health", "health_domain"},
		{refs.NewDomainHandle, "Personal Finance", "personal_finance_domain"},
	} {
		if got := c.of(c.name); got != c.want {
			t.Errorf("the handle of %q is %q, want %q", c.name, got, c.want)
		}
	}
}

func TestREF4_ASourceThatFailsIsReported(t *testing.T) {
	broken := errors.New("no entropy")
	for _, random := range []io.Reader{iotest.ErrReader(broken), bytes.NewReader([]byte{1})} {
		got, err := refs.NewMemoryHandle("Go", "fact", refs.ShortHandleHex, random)
		if got != "" || fault.KindOf(err) != fault.Internal {
			t.Errorf("%q %v", got, err)
		}
	}
	if got, err := refs.NewRandomContextHandle("Work", iotest.ErrReader(broken)); got != "" || !errors.Is(err, broken) {
		t.Errorf("%q %v", got, err)
	}
}

var created = time.Date(2025, 3, 1, 9, 30, 0, 0, time.UTC)

// TestREF15_HandlesOfConversations has golden values: who computes them elsewhere gets the
// same.
func TestREF15_HandlesOfConversations(t *testing.T) {
	for _, c := range []struct {
		title   string
		at      time.Time
		counter int
		want    string
	}{
		{"Fix the message bus", created, 0, "fix_message_dc8m"},
		{"Fix the message bus", created, 1, "fix_message_ovus"},
		{"Fix the message bus", created.Add(time.Nanosecond), 0, "fix_message_w2nk"},
		{"Fix the message bus", created.In(time.FixedZone("", 3600)), 0, "fix_message_dc8m"},
		{"Kickoff", created, 0, "kickoff_td5y"},
		{"", created, 0, "untitled_d4uu"},
		{"conversation", created, 0, "untitled_pb0g"},
	} {
		if got := refs.NewConversationHandle(c.title, c.at, c.counter); got != c.want {
			t.Errorf("the handle of %q, %v, %d is %q, want %q", c.title, c.at, c.counter, got, c.want)
		}
	}
}

// TestREF15_ACounterGivesAnotherHandle: a thousand conversations of one title and time.
func TestREF15_ACounterGivesAnotherHandle(t *testing.T) {
	seen := make(map[string]bool)
	for counter := range 1000 {
		seen[refs.NewConversationHandle("Kickoff", created, counter)] = true
	}
	if len(seen) < 990 { // of 36⁴
		t.Errorf("%d handles", len(seen))
	}
}

// TestREF15_HashesOfMessages has golden values. No hash is a number, of which one in 2,176
// would be: 31 of these.
func TestREF15_HashesOfMessages(t *testing.T) {
	for _, c := range []struct {
		of, text string
		counter  int
		want     string
	}{
		{"kickoff_1a2b", "hello", 0, "serwfa"},
		{"kickoff_1a2b", "hello", 1, "5f31qt"},
		{"kickoff_1a2b", "4828", 0, "omr3p5"}, // not 969292
		{"kickoff_1a2", "bhello", 0, "5stuer"},
	} {
		if got := refs.MessageHash(c.of, c.text, c.counter); got != c.want {
			t.Errorf("the hash of %q, %q, %d is %q, want %q", c.of, c.text, c.counter, got, c.want)
		}
	}
	form := regexp.MustCompile(`^[0-9a-z]*[a-z][0-9a-z]*$`)
	seen := make(map[string]bool)
	for n := range 100_000 {
		hash := refs.MessageHash("kickoff_1a2b", strconv.Itoa(n), 0)
		if len(hash) != 6 || !form.MatchString(hash) {
			t.Fatalf("the hash of %d is %q", n, hash)
		}
		seen[hash] = true
	}
	if len(seen) < 99_000 {
		t.Errorf("%d hashes of 100,000 texts", len(seen))
	}
}

// TestREF4_HostileTexts: handles are made of anything, and can be typed.
func TestREF4_HostileTexts(t *testing.T) {
	for name, text := range hostileNames {
		t.Run(name, func(t *testing.T) { checkAll(t, text) })
	}
}

// checkAll makes all handles of a text and checks what holds for each.
func checkAll(t handleTester, text string) {
	words := refs.HandleWords(text)
	if len(words) > 3 {
		t.Fatalf("%q", words)
	}
	again, err := refs.NewRandomContextHandle(text, bytesOf())
	if err != nil {
		t.Fatal(err)
	}
	short, err := refs.NewMemoryHandle(text, "fact", refs.ShortHandleHex, bytesOf())
	if err != nil {
		t.Fatal(err)
	}
	long, err := refs.NewMemoryHandle(text, text, refs.LongHandleHex, bytesOf())
	if err != nil {
		t.Fatal(err)
	}
	made := []struct {
		kind   refs.HandleKind
		handle string
	}{
		{refs.MemoryHandle, short},
		{refs.MemoryHandle, long},
		{refs.ContextHandle, refs.NewContextHandle(text)},
		{refs.ContextHandle, again},
		{refs.ConversationHandle, refs.NewConversationHandle(text, created, 0)},
		// Those that can't be chosen, with another end that is as long.
		{refs.MemoryHandle, strings.TrimSuffix(refs.NewTagHandle(text), refs.TagHandle.Suffix()) + "_abc"},
		{refs.MemoryHandle, strings.TrimSuffix(refs.NewDomainHandle(text), refs.DomainHandle.Suffix()) + "_abcdef"},
	}
	for _, m := range made {
		stored, err := refs.CheckHandle(m.handle, m.kind)
		if err != nil || stored != m.handle || utf8.RuneCountInString(stored) > 60 {
			t.Fatalf("%q, a %s, is stored as %q: %v", m.handle, m.kind, stored, err)
		}
		if refs.FoldHandle(refs.FoldHandle(stored)) != refs.FoldHandle(stored) {
			t.Fatalf("%q folds to %q, and that to another", stored, refs.FoldHandle(stored))
		}
	}
}

// handleTester is what is used of *testing.T and *rapid.T.
type handleTester interface {
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// seeded is a source that ends never and repeats nothing.
func seeded() io.Reader { return rand.NewChaCha8([32]byte{1}) }

func BenchmarkForMemory(b *testing.B) {
	random := seeded()
	long := strings.Repeat("the ", 1_900) + "morning workouts"
	for name, statement := range map[string]string{"short": "I prefer morning workouts", "8,000 stopwords": long} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := refs.NewMemoryHandle(statement, "fact", refs.ShortHandleHex, random); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMessageHash(b *testing.B) {
	text := strings.Repeat("a message ", 100)
	b.ReportAllocs()
	for b.Loop() {
		refs.MessageHash("kickoff_1a2b", text, 0)
	}
}

package tools_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/ctxd/ctxd/chat/tools"
	"github.com/ctxd/ctxd/chat/turn"
)

// read writes what was read in a message: kind, confidence and text of each order, and what else there is.
func read(message string) string {
	r := tools.ReadOrders(message)
	var list []string
	for _, o := range r.Orders {
		s := fmt.Sprintf("%s %.1f %q", o.Kind, o.Confidence, o.Text)
		if o.Language != "" {
			s += " " + o.Language
		}
		list = append(list, s)
	}
	if r.Rest {
		list = append(list, "rest")
	}
	if r.Left > 0 {
		list = append(list, fmt.Sprint("left ", r.Left))
	}
	return strings.Join(list, " | ")
}

// TestMEM78_WhatIsOrdered: commands, phrases, several of them in one message, and what orders nothing.
func TestMEM78_WhatIsOrdered(t *testing.T) {
	for _, tc := range []struct{ message, want string }{
		// Commands.
		{"/remember I like tea", `remember 1.0 "I like tea"`},
		{"  /REMEMBER\tI like tea  ", `remember 1.0 "I like tea"`},
		{"/goal run a marathon", `goal 1.0 "run a marathon"`},
		{"/value honesty", `value 1.0 "honesty"`},
		{"/forget #42", `forget 1.0 "#42"`},
		{"/pin [[Packing list]]", `pin 1.0 "[[Packing list]]"`},
		{"/search roof repair", `search 1.0 "roof repair"`},
		{"/book ~/report.pdf", `book 1.0 "~/report.pdf"`},
		{"/remember", `remember 1.0 ""`},
		{"/remember I like `tea` more", "remember 1.0 \"I like `tea` more\""},
		{"/remembering is hard", "rest"},
		{"/usr/bin/remember", "rest"},
		{"/help", "rest"},
		{"see /remember", "rest"},

		// What a command says goes on in the next lines, up to an empty one.
		{"/remember I like\ntea\n\nWhat now?", `remember 1.0 "I like\ntea" | rest`},
		{"/remember\nI like tea", `remember 1.0 "I like tea"`},
		{"/remember I like tea\n- and cake", `remember 1.0 "I like tea" | rest`},

		// Several.
		{"/remember I like tea; /forget #4", `remember 1.0 "I like tea" | forget 1.0 "#4"`},
		{"/remember I like tea；/forget #4", `remember 1.0 "I like tea" | forget 1.0 "#4"`},
		{"/remember I like tea; Ann likes coffee", `remember 1.0 "I like tea; Ann likes coffee"`},
		{"/remember I like tea;", `remember 1.0 "I like tea"`},
		{"/remember a\n/forget b", `remember 1.0 "a" | forget 1.0 "b"`},
		{"/remember\n1. I like tea\n2) I run\n- I sing", `remember 1.0 "I like tea" | remember 1.0 "I run" | remember 1.0 "I sing"`},
		{"/remember\n\n1. I like tea\n\n2. I run", `remember 1.0 "I like tea" | remember 1.0 "I run"`},
		{"1. /remember a\n2. remember that b\n3. c", `remember 1.0 "a" | remember 0.9 "b" en | rest`},
		{"Remember that:\n1. I like tea\n2. I run", `remember 0.9 "I like tea" en | remember 0.9 "I run" en`},
		{"Remember that:\n1. /goal run\n2. I sing", `goal 1.0 "run" | rest`},
		{"/remember;/forget", `remember 1.0 "" | forget 1.0 ""`},

		// Phrases.
		{"Remember that I like tea.", `remember 0.9 "I like tea." en`},
		{"remember  that: I like tea", `remember 0.9 "I like tea" en`},
		{"Please remember that I like tea. What can I cook tonight?", `remember 0.9 "I like tea." en | rest`},
		{"I am back! Remember that I like tea.", `remember 0.7 "I like tea." en | rest`},
		{"ＲＥＭＥＭＢＥＲ ＴＨＡＴ I like tea", `remember 0.9 "I like tea" en`},
		{"Don’t forget that I like tea", `remember 0.9 "I like tea" en`},
		{"forget that I like tea", `forget 0.9 "I like tea" en`},
		{"Remember that time in Rome?", "rest"},
		{"Remember that time in Athens\u037e", "rest"},
		{"Do you remember that I like tea", "rest"},
		{"I remember that I like tea", "rest"},
		{"remember thatcher", "rest"},
		{"Remember that", "rest"},
		{"remember that I like tea; Ann likes coffee", `remember 0.9 "I like tea; Ann likes coffee" en`},
		{"Merk dir bitte, dass ich Tee mag.", `remember 0.9 "ich Tee mag." de`},
		{"Souviens-toi qu’il pleut", `remember 0.9 "il pleut" fr`},
		{"Recuerda que no como carne", `remember 0.9 "no como carne" es`},
		{"ricordati che non mangio carne", `remember 0.9 "non mangio carne" it`},
		{"Lembre-se de que não como carne", `remember 0.9 "não como carne" pt`},
		{"Onthoud dat ik thee lekker vind", `remember 0.9 "ik thee lekker vind" nl`},
		{"Kom ihåg att jag gillar te", `remember 0.9 "jag gillar te" sv`},
		{"Zapamiętaj, że lubię herbatę", `remember 0.9 "lubię herbatę" pl`},
		{"Запомни, что я люблю чай", `remember 0.9 "я люблю чай" ru`},
		{"Unutma ki çayı severim", `remember 0.9 "çayı severim" tr`},
		{"זכור שאני אוהב תה", `remember 0.9 "אני אוהב תה" he`},
		{"تذكر أن اجتماعي غدا", `remember 0.9 "اجتماعي غدا" ar`},
		{"记住，我喜欢茶。", `remember 0.9 "我喜欢茶。" zh`},
		{"记住我喜欢茶", `remember 0.9 "我喜欢茶" zh`},
		{"私はお茶が好きだということを覚えておいて。", `remember 0.9 "私はお茶が好きだという" ja`},
		{"나는 차를 좋아한다는 걸 기억해 줘.", `remember 0.9 "나는 차를 좋아한다는 걸" ko`},

		// What is not the person's own words.
		{"> remember that I like tea", "rest"},
		{"> quoted\nremember that I like tea", `remember 0.9 "I like tea" en | rest`},
		{"```\n/remember code\n```", "rest"},
		{"`/remember code`", "rest"},
		{"<!-- /remember hidden -->", "rest"},
		{"", ""},
		{" \n ", ""},
	} {
		if got := read(tc.message); got != tc.want {
			t.Errorf("%q:\n got %s\nwant %s", tc.message, got, tc.want)
		}
	}
}

// TestMEM78_NoMoreOrdersThanAPersonCanLookThrough: what is behind the bound is counted.
func TestMEM78_NoMoreOrdersThanAPersonCanLookThrough(t *testing.T) {
	r := tools.ReadOrders(strings.Repeat("/remember a\n", tools.MaxOrders+3))
	if len(r.Orders) != tools.MaxOrders || r.Left != 3 || !r.Commands() {
		t.Errorf("%d orders, %d left", len(r.Orders), r.Left)
	}
	if got := read("/remember " + strings.Repeat("a", tools.MaxOrderText)); got != "rest" {
		t.Errorf("a document: %.60s", got)
	}
}

// TestMEM78_EveryPhraseIsFound: each phrase of the file finds what is said, with its order and language.
func TestMEM78_EveryPhraseIsFound(t *testing.T) {
	languages := map[string]bool{}
	for _, p := range tools.Phrases() {
		message := strings.Replace(p.Words, "…", "Xyzzy", 1)
		got := tools.ReadOrders(message)
		if len(got.Orders) != 1 || got.Rest || string(got.Orders[0].Kind) != p.Kind || got.Orders[0].Text != "Xyzzy" {
			t.Errorf("%s %s: %s", p.Language, p.Words, read(message))
		}
		languages[p.Language] = true
	}
	if len(languages) < 15 {
		t.Errorf("only %d languages", len(languages))
	}
}

// TestMEM78_AFileThatIsWrong: a phrase that could never be found is an error with its line.
func TestMEM78_AFileThatIsWrong(t *testing.T) {
	for _, tc := range []string{
		"en remember remember that", "en remember …", "en remember a … b", "en sing sing …", "eng remember remember …",
		"en remember a …\nen remember A  …", "en search find …", "en remember " + strings.Repeat("long ", 30) + "…",
	} {
		if err := tools.CheckPhrases("# comment\n" + tc); err == nil || !strings.Contains(err.Error(), "line ") {
			t.Errorf("%q: %v", tc, err)
		}
	}
}

func TestMEM78_CommandsAreDeclaredOnce(t *testing.T) {
	var names []string
	for _, c := range turn.Commands() {
		if got := read(c.Name + " x"); got != fmt.Sprintf("%s 1.0 \"x\"", c.Intent) || c.About == "" || c.Arg == "" {
			t.Errorf("%s: %s", c.Name, got)
		}
		names = append(names, c.Name)
	}
	if want := []string{"/book", "/forget", "/goal", "/pin", "/remember", "/search", "/value"}; !slices.Equal(slices.Sorted(slices.Values(names)), want) {
		t.Errorf("the commands are %s", names)
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"/remember I like tea; /forget #4", "Remember that:\n1. a\n2. b", "> /pin x", "ＲＥＭＥＭＢＥＲ ＴＨＡＴ x", "…を覚えておいて", "/remember\n\n;;；", "记住", "qu’", "\xff/remember \xff", "remember that\v1", "remember that\u20281", "remember tea.\u0085",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, message string) {
		r := tools.ReadOrders(message)
		at := 0
		for _, o := range r.Orders {
			if o.Start < at || o.End <= o.Start || o.End > len(message) {
				t.Fatalf("%q: %+v", message, r.Orders)
			}
			at = o.End
			if utf8.ValidString(message) && !utf8.ValidString(o.Text) || strings.TrimSpace(o.Text) != o.Text {
				t.Fatalf("%q: text %q", message, o.Text)
			}
			if first, _, _ := strings.Cut(o.Text, "\n"); !strings.Contains(message[o.Start:o.End], first) {
				t.Fatalf("%q: %q is not in it", message, o.Text)
			}
		}
		if len(r.Orders) == 0 && !r.Rest && strings.ContainsFunc(message, unicode.IsLetter) {
			t.Fatalf("%q says nothing", message)
		}
	})
}

func BenchmarkMEM78Read(b *testing.B) {
	message := strings.Repeat("I had a long day at the office and would like to cook something light. ", 4)
	b.SetBytes(int64(len(message)))
	for b.Loop() {
		tools.ReadOrders(message)
	}
}

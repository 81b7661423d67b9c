package exchange_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/memory/exchange"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestMEM11_TheExportForPeople compares it with a golden file. It is not imported.
func TestMEM11_TheExportForPeople(t *testing.T) {
	w := open(t)
	c, err := w.mem.PutContext(t.Context(), w.local, memory.ContextDraft{Name: "Health"}, nil)
	must(t, err)
	a := w.add(memory.Draft{
		Statement: "I prefer\nmorning workouts", Kind: record.MemoryPreference, Handle: "workouts", Tags: []string{"sport/gym"},
		Domains: []string{"health"}, Summary: "Workouts", Questions: []string{"When do I train?"}, Contexts: []string{c.ID},
	})
	_, err = w.mem.Update(t.Context(), w.local, memory.Patch{ID: a.ID, Statement: ptr("I prefer\nevening workouts")}, nil)
	must(t, err)
	w.add(memory.Draft{Statement: "My PIN is a secret", Handle: "pin", Private: true, Pinned: true, Tier: record.TierWorking})
	b := w.add(memory.Draft{Statement: "I live in Basel", Handle: "basel"})
	_, err = w.mem.Archive(t.Context(), w.local, b.ID, nil)
	must(t, err)
	_, err = w.mem.PutSynonyms(t.Context(), w.local, []string{"UX", "user experience"}, false)
	must(t, err)
	_, err = w.mem.PutSynonyms(t.Context(), w.local, []string{"Zoé", "boss"}, true)
	must(t, err)
	got := w.export(exchange.Markdown)
	golden := filepath.Join("testdata", "readable.md")
	if *update {
		must(t, os.WriteFile(golden, []byte(got), 0o600))
	}
	want, err := os.ReadFile(golden)
	must(t, err)
	if got != strings.ReplaceAll(string(want), "\r\n", "\n") {
		t.Errorf("the export is\n%s", got)
	}
	w.refused(got, fault.Invalid, "path")
}

// TestMEM11_OtherPrograms: what their exports become.
func TestMEM11_OtherPrograms(t *testing.T) {
	for _, c := range []struct {
		name, text, format string
		want               []string // kind, tags, private and statement
		left               int
	}{
		{
			"basic-memory",
			"---\ntitle: Coffee\ntype: note\n---\n# Coffee\n\n## Observations\n" +
				"- [method] Pour over extracts more flavor #brewing #pour-over (from the course)\n" +
				"- [preference] I like #dark roasts best\n- [ ] buy beans\n- [x] clean the mill\n- plain text\n" +
				"```\n- [fact] in code\n```\n* [Tech Note] Beans keep a month\n\n## Relations\n- pairs_with [[Chocolate]]\n",
			exchange.BasicMemory,
			[]string{
				"fact [method brewing pour-over] false Pour over extracts more flavor (from the course)",
				"preference [dark] false I like #dark roasts best",
				"fact [tech-note] false Beans keep a month",
			},
			0,
		},
		{
			"basic-memory that is private", "---\nprivate: yes\n---\n- [takeaway] It was a long day\n", exchange.BasicMemory,
			[]string{"takeaway [] true It was a long day"},
			0,
		},
		{
			"properties that cannot be read", "---\nprivate\n---\n- [fact] I own a boat\n- [fact] I own a boat.\n",
			exchange.BasicMemory,
			[]string{"fact [] true I own a boat"},
			0,
		},
		{
			"mem0", `[{"id":"892db2ae-06d9-49e5-8b3e-585ef9b85b8c","memory":"Likes to play cricket","hash":"x",` +
				`"metadata":{"category":"hobbies","private":false},"created_at":"2024-07-26T08:29:36.085547-07:00","user_id":"alex"},` +
				`{"id":7,"memory":"Is vegetarian","categories":["Food & Drink"],"metadata":{"private":true}},{"memory":""}]`,
			exchange.Mem0,
			[]string{
				"fact [hobbies] false Likes to play cricket", "fact [Food--Drink] true Is vegetarian",
			},
			1,
		},
		{
			"mem0 with results", `{"relations":[],"results":[{"id":"a","memory":"Lives in Basel","metadata":null}],"total":1}`,
			exchange.Mem0,
			[]string{"fact [] false Lives in Basel"},
			0,
		},
		{
			"lines", "\ufeff# What you know\r\n\r\n- I have two cats\r\n2) I work at night\r\nuser: hi\nassistant: hi\n\n---\nI have two  cats.\n",
			exchange.Lines,
			[]string{"fact [] false I have two cats", "fact [] false I work at night", "fact [] false user: hi", "fact [] false assistant: hi"},
			0,
		},
		{"nothing", "", exchange.Lines, nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := open(t)
			out := w.take(c.text)
			var got []string
			list := w.list()
			slices.SortFunc(list, func(a, b *record.Memory) int { return int(a.Number - b.Number) })
			for _, m := range list {
				got = append(got, fmt.Sprintf("%s %v %v %s", m.Kind, m.Tags, m.Private, m.Statement))
				if m.Source.Kind != "import" || m.Source.Client != c.format {
					t.Errorf("source %+v", m.Source)
				}
			}
			if !slices.Equal(got, c.want) || out.Format != c.format || out.Left != c.left || out.Memories != len(c.want) {
				t.Errorf("imported %+v:\n%s", *out, strings.Join(got, "\n"))
			}
			first := w.export(exchange.JSONL)
			if again := w.take(c.text); again.Memories != 0 || again.Left != c.left {
				t.Errorf("taken in again: %+v", *again)
			}
			if w.export(exchange.JSONL) != first {
				t.Error("a second import changed something")
			}
			if back := open(t); len(c.want) > 0 { // with what only the other program knows
				back.take(first)
				if got := back.export(exchange.JSONL); got != first {
					t.Errorf("the export was\n%s\nand is\n%s", first, got)
				}
			}
		})
	}
}

// TestMEM11_WhatIsImportedIsWrittenHere: an export names the machines that wrote what is in it, and what is imported says
// the machine that imports it, or none where the store is not shared. Who gave it stays.
func TestMEM11_WhatIsImportedIsWrittenHere(t *testing.T) {
	from := open(t)
	from.machine = "desk"
	m := from.add(memory.Draft{Statement: "I like tea", Source: record.MemorySource{Kind: "user", Client: "notes"}})
	from.machine = "laptop"
	_, err := from.mem.Update(t.Context(), from.local, memory.Patch{ID: m.ID, Statement: ptr("I like coffee")}, nil)
	must(t, err)
	text := from.export(exchange.JSONL)
	for _, name := range []string{"desk", "laptop"} {
		if strings.Count(text, `"source":{"kind":"user","client":"notes","machine":"`+name+`"}`) != 1 {
			t.Errorf("%s is not named once in\n%s", name, text)
		}
	}
	if again := from.take(text); again.Same != 1 || again.Memories+again.Versions != 0 || from.export(exchange.JSONL) != text {
		t.Errorf("taken in again: %+v", *again)
	}
	for _, name := range []string{"attic", ""} {
		to := open(t)
		to.machine = name
		to.take(text)
		got := to.list()[0].Source
		former, err := to.mem.Versions(t.Context(), to.local, m.ID)
		must(t, err)
		if got.Machine != name || got.Client != "notes" || len(former) != 1 || former[0].Source.Machine != name || former[0].Source.Client != "notes" {
			t.Errorf("imported on %q: %+v, before %+v", name, got, former)
		}
		to.take("- I have two cats\n")
		if got := to.list()[0].Source; got.Machine != name || got.Client != exchange.Lines {
			t.Errorf("a line imported on %q: %+v", name, got)
		}
	}
}

// TestMEM11_WhatMem0SaysBesidesIsKept, its time too.
func TestMEM11_WhatMem0SaysBesidesIsKept(t *testing.T) {
	w := open(t)
	w.take(`[{"id":"x1","memory":"Likes tea","created_at":"2024-07-26T08:29:36.085547-07:00","metadata":{ "a" : 1 },"hash":"h"}]`)
	text := w.export(exchange.JSONL)
	for _, want := range []string{`"hash":"h"`, `"metadata":{"a":1}`, `"createdAt":"2024-07-26T15:29:36.085Z"`, `"id":"x1"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

// TestMEM11_UnknownMembersAreKept, of contexts and memories, whatever their name.
func TestMEM11_UnknownMembersAreKept(t *testing.T) {
	from := open(t)
	_, err := from.mem.PutContext(t.Context(), from.local, memory.ContextDraft{ID: "c", Name: "Work"}, nil)
	must(t, err)
	from.add(memory.Draft{Statement: "I like tea", Handle: "tea"})
	text := from.export(exchange.JSONL)
	text = strings.ReplaceAll(text, `"version":1}`, `"version":1,"mood":{"b":[1.50],"a":"<&>"},"other":7}`)
	if strings.Count(text, "mood") != 2 {
		t.Fatalf("the test has not changed\n%s", text)
	}
	to := open(t)
	if out := to.take(text); out.Total != 0 {
		t.Errorf("imported %+v", *out)
	}
	if got := to.export(exchange.JSONL); got != text {
		t.Errorf("the export is\n%s, want\n%s", got, text)
	}
	m := to.list()[0]
	must(t, to.mem.Delete(t.Context(), to.local, m.ID, true, nil))
	if got := to.export(exchange.JSONL); strings.Count(got, "mood") != 1 {
		t.Errorf("after the memory was deleted, the export is\n%s", got)
	}
}

// TestMEM11_ConflictsAreListed: each kind of them, with what became of the record.
func TestMEM11_ConflictsAreListed(t *testing.T) {
	from, to := open(t), open(t)
	to.prefix = "t"
	ctx := t.Context()
	for _, w := range []*world{from, to} {
		_, err := w.mem.PutContext(ctx, w.local, memory.ContextDraft{ID: w.prefix + "c", Name: "Health"}, nil)
		must(t, err)
	}
	from.add(memory.Draft{ID: "a", Statement: "I like tea", Handle: "tea"})
	from.add(memory.Draft{ID: "b", Statement: "I like coffee", Handle: "coffee", Supersedes: []string{"a"}})
	from.add(memory.Draft{ID: "c", Statement: "Basel is my home", Handle: "home", Contexts: []string{"mc"}})
	from.add(memory.Draft{ID: "d", Statement: "gone", Handle: "gone"})
	must(t, from.mem.Delete(ctx, from.local, "d", true, nil))
	to.add(memory.Draft{ID: "x", Statement: "i like COFFEE", Handle: "tea"})
	to.add(memory.Draft{ID: "c", Statement: "Bern is my home", Handle: "bern"})
	out := to.take(from.export(exchange.JSONL))
	var got []string
	for _, c := range out.Conflicts {
		got = append(got, fmt.Sprintf("%d %s %s %v", c.Line, c.ID, c.Field, c.Taken))
	}
	want := []string{"2 mc handle true", "3 a number true", "3 a handle true", "4 b statement false", "5 c id false"}
	if !slices.Equal(got, want) || out.Memories != 1 || out.Contexts != 1 || out.Left != 2 || out.Numbers != 1 {
		t.Errorf("imported %+v\n%q", *out, got)
	}
	a, err := to.mem.Get(to.local, "a")
	must(t, err)
	if a.Number != 5 || a.SupersededBy != "x" || a.Handle == "tea" {
		t.Errorf("taken in as %+v", *a)
	}
	if next := to.add(memory.Draft{Statement: "the next one"}); next.Number != 6 {
		t.Errorf("the next number is %d", next.Number)
	}
}

// TestMEM14_SynonymsAreJoinedByAnImport: what becomes of each set of a file. What joins others, is no set, or has no
// room is listed. Private sets stay apart.
func TestMEM14_SynonymsAreJoinedByAnImport(t *testing.T) {
	from, to := open(t), open(t)
	to.prefix = "t"
	put := func(w *world, private bool, words ...string) (id string) {
		t.Helper()
		set, err := w.mem.PutSynonyms(t.Context(), w.local, words, private)
		must(t, err)
		return set.ID
	}
	many := make([]string, 15)
	for i := range many {
		many[i] = fmt.Sprint("word", i)
	}
	put(from, false, "ux", "user experience")
	car, tea := put(from, false, "car", "auto"), put(from, false, "tea", "chai", "cha")
	put(from, true, "Zoé", "boss")
	full, one := put(from, false, "word3", "a", "b"), put(from, false, "big", "large")
	put(to, false, "UX", "user experience", "usability")
	put(to, false, "automobile", "Car")
	put(to, false, "cha", "drink")
	put(to, false, "Chai", "spiced tea")
	put(to, false, "boss", "chief")
	put(to, false, many...)
	text := strings.Replace(from.export(exchange.JSONL), `"words":["big","large"]`, `"words":["big","BIG"]`, 1)
	out := to.take(text)
	var got []string
	for _, c := range out.Conflicts {
		got = append(got, fmt.Sprintf("%d %s %s %v", c.Line, c.ID, c.Field, c.Taken))
	}
	want := []string{"3 " + car + " words true", "4 " + tea + " words true", "6 " + full + " words false", "7 " + one + " words false"}
	if !slices.Equal(got, want) || out.Synonyms != 3 || out.Same != 1 || out.Left != 2 {
		t.Errorf("imported %+v\n%q", *out, got)
	}
	wantSets := []string{
		`false ["automobile" "Car" "auto"]`, `false ["boss" "chief"]`,
		`false ["cha" "drink" "Chai" "spiced tea" "tea"]`, `false ["UX" "user experience" "usability"]`,
		fmt.Sprintf("false %q", many), `true ["Zoé" "boss"]`,
	}
	if sets := to.synonymSets(); !slices.Equal(sets, wantSets) {
		t.Errorf("the sets are %s", strings.Join(sets, "\n"))
	}
	if words := to.mem.SynonymsOf([]string{"car"}, true)["car"]; len(words) != 2 {
		t.Errorf("car means the same as %v", words)
	}
}

// TestMEM11_ADamagedExportIsRefusedAsAWhole, and tells the line.
func TestMEM11_ADamagedExportIsRefusedAsAWhole(t *testing.T) {
	from := open(t)
	from.add(memory.Draft{Statement: "I like tea", Handle: "tea"})
	from.add(memory.Draft{Statement: "I like coffee", Handle: "coffee"})
	text := from.export(exchange.JSONL)
	lines := strings.SplitAfter(text, "\n")
	open(t).refused(strings.Replace(text, lines[1], `{"type":"synonyms","id":"s","words":7}`+"\n", 1), fault.Invalid, "path")
	for name, c := range map[string]struct {
		text string
		line int
	}{
		"cut off":            {strings.Join(lines[:2], ""), 3},
		"cut in a line":      {text[:len(text)-40], 3},
		"a line is missing":  {lines[0] + lines[1] + lines[3], 3},
		"text behind":        {text + "more", 5},
		"another version":    {strings.Replace(text, `"version":1,"last`, `"version":2,"last`, 1), 1},
		"another type":       {strings.Replace(text, `"type":"memory"`, `"type":"dream"`, 1), 2},
		"a wrong type":       {strings.Replace(text, `"number":1`, `"number":"1"`, 1), 2},
		"not UTF-8":          {strings.Replace(text, "coffee", "cof\xfffee", 1), 3},
		"the header again":   {lines[0] + lines[0], 2},
		"a header, no lines": {lines[0], 2},
	} {
		t.Run(name, func(t *testing.T) {
			if f := open(t).refusal(c.text, fault.Invalid, "path"); f.Line != c.line || f.Hint == "" || strings.Contains(f.Msg, "tea") {
				t.Errorf("refused with %+v, want line %d", f, c.line)
			}
		})
	}
	open(t).refused(strings.Replace(text, `"lastNumber":2`, `"lastNumber":9999999999`, 1), fault.Invalid, "lastNumber")
	open(t).refused(lines[0]+strings.Repeat("x", 2<<20), fault.Limit, "path")
	open(t).refused(lines[0]+`{"type":"numbers","from":1,"to":999999999}`+"\n"+`{"type":"end","lines":2}`, fault.Limit, "from")
	open(t).refused(`[{"memory":"a"},`, fault.Invalid, "path")
	open(t).refused(`[{"memory":"a"}] 7`, fault.Invalid, "path")
	open(t).refused(`[7]`, fault.Invalid, "path")
	open(t).refused(`{"a":1}`, fault.Invalid, "path")
	open(t).refused(`[{"memory":"`+strings.Repeat("x", 2<<20), fault.Limit, "path")
}

// TestMEM11_ARemoteReaderNeitherExportsNorImports: private memories are among both.
func TestMEM11_ARemoteReaderNeitherExportsNorImports(t *testing.T) {
	w := open(t)
	path := filepath.Join(t.TempDir(), "out")
	_, err := exchange.Export(t.Context(), w.mem, w.remote, path, exchange.ExportOptions{})
	if fault.KindOf(err) != fault.Unavailable {
		t.Errorf("an export: %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the export left a file")
	}
	_, err = exchange.Import(t.Context(), w.mem, w.remote, w.file("I like tea"), exchange.ImportOptions{DryRun: true})
	if fault.KindOf(err) != fault.Unavailable {
		t.Errorf("an import: %v", err)
	}
}

// TestMEM7_AnExportIsNotReadAsAnotherFormat, in which what is marked private would be public.
func TestMEM7_AnExportIsNotReadAsAnotherFormat(t *testing.T) {
	from, to := open(t), open(t)
	from.add(memory.Draft{Statement: "a secret", Private: true})
	for _, written := range exchange.Written {
		path := to.file(from.export(written))
		for _, format := range []string{exchange.BasicMemory, exchange.Mem0, exchange.Lines} {
			_, err := exchange.Import(t.Context(), to.mem, to.local, path, exchange.ImportOptions{Format: format})
			if fault.KindOf(err) != fault.Invalid || len(to.list()) != 0 {
				t.Errorf("%s as %s: %v", written, format, err)
			}
		}
	}
	path := to.file("---\nprivate: true\n---\none\n")
	_, err := exchange.Import(t.Context(), to.mem, to.local, path, exchange.ImportOptions{Format: exchange.Lines})
	must(t, err)
	if list := to.list(); len(list) != 1 || !list[0].Private {
		t.Errorf("taken in as %+v", list)
	}
}

// TestMEM7_AnExportKeepsWhatIsPrivateByItsSource, where there is no such source.
func TestMEM7_AnExportKeepsWhatIsPrivateByItsSource(t *testing.T) {
	from, to := open(t), open(t)
	_, err := from.notes.Put(t.Context(), notes.Draft{ID: "n", Title: "Diary", Body: "x"}, nil)
	must(t, err)
	m := from.add(memory.Draft{Statement: "I am tired", Source: record.MemorySource{Kind: "user", NoteID: "n"}})
	_, err = from.notes.Put(t.Context(), notes.Draft{ID: "n", Title: "Diary", Body: "x", Private: true}, nil)
	must(t, err)
	to.take(from.export(exchange.JSONL))
	if _, err := to.mem.Get(to.remote, m.ID); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a remote reader gets it: %v", err)
	}
	if got, err := to.mem.Get(to.local, m.ID); err != nil || !got.Private {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestMEM11_FilesAreWrittenAsAWhole: mode 0600, nothing replaced without force, nothing left of what failed.
func TestMEM11_FilesAreWrittenAsAWhole(t *testing.T) {
	w := open(t)
	for i := range 3 {
		w.add(memory.Draft{Statement: fmt.Sprint("statement ", i)})
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "memories.jsonl")
	export := func(ctx context.Context, path string, o exchange.ExportOptions) error {
		_, err := exchange.Export(ctx, w.mem, w.local, path, o)
		return err
	}
	must(t, export(t.Context(), path, exchange.ExportOptions{}))
	info, err := os.Stat(path)
	must(t, err)
	if info.Mode().Perm()&0o077 != 0 && filepath.Separator == '/' {
		t.Errorf("mode %v", info.Mode())
	}
	before, err := os.ReadFile(path)
	must(t, err)
	w.add(memory.Draft{Statement: "one more"})
	stopped, stop := context.WithCancel(t.Context())
	for _, c := range []struct {
		err  error
		kind fault.Kind
	}{
		{export(t.Context(), path, exchange.ExportOptions{}), fault.Conflict},
		{export(t.Context(), dir, exchange.ExportOptions{Force: true}), fault.Invalid},
		{export(t.Context(), path, exchange.ExportOptions{Format: "xml"}), fault.Invalid},
		{export(t.Context(), filepath.Join(dir, "no", "x"), exchange.ExportOptions{}), fault.NotFound},
		{export(stopped, path, exchange.ExportOptions{Force: true, Progress: func(_, _ int64) { stop() }}), fault.Cancelled},
	} {
		if fault.KindOf(c.err) != c.kind {
			t.Errorf("error %v, want one of kind %v", c.err, c.kind)
		}
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != string(before) {
		t.Errorf("the file was changed: %v", err)
	}
	must(t, export(t.Context(), path, exchange.ExportOptions{Force: true}))
	if now, _ := os.ReadFile(path); string(now) == string(before) {
		t.Error("force replaced nothing")
	}
	files, err := os.ReadDir(dir)
	must(t, err)
	if len(files) != 1 {
		t.Errorf("files %v", files)
	}
}

// TestMEM11_AnImportThatWasInterruptedGoesOn where it was: each memory is there once in the end.
func TestMEM11_AnImportThatWasInterruptedGoesOn(t *testing.T) {
	from, to := limited(t, memory.Limits{Bank: 5000}), limited(t, memory.Limits{Bank: 5000})
	var drafts []memory.Draft
	for i := range 900 {
		drafts = append(drafts, memory.Draft{Statement: fmt.Sprint("statement ", i)})
	}
	_, err := from.mem.Add(t.Context(), from.local, drafts)
	must(t, err)
	text := from.export(exchange.JSONL)
	path := to.file(text)
	ctx, stop := context.WithCancel(t.Context())
	_, err = exchange.Import(ctx, to.mem, to.local, path, exchange.ImportOptions{Progress: func(stage string, done, total int64) {
		if stage == "import" && done > total/2 {
			stop()
		}
	}})
	if n := len(to.list()); fault.KindOf(err) != fault.Cancelled || n == 0 || n == 900 {
		t.Fatalf("interrupted with %d memories: %v", n, err)
	}
	to.sound()
	if out := to.take(text); out.Memories == 0 || out.Memories+out.Same != 900 || out.Total != 0 {
		t.Errorf("then imported %+v", *out)
	}
	if to.export(exchange.JSONL) != text {
		t.Error("the export is another one")
	}
}

// TestMEM6_AnImportKeepsTheCap: what is worth least is archived, and too many that are pinned are refused.
func TestMEM6_AnImportKeepsTheCap(t *testing.T) {
	w := limited(t, memory.Limits{Bank: 3})
	w.add(memory.Draft{Statement: "It matters little", Importance: ptr(0.1)})
	w.add(memory.Draft{Statement: "It matters", Importance: ptr(1.0)})
	out := w.take("one\ntwo\nthree\n")
	if out.Memories != 3 || out.Archived != 2 || w.mem.Stats(w.local).Bank != 3 {
		t.Errorf("imported %+v", *out)
	}
	if m := w.list(); m[len(m)-1].Status != record.MemoryArchived {
		t.Errorf("what matters least is %s", m[len(m)-1].Status)
	}
	from := open(t)
	from.prefix = "p"
	for i := range 4 {
		from.add(memory.Draft{Statement: fmt.Sprint("pinned ", i), Pinned: true})
	}
	w.refused(from.export(exchange.JSONL), fault.Limit, "tier")
}

// TestMEM11_AFolderOfBasicMemory is read as a whole, hidden files and links left out.
func TestMEM11_AFolderOfBasicMemory(t *testing.T) {
	w := open(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.md": "- [fact] one\n", "sub/b.MD": "- [fact] two\n- [fact] " + strings.Repeat("x", 9000), ".trash/c.md": "- [fact] no\n",
		"d.txt": "- [fact] no\n", ".e.md": "- [fact] no\n",
	} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	out, err := exchange.Import(t.Context(), w.mem, w.local, dir, exchange.ImportOptions{})
	must(t, err)
	if out.Memories != 2 || out.Left != 1 || out.Conflicts[0].File != "sub/b.MD" || out.Conflicts[0].Line != 2 {
		t.Errorf("imported %+v", *out)
	}
	_, err = exchange.Import(t.Context(), w.mem, w.local, dir, exchange.ImportOptions{Format: exchange.Mem0})
	if fault.KindOf(err) != fault.Invalid {
		t.Errorf("as mem0: %v", err)
	}
}

// FuzzMEM11_Import: no text makes an import fail otherwise than with an error for its writer, or leave a store that is
// not sound; and what came in goes out and in again.
func FuzzMEM11_Import(f *testing.F) {
	from := open(f)
	_, err := from.mem.PutContext(f.Context(), from.local, memory.ContextDraft{ID: "c", Name: "Work"}, nil)
	must(f, err)
	from.add(memory.Draft{Statement: "I like tea", Handle: "tea", Contexts: []string{"c"}})
	must(f, from.mem.Delete(f.Context(), from.local, from.add(memory.Draft{Statement: "gone"}).ID, true, nil))
	f.Add(from.export(exchange.JSONL), uint8(0))
	f.Add(`[{"id":"a","memory":"b","metadata":{"category":"c"},"created_at":"2024-01-02T03:04:05Z"}]`, uint8(2))
	f.Add(`{"results":[{"id":"a","memory":"b"}]}`, uint8(2))
	f.Add("[{\"memory\":\"b\",\"x\":\"\xbc\",\"metadata\":{\"y\":[\"\xff\"]},\"\xfe\":1}]", uint8(2))
	f.Add("---\nprivate: true\n---\n- [fact] a #b (c)\n~~~\n- [fact] d\n~~~\n", uint8(1))
	f.Add("- one\n2. two\n# three\n", uint8(3))
	f.Fuzz(func(t *testing.T, text string, which uint8) {
		w := open(t)
		o := exchange.ImportOptions{}
		if i := int(which); i < len(exchange.Read) {
			o.Format = exchange.Read[i]
		}
		path := w.file(text)
		out, err := exchange.Import(t.Context(), w.mem, w.local, path, o)
		w.sound()
		if err != nil {
			if k := fault.KindOf(err); k != fault.Invalid && k != fault.Limit {
				t.Fatalf("error %v of kind %v", err, k)
			}
			if len(w.list()) != 0 {
				t.Fatal("something of what was refused is there")
			}
			return
		}
		if len(w.list()) != out.Memories {
			t.Fatalf("%d memories, and %+v", len(w.list()), *out)
		}
		first := w.export(exchange.JSONL)
		back := open(t)
		if again := back.take(first); again.Total != 0 {
			t.Fatalf("its export does not fit: %+v\n%s", *again, first)
		}
		if second := back.export(exchange.JSONL); second != first {
			t.Fatalf("the export was\n%s\nand is\n%s", first, second)
		}
	})
}

// FuzzMEM11_Parsers: each parser reads any text to its end or refuses it with an error for its writer; and what a line
// of an export is read as, is read of what is written of it again.
func FuzzMEM11_Parsers(f *testing.F) {
	f.Add(`{"type":"header","format":"ctxd-memory","version":1}`+"\n"+`{"type":"memory","id":"a","Other":1,"é":[ 1 ]}`+
		"\n"+`{"type":"numbers","from":1,"to":3}`+"\n"+`{"type":"version","memory":"a","version":1}`+
		"\n"+`{"type":"context","id":"c","other":{}}`+"\n"+`{"type":"end","lines":5}`, uint8(0))
	f.Add("---\ntitle: a\n---\n- [a/b c] text #x #y/z (where)\n", uint8(1))
	f.Add(`{"a":1,"results":[{"id":1,"memory":"x","created_at":"2024-13-01"}]}`, uint8(2))
	f.Add("1) a\n\n- \n", uint8(3))
	f.Fuzz(func(t *testing.T, text string, which uint8) {
		rows, err := exchange.Parse(append(exchange.Read, "")[int(which)%(len(exchange.Read)+1)], text)
		if k := fault.KindOf(err); err != nil && k != fault.Invalid && k != fault.Limit {
			t.Fatalf("error %v of kind %v", err, k)
		}
		for i := range rows {
			if rows[i].Draft != nil {
				continue
			}
			line, err := exchange.Line(rows[i])
			if err != nil {
				continue // of a time that JSON has no form for, which an import refuses
			}
			again, err := exchange.Parse(exchange.JSONL, `{"type":"header","format":"ctxd-memory","version":1}`+"\n"+
				line+`{"type":"end","lines":2}`)
			if err != nil || len(again) != 1 {
				t.Fatalf("%d rows of %s: %v", len(again), line, err)
			}
			if second, err := exchange.Line(again[0]); err != nil || second != line {
				t.Fatalf("%q became %q: %v", line, second, err)
			}
		}
	})
}

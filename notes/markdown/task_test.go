package markdown_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes/markdown"
)

func tasksOf(src string) (list []record.Task) {
	markdown.Tasks(src, func(t record.Task) { list = append(list, t) })
	return list
}

// short writes a task in one line, for tables.
func short(t record.Task) string {
	out := fmt.Sprintf("%d %q", t.Line, t.Name)
	data, _ := json.Marshal(t)
	var fields map[string]any
	_ = json.Unmarshal(data, &fields)
	for _, key := range []string{"done", "cancelled", "due", "scheduled", "start", "priority", "tags", "heading"} {
		switch v := fields[key]; v {
		case nil, false:
		case true:
			out += " " + key
		default:
			out += fmt.Sprintf(" %s=%v", key, v)
		}
	}
	return out
}

func TestSRCH55_TheFormsOfTasks(t *testing.T) {
	for _, tc := range []struct{ src, want string }{
		{"- [ ] Call Bob", `1 "Call Bob"`},
		{"- [x] Call Bob", `1 "Call Bob" done`},
		{"* [X] Call Bob", `1 "Call Bob" done`},
		{"+ [-] Call Bob", `1 "Call Bob" cancelled`},
		{"- [/] half", `1 "half"`},
		{"- [é] own mark", `1 "own mark"`},
		{"1. [ ] numbered\n2) [x] too", `1 "numbered" | 2 "too" done`},
		{"> - [ ] quoted\n> > 1. [ ] deep", `1 "quoted" | 2 "deep"`},
		{"> [!todo]\n> - [ ] in a callout", `2 "in a callout"`},
		{"- a\n    - [ ] nested\n\t\t- [x] more", `2 "nested" | 3 "more" done`},
		{"---\ntasks: |\n  - [ ] no\n---\n- [ ] yes\r\n- [ ] and yes\r\n", `5 "yes" | 6 "and yes"`},
		{"# One\n- [ ] a\n\nTwo *x*\n---\n- [ ] b", `2 "a" heading=One | 6 "b" heading=Two x`},
		// What is none.
		{"```\n- [ ] code\n```\n~~~\n- [ ] code\n~~~", ``},
		{"<!-- \n- [ ] hidden\n-->\n%%\n- [ ] hidden\n%%\n- [ ] seen", `7 "seen"`},
		{"%% open\n- [ ] seen", `2 "seen"`},
		{"[ ] no item\n\\- [ ] escaped\n-[ ] no blank\n- [] no mark\n- [  ] two\n- [x](link) text\n- [ab] two", ``},
		{"- [ ]\n- [ ]   \n- [x]\r\n", ``},
		{"| - [ ] a | b |\n|---|---|\n", ``},
		{"- `[ ]` code\n- text [ ] in it", ``},
		// The plugin Tasks.
		{"- [ ] text 📅 2026-03-04 #tag", `1 "text" due=2026-03-04 tags=[tag]`},
		{"- [ ] a ⏳ 2026-03-01 🛫 2026-02-01 📅2026-03-04 ⏫", `1 "a" due=2026-03-04 scheduled=2026-03-01 start=2026-02-01 priority=high`},
		{"- [x] a 🔁 every week on Monday 📅 2026-03-04 ✅ 2026-03-03 ^block", `1 "a" done due=2026-03-04`},
		{"- [ ] a ➕ 2026-01-01 🆔 ab-c ⛔ x,y 🏁 delete 🔺 b", `1 "a b" priority=highest`},
		{"- [ ] a 🗓️ 2026-03-04", `1 "a" due=2026-03-04`},
		{"- [ ] a 📅 2026-13-04 📅 2026-02-30 📅", `1 "a 📅 2026-13-04 📅 2026-02-30 📅"`},
		{"- [ ] a 📅 2026-03-04 b 📅 2027-03-04", `1 "a b" due=2026-03-04`},
		{"- [ ] a 🔽 ⏬ 🔼", `1 "a" priority=low`},
		// Dataview.
		{"- [ ] a [due:: 2026-03-04] (scheduled::2026-03-01) [Start:: [[2026-02-01]]] [priority:: High]", `1 "a" due=2026-03-04 scheduled=2026-03-01 start=2026-02-01 priority=high`},
		{"- [ ] a [due:: 2026-03-04T10:00] [who:: Bob] [priority:: huge]", `1 "a [who:: Bob] [priority:: huge]" due=2026-03-04`},
		{"- [x] a [completion:: 2026-03-04] [repeat:: every day]", `1 "a" done`},
		{"- [ ] a [due:: 2026-03-04", `1 "a [due:: 2026-03-04"`},
		// Logseq.
		{"- TODO a\n- DOING b\n- DONE c\n- LATER d\n- CANCELED e\n- TODOS f\n- todo g\nTODO h\n- TODO", `1 "a" | 2 "b" | 3 "c" done | 4 "d" | 5 "e" cancelled`},
		{"- TODO a #x\n  SCHEDULED: <2026-03-04 Wed>\n  DEADLINE: <2026-03-05 Thu 10:00>\n- [ ] b\n  DEADLINE: <2026-03-05 Thu>", `1 "a" due=2026-03-05 scheduled=2026-03-04 tags=[x] | 4 "b"`},
		// Text.
		{"- [ ] ask #bob about #work/now later #a #b #A", `1 "ask #bob about #work/now later" tags=[bob work/now a b]`},
		{"- [ ] #only #tags", `1 "" tags=[only tags]`},
		{"- [ ] **Call** [[Alice Novak|Alice]], see [site](https://x.org/#frag) #1", `1 "Call Alice, see site #1"`},
		{"- [ ] use `📅 2026-03-04 #no` and [[N 📅 2026-03-04]] <!-- 📅 2026-03-04 --> %% #no %% end", `1 "use 📅 2026-03-04 #no and N 📅 2026-03-04 end"`},
	} {
		var got []string
		for _, task := range tasksOf(tc.src) {
			got = append(got, short(task))
		}
		if s := strings.Join(got, " | "); s != tc.want {
			t.Errorf("%q:\n got %s\nwant %s", tc.src, s, tc.want)
		}
		if len(got) > 0 && !markdown.MayHaveTasks(tc.src) {
			t.Errorf("%q: has tasks, and is said to have none", tc.src)
		}
	}
}

func TestSRCH55_ATaskIsDoneAndOpenAgain(t *testing.T) {
	today := time.Date(2026, 3, 9, 0, 0, 0, 0, time.UTC)
	for _, tc := range []struct{ src, done, open string }{
		{"- [ ] a", "- [x] a", "- [ ] a"},
		{"> 1. [/] a  ", "> 1. [x] a  ", "> 1. [ ] a  "},
		{"- [ ] a 📅 2026-03-04 #t", "- [x] a 📅 2026-03-04 #t ✅ 2026-03-09", "- [ ] a 📅 2026-03-04 #t"},
		{"- [ ] a 📅 2026-03-04 ^id", "- [x] a 📅 2026-03-04 ✅ 2026-03-09 ^id", "- [ ] a 📅 2026-03-04 ^id"},
		{"- [-] a 📅 2026-03-04 ❌ 2026-03-05", "- [x] a 📅 2026-03-04 ✅ 2026-03-09", "- [ ] a 📅 2026-03-04"},
		{"- [ ] a [due:: 2026-03-04]", "- [x] a [due:: 2026-03-04] [completion:: 2026-03-09]", "- [ ] a [due:: 2026-03-04]"},
		{"- DOING a", "- DONE a", "- TODO a"},
		{"- [é] a", "- [x] a", "- [ ] a"},
	} {
		before, after := "---\na: 1\n---\r\n- [ ] other\r\n", "\r\n- [x] last\n"
		line := 5
		src := before + tc.src + after
		done, was, now, ok := markdown.SetTask(src, line, true, today)
		if !ok || done != before+tc.done+after || was != tc.src || now != tc.done {
			t.Errorf("%q done: %v %q (%q to %q)", tc.src, ok, done, was, now)
		}
		again, _, _, _ := markdown.SetTask(done, line, true, today)
		if again != done {
			t.Errorf("%q done twice: %q", tc.src, again)
		}
		open, _, _, ok := markdown.SetTask(done, line, false, today)
		if !ok || open != before+tc.open+after {
			t.Errorf("%q open again: %q", tc.src, open)
		}
	}
	for _, line := range []int{0, 1, 2, 99} {
		if out, _, _, ok := markdown.SetTask("a\n\n- [ ] b", line, true, today); ok || out != "a\n\n- [ ] b" {
			t.Errorf("line %d is no task: %q", line, out)
		}
	}
}

// plainTask is what an item of a plain list is to a reader with one regular expression.
var plainTask = regexp.MustCompile(`^(?:[-*+]|[0-9]{1,9}[.)]) \[([^\[\]])\] +(\S.*)$`)

// FuzzSRCH55_Tasks compares with a model that knows lines without markup, and holds of any text what must hold.
func FuzzSRCH55_Tasks(f *testing.F) {
	addSeeds(f)
	for _, s := range []string{
		"- [ ] a 📅 2026-03-04 #t\n- [x] b ✅ 2026-03-04 ^id\n", "> 1. [-] c [due:: 2026-03-04] (priority:: high)\n", "%%\n- [ ] d\n%%\n- TODO e\n  DEADLINE: <2026-03-04 Wed>\n",
		"- [ ] 🔁 every day 🗓️2026-03-04 `#a` [[b]] [c](d#e) <!-- f", "- [ ] `%%` %%\n- [ ] %% `", "- [\xff] a\n- [ ] \xf0\x9f\x93 2026-03-04",
	} {
		f.Add(s)
	}
	today := time.Date(2026, 3, 9, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, src string) {
		list := tasksOf(src)
		if len(list) > 0 && !markdown.MayHaveTasks(src) {
			t.Errorf("tasks in a text that is said to have none")
		}
		last := 0
		for _, task := range list {
			if task.Line <= last || task.Line > 1+strings.Count(src, "\n") {
				t.Errorf("line %d behind line %d", task.Line, last)
			}
			last = task.Line
			if strings.ContainsAny(task.Name, "\n") || task.Done && task.Cancelled || slices.Contains(task.Tags, "") {
				t.Errorf("%+v", task)
			}
			for _, day := range []string{task.Due, task.Scheduled, task.Start} {
				if _, err := time.Parse(time.DateOnly, day); day != "" && err != nil {
					t.Errorf("%+v: %v", task, err)
				}
			}
			done, was, now, ok := markdown.SetTask(src, task.Line, true, today)
			if !ok || len(done)-len(src) != len(now)-len(was) || strings.Count(done, "\n") != strings.Count(src, "\n") {
				t.Errorf("line %d was %q, is %q: %q", task.Line, was, now, done)
			}
			if i := slices.IndexFunc(tasksOf(done), func(x record.Task) bool { return x.Line == task.Line }); i < 0 || !tasksOf(done)[i].Done {
				t.Errorf("line %d is not done: %q", task.Line, now)
			}
			if len(list) > 50 {
				break // of a long text it would take long
			}
		}
		model(t, src, list)
	})
}

// model compares the tasks of a text of plain lines.
func model(t *testing.T, src string, got []record.Task) {
	if strings.ContainsAny(src, "`<%\\|~=#^*_&!\r\t:(📅") || strings.HasPrefix(src, "\uFEFF") || regexp.MustCompile(`(?m)^\s*(---|\.\.\.)`).MatchString(src) ||
		regexp.MustCompile(`TODO|DO|NOW|LATER|WAIT|PROGRESS|CANCEL|\[\[|\p{Z}{2}|[^\x20-\x7E\n]`).MatchString(src) {
		return
	}
	var want []string
	for i, line := range strings.Split(src, "\n") {
		m := plainTask.FindStringSubmatch(line)
		if m == nil || strings.ContainsAny(m[2], "[]") {
			continue
		}
		want = append(want, fmt.Sprintf("%d %s %s", i+1, strings.ToLower(m[1]), strings.TrimSpace(m[2])))
	}
	var have []string
	for _, task := range got {
		line := strings.Split(src, "\n")[task.Line-1]
		m := plainTask.FindStringSubmatch(line)
		if m == nil || strings.ContainsAny(m[2], "[]") {
			continue // nested, quoted or with brackets: the table above
		}
		mark := strings.ToLower(m[1])
		if task.Done != (mark == "x") || task.Cancelled != (mark == "-") {
			t.Errorf("%q: %+v", line, task)
		}
		have = append(have, fmt.Sprintf("%d %s %s", task.Line, mark, task.Name))
	}
	if !slices.Equal(want, have) {
		t.Errorf("%q\nwant %q\nhave %q", src, want, have)
	}
}

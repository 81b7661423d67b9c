package lsp

// The note of a day: its path, and what a link to it says, by the settings of the program that keeps the vault. Obsidian has
// them in .obsidian/daily-notes.json, or in those of its plugin Periodic Notes, with a format of moment.js; Logseq in
// logseq/config.edn, with one of Java. A vault without settings has its notes of days where most of them are.

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ctxd/ctxd/rpc/protocol"
)

// dayNotes says where a vault has its notes of days. The zero value is a vault with none: 2006-01-02.md at its root.
type dayNotes struct {
	Folder string
	File   string // format of the path in the folder, without its ending, as moment.js has it
	Title  string // format of what a link says; "" is the name of the file
	Logseq bool
}

const isoDay = "YYYY-MM-DD"

// path returns the path of the note of a day within the vault.
func (n dayNotes) path(day time.Time) string {
	return path.Join(n.Folder, formatDay(n.File, day)+".md")
}

// link returns what a link to the note of a day says.
func (n dayNotes) link(day time.Time) string {
	if n.Title != "" {
		return formatDay(n.Title, day)
	}
	return strings.TrimSuffix(path.Base(n.path(day)), ".md")
}

// content is what a new note of a day begins with.
func (n dayNotes) content(day time.Time) string {
	if n.Logseq {
		return "- "
	}
	return "# " + strings.TrimSuffix(path.Base(n.path(day)), ".md") + "\n"
}

// readDayNotes reads the settings in the folder of a vault. It reports false where there are none.
func readDayNotes(root string) (dayNotes, bool) {
	type daily struct {
		Enabled        bool
		Folder, Format string
	}
	obsidian := func(d daily) (dayNotes, bool) {
		format := strings.TrimSuffix(strings.TrimSpace(d.Format), ".md")
		if format == "" {
			format = isoDay
		}
		return dayNotes{Folder: strings.Trim(strings.TrimSpace(d.Folder), "/"), File: format}, true
	}
	var periodic struct{ Daily daily }
	if readJSON(filepath.Join(root, ".obsidian", "plugins", "periodic-notes", "data.json"), &periodic) && periodic.Daily.Enabled {
		return obsidian(periodic.Daily)
	}
	var core daily
	if readJSON(filepath.Join(root, ".obsidian", "daily-notes.json"), &core) {
		return obsidian(core)
	}
	config, err := os.ReadFile(filepath.Join(root, "logseq", "config.edn"))
	if err != nil {
		return dayNotes{File: isoDay}, false
	}
	text := ednComment.ReplaceAllString(string(config), "$1")
	value := func(key, otherwise string) string {
		if m := regexp.MustCompile(regexp.QuoteMeta(key) + `\s+"([^"\\]+)"`).FindStringSubmatch(text); m != nil {
			return m[1]
		}
		return otherwise
	}
	return dayNotes{
		Folder: value(":journals-directory", "journals"), Logseq: true,
		File:  momentOfJava(value(":journal/file-name-format", "yyyy_MM_dd")),
		Title: momentOfJava(value(":journal/page-title-format", "MMM do, yyyy")),
	}, true
}

// ednComment matches a comment of EDN, or a string, which may hold what looks like one.
var ednComment = regexp.MustCompile(`("(?:[^"\\]|\\.)*")|;[^\n]*|#_\S+`)

func readJSON(file string, v any) bool {
	data, err := os.ReadFile(file)
	return err == nil && json.Unmarshal(data, v) == nil
}

// dayTokens are the parts of a format of moment.js, the longest first, as a layout of the package time or a function.
var dayTokens = []struct {
	token  string
	layout string
	of     func(time.Time) string
}{
	{"YYYY", "2006", nil},
	{"YY", "06", nil},
	{"MMMM", "January", nil},
	{"MMM", "Jan", nil},
	{"MM", "01", nil},
	{"M", "1", nil},
	{"DDDD", "002", nil},
	{"DDD", "", func(t time.Time) string { return strconv.Itoa(t.YearDay()) }},
	{"Do", "", func(t time.Time) string { return ordinal(t.Day()) }},
	{"DD", "02", nil},
	{"D", "2", nil},
	{"dddd", "Monday", nil},
	{"ddd", "Mon", nil},
	{"dd", "", func(t time.Time) string { return t.Weekday().String()[:2] }},
	{"E", "", func(t time.Time) string { return strconv.Itoa((int(t.Weekday())+6)%7 + 1) }},
	{"d", "", func(t time.Time) string { return strconv.Itoa(int(t.Weekday())) }},
	{"GGGG", "", func(t time.Time) string { y, _ := t.ISOWeek(); return strconv.Itoa(y) }},
	{"gggg", "", func(t time.Time) string { y, _ := t.ISOWeek(); return strconv.Itoa(y) }},
	{"WW", "", week},
	{"ww", "", week},
	{"Q", "", func(t time.Time) string { return strconv.Itoa((int(t.Month())-1)/3 + 1) }},
}

func week(t time.Time) string {
	_, w := t.ISOWeek()
	return fmt.Sprintf("%02d", w)
}

func ordinal(n int) string {
	ending := "th"
	switch {
	case n%100 >= 11 && n%100 <= 13:
	case n%10 == 1:
		ending = "st"
	case n%10 == 2:
		ending = "nd"
	case n%10 == 3:
		ending = "rd"
	}
	return strconv.Itoa(n) + ending
}

// formatDay writes a day as a format of moment.js says. What stands in brackets is written as it is.
func formatDay(format string, day time.Time) string {
	var b strings.Builder
next:
	for format != "" {
		if end := strings.IndexByte(format, ']'); format[0] == '[' && end > 0 {
			b.WriteString(format[1:end])
			format = format[end+1:]
			continue
		}
		for _, t := range dayTokens {
			if !strings.HasPrefix(format, t.token) {
				continue
			}
			if t.of != nil {
				b.WriteString(t.of(day))
			} else {
				b.WriteString(day.Format(t.layout))
			}
			format = format[len(t.token):]
			continue next
		}
		b.WriteByte(format[0])
		format = format[1:]
	}
	return b.String()
}

// momentOfJava returns a format of Java, as Logseq has it, in the letters of moment.js.
func momentOfJava(format string) string {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(format); {
		c := format[i]
		n := 1
		for c != '\'' && i+n < len(format) && format[i+n] == c {
			n++
		}
		switch {
		case c == '\'' && quoted:
			b.WriteByte(']')
			quoted = false
		case c == '\'':
			b.WriteByte('[')
			quoted = true
		case quoted:
			b.WriteString(format[i : i+n])
		case c == 'd' && n == 1 && strings.HasPrefix(format[i+1:], "o"):
			b.WriteString("Do")
			n = 2
		case c == 'E' && n >= 4:
			b.WriteString("dddd")
		case c == 'E':
			b.WriteString("ddd")
		default:
			b.WriteString(strings.ToUpper(format[i : i+n]))
		}
		i += n
	}
	return b.String()
}

// dayNotes returns where a vault has its notes of days.
func (s *Session) dayNotes(ctx context.Context, root, vault string) (dayNotes, error) {
	if n, ok := readDayNotes(root); ok || vault == "" {
		return n, nil
	}
	p := &s.places
	p.mu.Lock()
	n, ok := p.days[vault]
	p.mu.Unlock()
	if ok {
		return n, nil
	}
	n, err := s.mostDayNotes(ctx, vault)
	if err != nil {
		return n, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.days == nil {
		p.days = make(map[string]dayNotes)
	}
	p.days[vault] = n
	return n, nil
}

// daily are names of notes that are a day.
var daily = regexp.MustCompile(`^\d{4}([-_.])\d{2}([-_.])\d{2}\.md$`)

// mostDayNotes returns where most notes of days are, and named as they are.
func (s *Session) mostDayNotes(ctx context.Context, vault string) (dayNotes, error) {
	const page = 1000
	counts, format := make(map[string]int), make(map[string]string)
	ask := protocol.NoteFilter{Vault: vault}
	ask.Limit = page
	for {
		var out protocol.NotePage
		if err := s.Daemon(ctx, "notes.list", ask, &out); err != nil {
			return dayNotes{}, err
		}
		for _, n := range out.Notes {
			if m := daily.FindStringSubmatch(path.Base(n.Path)); m != nil {
				counts[n.Folder]++
				format[n.Folder] = "YYYY" + m[1] + "MM" + m[2] + "DD"
			}
		}
		if out.NextCursor == "" {
			break
		}
		ask.Cursor = out.NextCursor
	}
	folder, most := "", 0
	for f, n := range counts {
		if n > most || n == most && f < folder {
			folder, most = f, n
		}
	}
	if most == 0 {
		return dayNotes{File: isoDay}, nil
	}
	return dayNotes{Folder: folder, File: format[folder]}, nil
}

// namedDay is a day as people say it.
type namedDay struct {
	name string
	day  time.Time
}

var dayNumber = regexp.MustCompile(`^(?:in )?(\d{1,3})\b`)

// daysNamed returns the days whose names begin with what is typed: today, last monday, 3 days ago, in 2 weeks.
func daysNamed(typed string, today time.Time) (list []namedDay) {
	const fewest = 3 // letters: less may begin anything
	typed = strings.ToLower(strings.Join(strings.Fields(typed), " "))
	if len(typed) < fewest {
		return nil
	}
	all := []namedDay{{"today", today}, {"yesterday", today.AddDate(0, 0, -1)}, {"tomorrow", today.AddDate(0, 0, 1)}}
	for i := range 7 {
		weekday := time.Weekday((i + 1) % 7)
		name := strings.ToLower(weekday.String())
		ahead := (int(weekday)-int(today.Weekday())+6)%7 + 1 // 1 to 7
		back := (int(today.Weekday())-int(weekday)+6)%7 + 1
		all = append(all, namedDay{"last " + name, today.AddDate(0, 0, -back)},
			namedDay{"next " + name, today.AddDate(0, 0, ahead)}, namedDay{name, today.AddDate(0, 0, ahead)})
	}
	if m := dayNumber.FindStringSubmatch(typed); m != nil {
		n, _ := strconv.Atoi(m[1]) // of three digits
		for _, unit := range []struct {
			name string
			days int
		}{{"day", 1}, {"week", 7}} {
			name := m[1] + " " + unit.name
			if n != 1 {
				name += "s"
			}
			all = append(all, namedDay{name + " ago", today.AddDate(0, 0, -n*unit.days)}, namedDay{"in " + name, today.AddDate(0, 0, n*unit.days)})
		}
	}
	return slices.DeleteFunc(all, func(d namedDay) bool { return !strings.HasPrefix(d.name, typed) })
}

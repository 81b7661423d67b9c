package days

import (
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/text"
)

// Settings say where and how a vault makes its notes of days, and other new notes. The zero value is a vault that says
// nothing: 2006-01-02.md at its root.
type Settings struct {
	Folder string
	File   string // format of the path in the folder, without its ending, as moment.js has it
	Title  string // format of what a link says; "" is the name of the file
	Logseq bool

	Template string // path of the file that a new note of a day begins as; "" for none
	Dates    string // format of {{date}} in a template; "" is ISO
	Times    string // format of {{time}} in a template; "" is HH:mm

	NewNotes string // folder of a new note that nobody gave a place
}

// ISO is the format of days where nothing says another.
const ISO = "YYYY-MM-DD"

// Path returns the path of the note of a day within the vault.
func (s Settings) Path(day time.Time) string {
	return path.Join(s.Folder, format(s.File, day)+".md")
}

// Link returns what a link to the note of a day says.
func (s Settings) Link(day time.Time) string {
	if s.Title != "" {
		return format(s.Title, day)
	}
	return strings.TrimSuffix(path.Base(s.Path(day)), ".md")
}

// DayOf returns the day that a link names, or the file of a note: by the title of days, or the name of their files. It reports
// false for what names no day, and where the names of files do not tell days apart.
func (s Settings) DayOf(name string) (day time.Time, ok bool) {
	for _, as := range []string{s.Title, path.Base(s.File)} {
		p, tells := newParser(as)
		if !tells {
			continue
		}
		if day, ok := p.day(name); ok {
			return day, true
		}
	}
	return time.Time{}, false
}

// Read returns the settings of a vault, and what in them is left out since it cannot be meant so. It reports false where
// nothing says how notes of days are made.
func Read(read Reader) (s Settings, problems []Problem, ok bool) {
	r := settingsReader{read: read}
	s.File = ISO
	ok = r.daily(&s)
	r.templates(&s)
	r.newNotes(&s)
	if ok || s.NewNotes != "" {
		return s, r.problems, ok
	}
	config, err := read(LogseqConfig)
	if err != nil { // ReadLogseq says why
		return s, r.problems, false
	}
	return r.logseq(string(config)), r.problems, true
}

// Problems returns what in the settings of a vault is left out, and what a new note of a day will not be as its template says.
func Problems(read Reader) []Problem {
	s, problems, _ := Read(read)
	if s.Template == "" {
		return problems
	}
	data, err := read(s.Template)
	if err != nil {
		return append(problems, Problem{s.Template, "the template of notes of days cannot be read: a new one begins with its name"})
	}
	if why := templater(s.Template, string(data)); why != "" {
		problems = append(problems, Problem{s.Template, why})
	}
	return problems
}

// LogseqConfig is where Logseq has its settings.
const LogseqConfig = "logseq/config.edn"

// logseqTitle is what a link to a day says in Logseq where its settings say nothing.
const logseqTitle = "MMM do, yyyy"

// logseqFile is how the file of a day is called there then.
const logseqFile = "yyyy_MM_dd"

// ReadLogseq returns the settings by which Logseq has its notes of days, those that it begins with where the vault has
// none.
func ReadLogseq(read Reader) (Settings, error) {
	config, err := read(LogseqConfig)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return logseq(string(config)), err
}

// logseq reads the settings of Logseq.
func logseq(config string) Settings {
	value := func(key, otherwise string) string { return ednValue(config, key, otherwise) }
	return Settings{
		Folder: strings.Trim(value(":journals-directory", "journals"), "/"), Logseq: true,
		File:  momentOfJava(value(":journal/file-name-format", logseqFile)),
		Title: momentOfJava(value(":journal/page-title-format", logseqTitle)),
	}
}

// ednValue returns the text of a key.
func ednValue(config, key, otherwise string) string {
	plain := ednComment().ReplaceAllString(config, "$1")
	m := regexp.MustCompile(regexp.QuoteMeta(key) + `\s+"([^"\\]+)"`).FindStringSubmatch(plain)
	if m == nil {
		return otherwise
	}
	return m[1]
}

// ednComment matches a comment of EDN, or a string, which may hold what looks like one.
var ednComment = text.Pattern(`("(?:[^"\\]|\\.)*")|;[^\n]*|#_\S+`)

// Names returns a function that tells what links call the note at a path beside the name of its file: where it is one of a
// day of Logseq, the title by the settings, and the other forms that Logseq takes for the same day. They come in an order
// that is the same for all days.
func (s Settings) Names() func(path string) []string {
	var titles []parser
	for _, f := range []string{s.Title, momentOfJava(logseqTitle), ISO, "YYYY_MM_DD"} { // what Logseq tries, in its order
		has := func(p parser) bool { return p.format == f }
		if p, ok := newParser(f); ok && !slices.ContainsFunc(titles, has) {
			titles = append(titles, p)
		}
	}
	files := titles
	if p, ok := newParser(s.File); ok {
		files = append([]parser{p}, titles...)
	}
	return func(p string) (names []string) {
		name, isNote := strings.CutSuffix(path.Base(p), ".md")
		if path.Dir(p) != s.Folder || !isNote {
			return nil
		}
		for _, file := range files {
			day, ok := file.day(name)
			if !ok {
				continue
			}
			for _, title := range titles {
				if as := format(title.format, day); as != name {
					names = append(names, as)
				}
			}
			break
		}
		return names
	}
}

package days

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Settings say where a vault has its notes of days. The zero value is a vault with none: 2006-01-02.md at its root.
type Settings struct {
	Folder string
	File   string // format of the path in the folder, without its ending, as moment.js has it
	Title  string // format of what a link says; "" is the name of the file
	Logseq bool
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

// Content is what a new note of a day begins with.
func (s Settings) Content(day time.Time) string {
	if s.Logseq {
		return "- "
	}
	return "# " + strings.TrimSuffix(path.Base(s.Path(day)), ".md") + "\n"
}

// A Reader reads a file of a vault: fs.ErrNotExist where there is none.
type Reader func(path string) ([]byte, error)

// Read returns the settings of a vault. It reports false where there are none.
func Read(read Reader) (Settings, bool) {
	type daily struct {
		Enabled        bool
		Folder, Format string
	}
	obsidian := func(d daily) (Settings, bool) {
		format := strings.TrimSuffix(strings.TrimSpace(d.Format), ".md")
		if format == "" {
			format = ISO
		}
		return Settings{Folder: strings.Trim(strings.TrimSpace(d.Folder), "/"), File: format}, true
	}
	readJSON := func(file string, v any) bool {
		data, err := read(file)
		return err == nil && json.Unmarshal(data, v) == nil
	}
	var periodic struct{ Daily daily }
	if readJSON(".obsidian/plugins/periodic-notes/data.json", &periodic) && periodic.Daily.Enabled {
		return obsidian(periodic.Daily)
	}
	var core daily
	if readJSON(".obsidian/daily-notes.json", &core) {
		return obsidian(core)
	}
	if config, err := read(LogseqConfig); err == nil {
		return logseq(string(config)), true
	}
	return Settings{File: ISO}, false
}

// LogseqConfig is where Logseq has its settings.
const LogseqConfig = "logseq/config.edn"

// logseqTitle is what a link to a day says in Logseq where its settings say nothing.
const logseqTitle = "MMM do, yyyy"

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
	text := ednComment.ReplaceAllString(config, "$1")
	value := func(key, otherwise string) string {
		if m := regexp.MustCompile(regexp.QuoteMeta(key) + `\s+"([^"\\]+)"`).FindStringSubmatch(text); m != nil {
			return m[1]
		}
		return otherwise
	}
	return Settings{
		Folder: strings.Trim(value(":journals-directory", "journals"), "/"), Logseq: true,
		File:  momentOfJava(value(":journal/file-name-format", "yyyy_MM_dd")),
		Title: momentOfJava(value(":journal/page-title-format", logseqTitle)),
	}
}

// ednComment matches a comment of EDN, or a string, which may hold what looks like one.
var ednComment = regexp.MustCompile(`("(?:[^"\\]|\\.)*")|;[^\n]*|#_\S+`)

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

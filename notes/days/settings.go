package days

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"strings"
	"time"
	"unicode"

	"github.com/ctxd/ctxd/entities/text"
)

// A Reader reads a file of a vault: fs.ErrNotExist where there is none.
type Reader func(path string) ([]byte, error)

// A Problem is a setting that is left out.
type Problem struct {
	Path string // of the file that says it
	What string // for a person
}

// Where Obsidian and its plugin Periodic Notes have their settings.
const (
	dailyFile     = ".obsidian/daily-notes.json"
	periodicFile  = ".obsidian/plugins/periodic-notes/data.json"
	templatesFile = ".obsidian/templates.json"
	appFile       = ".obsidian/app.json"
)

// settingsReader reads the settings of one vault.
type settingsReader struct {
	read     Reader
	problems []Problem
}

func (r *settingsReader) problem(file, what string) {
	r.problems = append(r.problems, Problem{file, what})
}

// json reads a file of settings. It reports false where there is none, and where it cannot be read.
func (r *settingsReader) json(file string, v any) bool {
	data, err := r.read(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false
	case err != nil:
		r.problem(file, "it cannot be read, so its settings are left out")
		return false
	case json.Unmarshal(data, v) != nil:
		r.problem(file, "it is no JSON with such settings, so they are left out")
		return false
	}
	return true
}

// dailySettings are those of notes of days, in the form of both.
type dailySettings struct {
	Enabled                  bool
	Folder, Format, Template string
}

// daily reads how notes of days are made. It reports false where nothing says so.
func (r *settingsReader) daily(s *Settings) bool {
	var periodic struct{ Daily dailySettings }
	if r.json(periodicFile, &periodic) && periodic.Daily.Enabled {
		r.use(periodicFile, periodic.Daily, s)
		return true
	}
	var core dailySettings
	if r.json(dailyFile, &core) {
		r.use(dailyFile, core, s)
		return true
	}
	return false
}

// use takes the settings of a file as far as they can be meant.
func (r *settingsReader) use(file string, d dailySettings, s *Settings) {
	s.Folder = r.place(file, "folder", d.Folder)
	as := strings.TrimSuffix(strings.TrimSpace(d.Format), ".md")
	if as != "" {
		made := format(as, time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC))
		if why := refused(made); why != "" {
			r.problem(file, "no file can be called by its format: "+why)
			as = ""
		}
	}
	if as != "" {
		s.File = as
	}
	s.Template = r.place(file, "template", d.Template)
	if s.Template != "" && path.Ext(s.Template) != ".md" {
		s.Template += ".md"
	}
}

// place returns the path of a folder or a file within the vault, "" for its root and for what is none.
func (r *settingsReader) place(file, setting, written string) string {
	p := strings.Trim(strings.TrimSpace(written), "/")
	if p == "" || p == "." {
		return ""
	}
	if why := refused(p); why != "" {
		r.problem(file, "its "+setting+" is left out: "+why)
		return ""
	}
	return p
}

// templates reads the formats that templates have.
func (r *settingsReader) templates(s *Settings) {
	var t struct{ DateFormat, TimeFormat string }
	if r.json(templatesFile, &t) {
		s.Dates, s.Times = t.DateFormat, t.TimeFormat
	}
}

// newNotes reads where a new note goes that nobody gave a place. "The folder of the current file" is the root: there is none.
func (r *settingsReader) newNotes(s *Settings) {
	var app struct{ NewFileLocation, NewFileFolderPath string }
	if r.json(appFile, &app) && app.NewFileLocation == "folder" {
		s.NewNotes = r.place(appFile, "newFileFolderPath", app.NewFileFolderPath)
	}
}

// refused says why a file of a vault cannot have a path, "" where it can.
func refused(p string) string {
	for part := range strings.SplitSeq(p, "/") {
		switch {
		case part == "..", part == ".", part == "":
			return "it is no path within the vault"
		case strings.ContainsAny(part, `\:*?"<>|`), strings.ContainsFunc(part, unicode.IsControl):
			return `a name of a file has none of \:*?"<>|`
		case strings.HasPrefix(part, "."), strings.TrimSpace(part) != part:
			return "a name of a file has no dot before it, and no blank around it"
		}
	}
	return ""
}

// logseqJournals matches the template of journals.
var logseqJournals = text.Pattern(`:default-templates\s*\{[^}]*:journals\s+"`)

// logseq reads the settings of Logseq for what is made.
func (r *settingsReader) logseq(config string) Settings {
	s := logseq(config)
	if s.Folder = r.place(LogseqConfig, ":journals-directory", s.Folder); s.Folder == "" {
		s.Folder = "journals"
	}
	s.NewNotes = r.place(LogseqConfig, ":pages-directory", ednValue(config, ":pages-directory", "pages"))
	if logseqJournals().MatchString(ednComment().ReplaceAllString(config, "$1")) {
		r.problem(LogseqConfig, "its template of journals is a block, which ctxd does not copy: a new journal begins empty")
	}
	if why := refused(format(s.File, time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC))); why != "" {
		r.problem(LogseqConfig, "no file can be called by its format: "+why)
		s.File = momentOfJava(logseqFile)
	}
	return s
}

package days

import (
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/text"
)

// Content is what a new note of a day begins with: its template, filled in, else its name as a heading, or the first block of
// Logseq. at is the day, at the time of now. warning says what a person should know of the template, "" for nothing.
func (s Settings) Content(read Reader, at time.Time) (text, warning string) {
	name := strings.TrimSuffix(path.Base(s.Path(at)), ".md")
	if s.Template != "" {
		data, err := read(s.Template)
		if err == nil {
			return s.Fill(string(data), name, at), templater(s.Template, string(data))
		}
		warning = "the template " + s.Template + " cannot be read"
	}
	if s.Logseq {
		return "- ", warning
	}
	return "# " + name + "\n", warning
}

// templater says that a template has code of the plugin Templater.
func templater(file, text string) string {
	if !strings.Contains(text, "<%") {
		return ""
	}
	return "the template " + file + " has code of Templater, which ctxd does not run: it is left as text"
}

// placeholder matches what a template has for a date: {{date}}, {{time}}, {{date:YYYY}}, {{date+1d:YYYY}}, {{title}},
// {{yesterday}}, {{tomorrow}}.
var placeholder = text.Pattern(`(?i)\{\{\s*(?:(title|yesterday|tomorrow)|(date|time)\s*(?:([+-]\d{1,5})([yqmwdhs]))?\s*(?::([^{}\n]+))?)\s*\}\}`)

// Fill returns the text of a template for a note of a title, as Obsidian and Periodic Notes fill it in.
func (s Settings) Fill(template, title string, at time.Time) string {
	orElse := func(format, otherwise string) string {
		if format == "" {
			return otherwise
		}
		return format
	}
	return placeholder().ReplaceAllStringFunc(template, func(found string) string {
		m := placeholder().FindStringSubmatch(found)
		switch strings.ToLower(m[1]) {
		case "title":
			return title
		case "yesterday":
			return format(path.Base(s.File), at.AddDate(0, 0, -1))
		case "tomorrow":
			return format(path.Base(s.File), at.AddDate(0, 0, 1))
		}
		as := strings.TrimSpace(m[5])
		switch {
		case as != "":
		case strings.EqualFold(m[2], "time"):
			as = orElse(s.Times, "HH:mm")
		default:
			as = orElse(s.Dates, ISO)
		}
		n, _ := strconv.Atoi(m[3])
		return format(as, moved(at, n, m[4]))
	})
}

// moved returns a time that is some years, quarters, months, weeks, days, hours or seconds away.
func moved(at time.Time, n int, unit string) time.Time {
	switch strings.ToLower(unit) {
	case "y":
		return at.AddDate(n, 0, 0)
	case "q":
		return at.AddDate(0, 3*n, 0)
	case "m":
		return at.AddDate(0, n, 0)
	case "w":
		return at.AddDate(0, 0, 7*n)
	case "d":
		return at.AddDate(0, 0, n)
	case "h":
		return at.Add(time.Duration(n) * time.Hour)
	case "s":
		return at.Add(time.Duration(n) * time.Second)
	}
	return at
}

// named are names of notes that are a day.
var named = text.Pattern(`^\d{4}([-_.])\d{2}([-_.])\d{2}\.md$`)

// Counter finds out where a vault without settings has its notes of days: where most of them are. The zero value is ready.
type Counter struct {
	counts map[string]int
	format map[string]string
}

// Add counts the note at a path.
func (c *Counter) Add(p string) {
	base := path.Base(p)
	if len(base) != len("2006-01-02.md") {
		return
	}
	m := named().FindStringSubmatch(base)
	if m == nil {
		return
	}
	if c.counts == nil {
		c.counts, c.format = make(map[string]int), make(map[string]string)
	}
	folder := path.Dir(p)
	if folder == "." {
		folder = ""
	}
	c.counts[folder]++
	c.format[folder] = "YYYY" + m[1] + "MM" + m[2] + "DD"
}

// Apply gives settings the folder with most notes of days, and how they are named there.
func (c *Counter) Apply(s *Settings) {
	most := 0
	for f, n := range c.counts {
		if n > most || n == most && f < s.Folder {
			s.Folder, s.File, most = f, c.format[f], n
		}
	}
}

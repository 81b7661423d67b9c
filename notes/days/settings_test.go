package days_test

import (
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/notes/days"
)

// at is a Wednesday, in ISO week 10 and in week 10 that begins on a Sunday.
var at = time.Date(2026, 3, 4, 9, 5, 7, 0, time.UTC)

func reader(files map[string]string) days.Reader {
	return func(p string) ([]byte, error) {
		text, ok := files[p]
		switch {
		case !ok:
			return nil, fs.ErrNotExist
		case text == "unreadable":
			return nil, fs.ErrPermission
		}
		return []byte(text), nil
	}
}

func TestSRCH60_WhereAVaultMakesItsNotes(t *testing.T) {
	const daily, app, edn = ".obsidian/daily-notes.json", ".obsidian/app.json", "logseq/config.edn"
	for name, c := range map[string]struct {
		files    map[string]string
		path     string
		newNotes string
		problems string // of which each holds a part, with | between
	}{
		"nothing":  {nil, "2026-03-04.md", "", ""},
		"defaults": {map[string]string{daily: "{}"}, "2026-03-04.md", "", ""},
		"folders in the format": {
			map[string]string{daily: `{"folder":"/Log/","format":"YYYY/MM-MMMM/YYYY-MM-DD"}`}, "Log/2026/03-March/2026-03-04.md", "", "",
		},
		"another program's keys": {map[string]string{daily: `{"folder":"Log","autorun":true,"x":[1]}`}, "Log/2026-03-04.md", "", ""},
		"a folder for new notes": {
			map[string]string{app: `{"newFileLocation":"folder","newFileFolderPath":"Inbox/New"}`}, "2026-03-04.md", "Inbox/New", "",
		},
		"new notes beside the one that is open": {map[string]string{app: `{"newFileLocation":"current","newFileFolderPath":"Inbox"}`}, "2026-03-04.md", "", ""},
		"Logseq":                                {map[string]string{edn: `{:pages-directory "notes" :journals-directory "log"}`}, "log/2026_03_04.md", "notes", ""},
		"Logseq, its template": {
			map[string]string{edn: `{:default-templates {:journals "Day"}}`}, "journals/2026_03_04.md", "pages", "is a block",
		},
		// What cannot be meant so.
		"no JSON":        {map[string]string{daily: `{"folder":`, app: "x"}, "2026-03-04.md", "", "no JSON|no JSON"},
		"wrong kinds":    {map[string]string{daily: `{"folder":5}`, app: `[]`}, "2026-03-04.md", "", "no JSON|no JSON"},
		"out of it":      {map[string]string{daily: `{"folder":"../x","template":"/../../etc/passwd"}`}, "2026-03-04.md", "", "its folder|its template"},
		"out of it, new": {map[string]string{app: `{"newFileLocation":"folder","newFileFolderPath":"a/../../b"}`}, "2026-03-04.md", "", "newFileFolderPath"},
		"hidden":         {map[string]string{daily: `{"folder":".obsidian"}`}, "2026-03-04.md", "", "dot"},
		"a time in it":   {map[string]string{daily: `{"format":"YYYY-MM-DD HH:mm"}`}, "2026-03-04.md", "", "format"},
		"up by format":   {map[string]string{daily: `{"format":"[..]/YYYY-MM-DD"}`}, "2026-03-04.md", "", "format"},
		"no permission":  {map[string]string{daily: "unreadable"}, "2026-03-04.md", "", "cannot be read"},
		"no template":    {map[string]string{daily: `{"template":"T"}`}, "2026-03-04.md", "", "template"},
		"Templater":      {map[string]string{daily: `{"template":"T"}`, "T.md": "<% tp.date.now() %>"}, "2026-03-04.md", "", "Templater"},
		"Logseq, out":    {map[string]string{edn: `{:journals-directory "../x" :pages-directory "c:\\x"}`}, "journals/2026_03_04.md", "pages", "journals-directory"},
	} {
		t.Run(name, func(t *testing.T) {
			read := reader(c.files)
			s, _, _ := days.Read(read)
			if got := s.Path(at); got != c.path || s.NewNotes != c.newNotes {
				t.Errorf("%s, new notes in %q", got, s.NewNotes)
			}
			var want []string
			if c.problems != "" {
				want = strings.Split(c.problems, "|")
			}
			got := days.Problems(read)
			if len(got) != len(want) {
				t.Fatalf("%+v, want %q", got, want)
			}
			for i := range want {
				if !strings.Contains(got[i].What, want[i]) || got[i].Path == "" {
					t.Errorf("%+v, want %q", got[i], want[i])
				}
			}
		})
	}
}

func TestSRCH60_ATemplateIsFilledIn(t *testing.T) {
	s := days.Settings{File: "YYYY/YYYY-MM-DD", Template: "T/Day.md", Times: "H[h]mm"}
	for template, want := range map[string]string{
		"# {{title}}\n{{date}} {{ time }}":                  "# 2026-03-04\n2026-03-04 9h05",
		"{{date:dddd, MMMM Do YYYY}} {{DATE:[W]ww gggg}}":   "Wednesday, March 4th 2026 W10 2026",
		"{{time:HH:mm:ss A}}":                               "09:05:07 AM",
		"[[{{yesterday}}]] [[{{tomorrow}}]]":                "[[2026-03-03]] [[2026-03-05]]",
		"{{date+1d:YYYY-MM-DD}} {{date-1m}} {{time+2h}}":    "2026-03-05 2026-02-04 11h05",
		"{{ date : D.M. }}{{date:}}":                        "4.3.{{date:}}",
		"<% tp.date.now() %> {{weather}} {{date {{title}} ": "<% tp.date.now() %> {{weather}} {{date 2026-03-04 ",
		"": "",
	} {
		text, warning := s.Content(reader(map[string]string{"T/Day.md": template}), at)
		if text != want || (warning != "") != strings.Contains(template, "<%") {
			t.Errorf("%q is %q, %q", template, text, warning)
		}
	}
	if text, warning := s.Content(reader(nil), at); text != "# 2026-03-04\n" || warning == "" {
		t.Errorf("without its file: %q, %q", text, warning)
	}
}

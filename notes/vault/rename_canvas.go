package vault

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

const whyUnread = "the file cannot be read as it is, so its links are not changed"

// drawing adds the edits of the links in a canvas: of the paths of its files, and of the texts of its cards. They are
// edits of the file, which is JSON; the note that was made of it is not looked at.
func (j *job) drawing(n *notes.Note, after notes.World) {
	source := ""
	if j.source != nil {
		source, _ = j.source(n.Path) // an empty file has no strings
	}
	if n.Kind != notes.KindCanvas || !json.Valid([]byte(source)) {
		j.unread(n, after)
		return
	}
	var edits []Edit
	for _, s := range stringsOf(source) {
		w := &writer{job: j, after: after, from: n, text: s.text}
		switch s.key {
		case "file":
			w.file(s.text)
		case "text":
			for l := range markdown.Parse(s.text).EachLink() {
				w.link(l)
			}
			for l := range markdown.Parse(s.text).EachFileLink() {
				w.link(l)
			}
		}
		for _, e := range inOrder(w.edits) {
			edits = append(edits, Edit{s.at[e.Start], s.at[e.End], inJSON(e.New)})
		}
	}
	if len(edits) > 0 {
		j.plan.Files = append(j.plan.Files, ChangedFile{n.Path, source, inOrder(edits)})
	}
}

// unread tells of the links of a file that would have to be changed and cannot be.
func (j *job) unread(n *notes.Note, after notes.World) {
	for _, l := range n.Links() {
		was, now := j.before.Lead(l, n.ID), after.Lead(l, n.ID)
		if to, moved := j.files[was.File]; moved {
			was.File = to
		}
		if (was.ID != "" || was.File != "") && (was.ID != now.ID || was.File != now.File) {
			j.problem(n, l, whyUnread)
		}
	}
}

// file writes the path of a card that shows a file anew.
func (w *writer) file(p string) {
	lead := w.job.before.Lead(markdown.Link{Target: "/" + strings.TrimSpace(p)}, w.from.ID)
	if lead.ID == "" && lead.File == "" {
		return
	}
	if to, moved := w.job.files[lead.File]; moved {
		lead.File = to
	}
	if _, now := w.places(lead); now != strings.TrimSpace(p) && withoutExt(now) != strings.TrimSpace(p) {
		w.edits = append(w.edits, Edit{0, len(p), now})
	}
}

// jsonString is a string of a JSON text that is the value of a key.
type jsonString struct {
	key, text string
	at        []int // where each byte of text, and its end, stands in the JSON
}

// stringsOf returns the strings of a JSON text that are values of keys. The text is valid.
func stringsOf(source string) (list []jsonString) {
	key := ""
	for i := 0; i < len(source); i++ {
		if source[i] != '"' {
			continue
		}
		s := unquoted(source, i)
		i = s.at[len(s.at)-1]
		switch rest := strings.TrimLeft(source[i+1:], " \t\r\n"); {
		case strings.HasPrefix(rest, ":"):
			key = s.text
		default:
			s.key, key = key, ""
			list = append(list, s)
		}
	}
	return list
}

// unquoted reads the string whose quote stands at start.
func unquoted(source string, start int) (s jsonString) {
	var b strings.Builder
	for i := start + 1; i < len(source); {
		var size int
		switch {
		case source[i] == '"':
			s.text, s.at = b.String(), append(s.at, i)
			return s
		case source[i] == '\\':
			if size = 2; source[i+1] == 'u' {
				size = 6
				if strings.HasPrefix(source[i+size:], `\u`) && source[i+2]|0x20 == 'd' && source[i+3] >= '8' { // the first half of a pair
					size = 12
				}
			}
		default:
			_, size = utf8.DecodeRuneInString(source[i:])
		}
		var part string
		if json.Unmarshal([]byte(`"`+source[i:i+size]+`"`), &part) != nil {
			part = source[i : i+size]
		}
		b.WriteString(part)
		for range len(part) {
			s.at = append(s.at, i)
		}
		i += size
	}
	s.text, s.at = b.String(), append(s.at, len(source)-1) // not of a valid text
	return s
}

// inJSON is a text as it stands in a string of JSON.
func inJSON(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(text) != nil {
		return ""
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(b.String(), "\n"), `"`), `"`)
}

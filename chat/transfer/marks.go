package transfer

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
)

// ChatGPT writes what it draws by itself between characters of a private use area:
//
//	U+E200 KIND U+E202 ARGUMENT … U+E201
//
// U+E203 to U+E20F stand around what they mark, and 【12†source】 was the form before. A reader sees a chip with a source in
// the place of a citation, and the name of an entity.
const (
	markBegin = '\ue200'
	markEnd   = '\ue201'
	markParts = "\ue202"
)

var oldCitation = regexp.MustCompile(`【[0-9:]*†([^】\n]*)】`)

// unmarked returns a text as a reader saw it: with a link in the place of a mark where its target is known, by what stood
// in the text.
func unmarked(said string, targets map[string]string) string {
	if !strings.ContainsFunc(said, isMark) && !strings.Contains(said, "†") {
		return said
	}
	var b []byte
	put := func(shown string) {
		if shown == "" && bytes.HasSuffix(b, []byte(" ")) { // a blank on both sides is one too many
			b = append(bytes.TrimRight(b, " "), 0) // no text of a message has a NUL
		}
		b = append(b, shown...)
	}
	for {
		at := strings.IndexFunc(said, isMark)
		old := oldCitation.FindStringSubmatchIndex(said)
		if len(old) > 0 && (at < 0 || old[0] < at) {
			b = append(b, said[:old[0]]...)
			shown := targets[said[old[0]:old[1]]]
			if name := said[old[2]:old[3]]; shown == "" && name != "source" && strings.Contains(name, ".") {
				shown = "(" + name + ")"
			}
			put(shown)
			said = said[old[1]:]
			continue
		}
		if at < 0 {
			break
		}
		b = append(b, said[:at]...)
		said = said[at:]
		end := strings.IndexRune(said, markEnd)
		if !strings.HasPrefix(said, string(markBegin)) || end < 0 || strings.ContainsRune(said[:end], '\n') {
			said = said[len(string(markBegin)):] // each has three bytes
			continue
		}
		whole := said[:end+len(string(markEnd))]
		said = said[len(whole):]
		if target, ok := targets[whole]; ok {
			put(target)
			continue
		}
		kind, rest, _ := strings.Cut(strings.Trim(whole, "\ue200\ue201"), markParts)
		put(shownMark(kind, strings.Split(rest, markParts)))
	}
	return closedUp.ReplaceAllString(string(append(b, said...)), "$1$2")
}

// closedUp is where a mark went between blanks: what follows it says whether one stays.
var closedUp = regexp.MustCompile(`\x00(?: *([.,;:!?)\n])|( )|$)`)

func isMark(r rune) bool { return r >= '\ue200' && r <= '\ue20f' }

// shownMark returns what a reader saw of a mark, "" for a chip without a name.
func shownMark(kind string, args []string) string {
	switch kind {
	case "entity": // ["people","Name",0]
		at, list := 0, []byte(args[0])
		if !json.Valid(list) {
			return ""
		}
		for part := range items(list) {
			if at == 1 {
				return text(part)
			}
			at++
		}
	case "url":
		if len(args) > 1 && isLink(args[1]) {
			return link(args[0], args[1])
		}
		return args[0]
	}
	return ""
}

func isLink(url string) bool {
	return (strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "http://")) && !strings.ContainsAny(url, " \n<>()")
}

// link is a link of Markdown, whose text can't end it.
func link(title, url string) string {
	title = strings.Join(strings.Fields(strings.NewReplacer("[", "(", "]", ")").Replace(title)), " ")
	if title == "" {
		title = url
	}
	return "[" + title + "](" + url + ")"
}

// targetsOf returns the links that stand for the marks of a message of ChatGPT, by what stands in its text.
func targetsOf(metadata []byte) map[string]string {
	targets := make(map[string]string)
	for ref := range objects(member(metadata, "content_references")) {
		matched := text(member(ref, "matched_text"))
		if strings.TrimSpace(matched) == "" {
			continue
		}
		var links []string
		add := func(of []byte) {
			if url := text(member(of, "url")); isLink(url) && len(links) < maxSources {
				links = append(links, link(text(member(of, "title")), url))
			}
		}
		add(ref)
		for item := range objects(member(ref, "items")) {
			add(item)
		}
		if len(links) > 0 {
			targets[matched] = "(" + strings.Join(links, ", ") + ")"
		}
	}
	for cited := range objects(member(metadata, "citations")) {
		about := member(cited, "metadata")
		if url := text(member(about, "url")); isLink(url) {
			if mark := text(member(cited, "matched_text")); mark != "" {
				targets[mark] = "(" + link(text(member(about, "title")), url) + ")"
			}
		}
	}
	return targets
}

// maxSources is how many links stand for one mark.
const maxSources = 8

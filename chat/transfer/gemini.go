package transfer

import (
	"bytes"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/net/html"
)

// activity reads an entry of the activity of Gemini, as Google delivers it: a question and its answer. There are no
// conversations in it.
func activity(e envelope) parsed {
	p := parsed{}
	said := newTranscript(&p)
	asked := text(e.title) // the title says what was done
	for _, before := range []string{"Prompted ", "Asked ", "Said "} {
		asked = strings.TrimPrefix(asked, before)
	}
	id := hashed(Gemini, text(e.time), asked) // does not depend on what other records say
	told := asked != text(e.title)
	begins := []string{"Eingegebener Prompt: ", "Requête : ", "Has escrito la petición "}
	if e.answers != nil || strings.ContainsAny(e.asked, ":：") { // words alone may say what else was done
		begins = append(begins, e.asked)
	}
	for _, before := range begins {
		if rest, ok := strings.CutPrefix(asked, before); ok && before != "" && !told {
			asked, told = rest, true
		}
	}
	if !told && e.answers == nil { // "Used an Assistant feature"
		p.leftOut.Hidden++
		return p
	}
	at := instant(e.time)
	said.add(ForeignMessage{ID: "question", Role: RoleUser, Text: asked, CreatedAt: at}, "", 0)
	var answer []string
	for item := range objects(e.answers) {
		answer = append(answer, htmlText(text(member(item, "html"))))
	}
	said.add(ForeignMessage{ID: "answer", Role: RoleAssistant, Text: joined(answer), CreatedAt: at}, "", 1)
	c := &p.conversation
	c.Source, c.CreatedAt, c.UpdatedAt = Gemini, at, at
	c.ID = id
	c.Title = strings.TrimSpace(asked)
	if line, _, cut := strings.Cut(c.Title, "\n"); cut || len(c.Title) > 200 {
		c.Title = strings.ToValidUTF8(line[:min(len(line), 200)], "")
	}
	return p
}

var titleOfRecord = regexp.MustCompile(`"title"\s*:\s*("(?:[^"\\]|\\.)*")`)

// askedIn returns what stands before the questions in the titles of a file of activity, in whatever language: the words up
// to a colon that most of them begin with, three at least, else all words that most begin with, five at least.
func askedIn(head []byte) string {
	if !isActivity(head) {
		return ""
	}
	var titles []string
	for _, found := range titleOfRecord.FindAllSubmatch(head, -1) {
		titles = append(titles, text(found[1]))
	}
	toColon := func(title string) string {
		before, _, ok := strings.Cut(strings.ReplaceAll(title, "：", ":"), ":")
		if !ok || len(before) > 60 {
			return ""
		}
		return before
	}
	if same := mostBegin(titles, 3, toColon); len(same) > 0 {
		title, before := same[0], toColon(same[0])
		question := strings.TrimLeftFunc(title[len(before):], func(r rune) bool { return r == ':' || r == '：' || unicode.IsSpace(r) })
		return title[:len(title)-len(question)] // as it is written: with its blank, if it has one
	}
	begin := ""
	nextWord := func(title string) string {
		word, _, ok := strings.Cut(strings.TrimPrefix(title, begin), " ")
		if !ok {
			return ""
		}
		return begin + word + " "
	}
	for same := mostBegin(titles, 5, nextWord); len(same) > 0; same = mostBegin(same, len(same), nextWord) {
		begin = nextWord(same[0])
	}
	return begin
}

// mostBegin returns the titles that begin alike, as of says, if they are most of all, and at least so many.
func mostBegin(titles []string, least int, of func(title string) string) (same []string) {
	counts := make(map[string]int)
	for _, t := range titles {
		counts[of(t)]++
	}
	for _, t := range titles {
		if begin := of(t); begin != "" && counts[begin] >= least && 2*counts[begin] > len(titles) {
			same = append(same, t)
		}
	}
	return same
}

// isActivity reports whether a file begins as one of the activity of Gemini does.
func isActivity(head []byte) bool {
	head = bytes.TrimSpace(bytes.TrimPrefix(head, utf8Mark))
	if !bytes.HasPrefix(head, []byte("[")) {
		return false
	}
	_, first, ok := bytes.Cut(head, []byte(`"header"`))
	first, _, _ = bytes.Cut(first, []byte(","))
	return ok && bytes.Contains(first, []byte("Gemini")) && bytes.Contains(head, []byte(`"title"`))
}

// htmlText returns the text of a piece of HTML, with a line for each block.
func htmlText(s string) string {
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(s))
	for {
		switch z.Next() {
		case html.ErrorToken:
			lines := strings.Split(b.String(), "\n")
			out, blank := lines[:0], true
			for _, l := range lines {
				l = strings.TrimRight(l, " ")
				if l == "" && blank {
					continue
				}
				blank = l == ""
				out = append(out, l)
			}
			return strings.TrimSpace(strings.Join(out, "\n"))
		case html.TextToken:
			b.Write(z.Text())
		case html.StartTagToken, html.SelfClosingTagToken:
			switch name, _ := z.TagName(); string(name) {
			case "li":
				b.WriteString("\n- ")
			case "br", "tr":
				b.WriteString("\n")
			case "p", "div", "h1", "h2", "h3", "h4", "ul", "ol", "pre", "table", "blockquote":
				b.WriteString("\n\n")
			case "td", "th":
				b.WriteString(" ")
			}
		}
	}
}

// studio reads a prompt of Google's AI Studio: chunks of a person and of the model.
func studio(e envelope, maxMessages int) parsed {
	p := parsed{}
	said := newTranscript(&p)
	place := 0
	for chunk := range objects(member(e.chunkedPrompt, "chunks")) {
		if place == maxMessages {
			return parsed{tooMany: true}
		}
		role := text(member(chunk, "role"))
		switch {
		case truth(member(chunk, "isThought")):
			p.leftOut.Reasoning++
			continue
		case role == "model":
			role = RoleAssistant
		default:
			role = RoleUser
		}
		lines := []string{text(member(chunk, "text"))}
		for _, file := range []string{"driveImage", "driveDocument", "inlineData", "inlineFile"} {
			if isKind(member(chunk, file), '{') {
				lines = append(lines, said.attachment("file", ""))
			}
		}
		said.add(ForeignMessage{Role: role, Text: joined(lines), CreatedAt: instant(member(chunk, "createTime"))}, "", place)
		place++
	}
	p.conversation.Source, p.conversation.Title = Gemini, text(e.title)
	return p
}

package notes

import (
	"encoding/json"
	"html"
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/notes/markdown"
)

// Heads of texts in other forms than YAML: JSON between lines of ;;; or at the beginning of the text, properties of Logseq
// (private:: true), keywords and properties of Org (#+PRIVATE: t), and <meta> of HTML.

// maxHead is how many bytes of a text a head in such a form has at most.
const maxHead = 64 << 10

var (
	jsonMark = text.Pattern(`^;;;[ \t]*\r?\n`)
	jsonKey  = text.Pattern(`(?i)"\s*private\s*"\s*:`)
	logseq   = text.Pattern(`^\s*(?:[-*]\s+)?([^\s:]+)::(?:\s+(.*?))?\s*$`)
	org      = text.Pattern(`^\s*(?:#\+([^\s:]+):|:([^\s:]+):)\s*(.*?)\s*$`)
	metaTag  = text.Pattern(`(?is)<meta\b((?:[^>"']|"[^"]*"|'[^']*')*)>`)
	attr     = text.Pattern(`(?is)([a-z:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))`)
	htmlBody = text.Pattern(`(?i)<body\b|</head\s*>`)
	comment  = text.Pattern(`(?s)<!--.*?(?:-->|$)`)
)

// otherHeadSays returns what a head in another form than YAML says about being private, as says does. A file that is JSON
// and nothing else is data, such as an export or a package.json: as a note alone it has a head.
func otherHeadSays(body string, file bool) (why Why) {
	_, at := markdown.SplitFrontmatter(body)
	head := strings.TrimLeft(strings.TrimPrefix(body[at:], "\uFEFF"), " \t\r\n")
	head = head[:min(len(head), maxHead)]
	take := func(key, raw string, value any) {
		if why.Rule == RuleText || !markdown.MatchesKey(key, privateKey) {
			return
		}
		if found := saysValue(markdown.FrontmatterField{Key: privateKey, Raw: raw, Value: value}); found.Rule != RuleNone {
			why = found
		}
	}
	switch mark := jsonMark().FindString(head); {
	case mark == "" && file && isData(head):
	case mark != "" || strings.HasPrefix(head, "{"):
		if !jsonHead(head[len(mark):], take) {
			why = Why{RuleDoubt, doubtBroken}
		}
	case strings.HasPrefix(head, "<"):
		htmlHead(head, take)
	default:
		linesHead(head, take)
	}
	return why
}

// isData reports whether a text is JSON, or the beginning of that, with no text behind it.
func isData(text string) bool {
	if !strings.HasPrefix(text, "{") {
		return false
	}
	read := json.NewDecoder(strings.NewReader(text))
	var value map[string]any
	if read.Decode(&value) != nil {
		return true
	}
	rest := strings.TrimSpace(text[read.InputOffset():])
	return rest == "" || rest[0] == '{'
}

// jsonHead takes the members of the object that a text begins with. It returns false where that cannot be read and names
// private.
func jsonHead(text string, take func(key, raw string, value any)) bool {
	var members map[string]any
	if json.NewDecoder(strings.NewReader(text)).Decode(&members) != nil {
		return !jsonKey().MatchString(text)
	}
	for key, value := range members {
		raw, _ := value.(string)
		take(key, raw, value)
	}
	return true
}

func htmlHead(text string, take func(key, raw string, value any)) {
	text = comment().ReplaceAllString(text, "")
	if end := htmlBody().FindStringIndex(text); end != nil {
		text = text[:end[0]]
	}
	for _, tag := range metaTag().FindAllStringSubmatch(text, -1) {
		name, content := "", ""
		for _, a := range attr().FindAllStringSubmatch(tag[1], -1) {
			value := html.UnescapeString(a[2] + a[3] + a[4])
			switch strings.ToLower(a[1]) {
			case "name", "property":
				name = value
			case "content":
				content = value
			}
		}
		take(strings.TrimSpace(name), content, content)
	}
}

// linesHead takes the properties that stand in the first lines of a text.
func linesHead(text string, take func(key, raw string, value any)) {
	for line := range strings.SplitSeq(text, "\n") {
		var key, raw string
		if m := logseq().FindStringSubmatch(line); m != nil {
			key, raw = m[1], m[2]
		} else if m := org().FindStringSubmatch(line); m != nil {
			key, raw = m[1]+m[2], m[3]
		} else if bare := strings.TrimSpace(line); bare != "" && bare != "#" && !strings.HasPrefix(bare, "# ") {
			return
		} else {
			continue
		}
		switch entities.Fold(raw) { // as Org says yes and no
		case "t":
			raw = "yes"
		case "nil":
			raw = "no"
		}
		take(key, raw, raw)
	}
}

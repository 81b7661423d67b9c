package convert

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// What of a page of HTML is not shown is left out, numbers of footnotes stand apart from their words, and the pages of a printed
// book are counted.

// alone are the elements that have no end.
var alone = map[atom.Atom]bool{
	atom.Area: true, atom.Base: true, atom.Br: true, atom.Col: true, atom.Embed: true, atom.Hr: true, atom.Img: true, atom.Input: true,
	atom.Link: true, atom.Meta: true, atom.Source: true, atom.Track: true, atom.Wbr: true,
}

// closes says which elements the start of one ends, where their end tags were left out, and which ones bound that.
var closes = map[atom.Atom]struct{ ends, within []atom.Atom }{
	atom.Li: {[]atom.Atom{atom.Li}, []atom.Atom{atom.Ul, atom.Ol, atom.Menu}},
	atom.Dt: {[]atom.Atom{atom.Dt, atom.Dd}, []atom.Atom{atom.Dl}},
	atom.Dd: {[]atom.Atom{atom.Dt, atom.Dd}, []atom.Atom{atom.Dl}},
	atom.Tr: {[]atom.Atom{atom.Tr}, []atom.Atom{atom.Table}},
	atom.Td: {[]atom.Atom{atom.Td, atom.Th}, []atom.Atom{atom.Table, atom.Tr}},
	atom.Th: {[]atom.Atom{atom.Td, atom.Th}, []atom.Atom{atom.Table, atom.Tr}},
}

// maxHidden is how deep elements that are not shown are followed; what is deeper is taken for its parent.
const maxHidden = 1000

// isHidden reports an element that a browser does not show. The page as a whole is: programs hide it until they have run.
func isHidden(t html.Token) bool {
	if t.DataAtom == atom.Html || t.DataAtom == atom.Body {
		return false
	}
	for _, a := range t.Attr {
		switch a.Key {
		case "hidden":
			if !strings.EqualFold(a.Val, "until-found") {
				return true
			}
		case "style":
			style := strings.ToLower(strings.Join(strings.Fields(a.Val), ""))
			if strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden") {
				return true
			}
		}
	}
	return false
}

// hides begins what is not shown, if the element is it.
func (r *reader) hides(t html.Token) bool {
	if !isHidden(t) {
		return false
	}
	if t.Type == html.StartTagToken && !alone[t.DataAtom] {
		r.hidden = append(r.hidden, t.DataAtom)
	}
	return true
}

// appears takes in a start tag within what is not shown. True: what was not shown has ended before it.
func (r *reader) appears(t html.Token) bool {
	c, ok := closes[t.DataAtom]
	switch {
	case ok:
	case t.DataAtom != 0 && !inline[t.DataAtom] && !alone[t.DataAtom]: // what parts text ends a paragraph
		c.ends = []atom.Atom{atom.P}
		c.within = []atom.Atom{atom.Button, atom.Object, atom.Td, atom.Th, atom.Caption}
	}
	for i := len(r.hidden) - 1; i >= 0 && !slices.Contains(c.within, r.hidden[i]); i-- {
		if slices.Contains(c.ends, r.hidden[i]) {
			r.hidden = r.hidden[:i]
			break
		}
	}
	if len(r.hidden) == 0 {
		return !r.hides(t)
	}
	if t.Type == html.StartTagToken && !alone[t.DataAtom] && len(r.hidden) < maxHidden {
		r.hidden = append(r.hidden, t.DataAtom)
	}
	return false
}

// leaves takes in an end tag within what is not shown. True: it ends an element around that.
func (r *reader) leaves(a atom.Atom) bool {
	for i := len(r.hidden) - 1; i >= 0; i-- {
		if r.hidden[i] == a {
			r.hidden = r.hidden[:i]
			return false
		}
	}
	if first := r.hidden[0]; first == atom.P && !inline[a] || closes[first].ends != nil && tabularOrList(a) {
		r.hidden = nil
		return true
	}
	return false
}

// tabularOrList reports the elements whose end is that of the items in them.
func tabularOrList(a atom.Atom) bool {
	return tabular(a) || a == atom.Ul || a == atom.Ol || a == atom.Menu || a == atom.Dl
}

// isNoteRef reports a link to a footnote.
func isNoteRef(t html.Token) bool {
	if attr(t, "role") == "doc-noteref" || strings.Contains(attr(t, "epub:type"), "noteref") {
		return true
	}
	for class := range strings.FieldsSeq(attr(t, "class")) {
		if class == "footnote-ref" || class == "footnote-reference" || class == "noteref" {
			return true
		}
	}
	return false
}

// maxMark is how long the mark of a footnote is, in code points.
const maxMark = 6

// apart puts what stands from a place on in brackets, and apart from the word before it.
func (r *reader) apart(from int) {
	if from > r.text.Len() {
		return
	}
	mark := strings.TrimSpace(string(r.text.Bytes()[from:]))
	if mark == "" || utf8.RuneCountInString(mark) > maxMark || strings.ContainsAny(mark, " \n") {
		return
	}
	r.text.Truncate(from)
	if mark[0] != '[' && mark[0] != '(' {
		mark = "[" + mark + "]"
	}
	if from > 0 && !strings.ContainsRune(" \n\t", rune(r.text.Bytes()[from-1])) {
		mark = " " + mark
	}
	r.text.WriteString(mark)
}

// printedPages are the pages of the printed book that an EPUB was made of.
type printedPages struct {
	at     map[string]int // numbers of pages, from 1, by the file, and the place in it, where they begin
	labels []string
	listed bool // at and labels are the list of the book; else they are what its text says
}

// add adds a page of the list.
func (p *printedPages) add(target, label string) {
	if target != "" && len(p.labels) < maxPages {
		p.labels = append(p.labels, label)
		p.at[target] = len(p.labels)
		p.listed = true
	}
}

// turns begins a page where an element says it. True: that is all of the element.
func (r *reader) turns(t html.Token) bool {
	if r.pages == nil {
		return false
	}
	if id := attr(t, "id"); r.pages.listed && id != "" {
		if n := r.pages.at[r.file+"#"+id]; n > 0 {
			r.begin(n)
		}
	}
	if !strings.Contains(attr(t, "epub:type"), "pagebreak") && attr(t, "role") != "doc-pagebreak" {
		return false
	}
	label := attr(t, "title")
	if label == "" {
		label = attr(t, "aria-label")
	}
	if t.Type == html.StartTagToken && !alone[t.DataAtom] { // what it says is no text of the page
		r.skip, r.within, r.turning, r.turned = 1, t.DataAtom, true, ""
		if label != "" {
			r.turning = false
		}
	}
	if label != "" {
		r.turn(label)
	}
	return true
}

// turn begins the page of a break in the text, unless the book has a list of them.
func (r *reader) turn(label string) {
	if words := strings.Fields(label); !r.pages.listed && len(words) > 0 && len(r.pages.labels) < maxPages {
		r.pages.labels = append(r.pages.labels, strings.Trim(words[len(words)-1], ".[]()"))
		r.begin(len(r.pages.labels))
	}
}

// begin begins a page. One that begins before the text of a paragraph begins before the paragraph.
func (r *reader) begin(n int) {
	if r.page = n; strings.TrimSpace(r.text.String()) == "" {
		r.at = n
	}
}

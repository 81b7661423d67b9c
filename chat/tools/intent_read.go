package tools

// Orders are what a message tells ctxd itself to do: to remember something, to forget it, to pin or to search.
//
// [ReadOrders] looks for commands (/remember) and for the phrases of phrases.txt ("remember that …", in many languages)
// and asks nothing and nobody; README.md says what is an order. Places are bytes of the message, half-open. O(message).
//
// A [Router] makes a proposal of each order, for the person who said it, by the kinds of action.go: it finds the memory
// that is to be forgotten and the note that is to be pinned. An order that nothing can be proposed for says why.
// Nothing is changed, and no model is asked. A search for the memory that is meant takes as long as memory.search.
//
// The handlers of rpc and package send call it. All of it is safe for concurrent use.

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/notes/markdown"
)

// Bounds of what is read.
const (
	MaxOrders    = 20       // of a message
	MaxOrderText = 64 << 10 // bytes of a message: a longer one is a document
)

// How sure it is that something is an order.
const (
	typed   = 1   // as a command
	opening = 0.9 // a phrase that opens a line or an item
	within  = 0.7 // a phrase that opens a later sentence
)

// Order is what a message orders.
type Order struct {
	Kind turn.Intent
	// Text is what is to be remembered, forgotten, pinned or found, as it was typed, without blanks around it. Empty: a
	// command that says nothing.
	Text       string
	Start, End int     // place of the order in the message
	Command    bool    // it was typed as a command, not in words
	Language   string  // of the phrase, as ISO 639-1 has it; "" for a command
	Confidence float64 // how sure it is that it is an order, 0 to 1
}

// OrderReading is what was read in a message.
type OrderReading struct {
	Orders []Order
	Rest   bool // the message says something besides
	Left   int  // orders behind the first MaxOrders
}

// Commands reports whether the message is nothing but commands.
func (r *OrderReading) Commands() bool {
	for i := range r.Orders {
		if !r.Orders[i].Command {
			return false
		}
	}
	return len(r.Orders) > 0 && !r.Rest
}

// ReadOrders finds the orders of a message, in their order.
func ReadOrders(message string) OrderReading {
	if len(message) > MaxOrderText {
		return OrderReading{Rest: true}
	}
	r := reader{text: message}
	for _, l := range linesOf(message) {
		r.line(l)
	}
	r.close()
	if n := len(r.out.Orders); n > MaxOrders {
		r.out.Orders, r.out.Left = r.out.Orders[:MaxOrders], n-MaxOrders
	}
	return r.out
}

// line is a line of a message, without the mark of an item and blanks around it.
type line struct {
	start, end int
	item       bool
	prose      bool // neither code, nor a comment, nor a quotation
}

// itemMark opens an item of a list.
var itemMark = regexp.MustCompile(`^[ \t]*(?:[-*+•]|\d{1,3}[.)])(?:[ \t]+|$)`)

// linesOf parts a message into lines.
func linesOf(message string) (list []line) {
	prose := markdown.ReadMessage(message).Prose
	at := 0
	for s := range strings.Lines(message) {
		mark := itemMark.FindString(s)
		l := line{item: mark != ""}
		l.start, l.end = trim(message, at+len(mark), at+len(s))
		for len(prose) > 0 && prose[0][1] <= l.start {
			prose = prose[1:]
		}
		quoted := strings.Contains(message[at:l.start], ">") || strings.HasPrefix(message[l.start:l.end], ">")
		l.prose = !quoted && len(prose) > 0 && prose[0][0] <= l.start
		list = append(list, l)
		at += len(s)
	}
	return list
}

// trim returns a place without the blanks at its ends.
func trim(s string, start, end int) (int, int) {
	end = start + len(strings.TrimRightFunc(s[start:end], unicode.IsSpace))
	return end - len(strings.TrimLeftFunc(s[start:end], unicode.IsSpace)), end
}

// reader reads a message line by line.
type reader struct {
	text string
	out  OrderReading
	open bool // the last order was a command and goes on in the next line

	// head is an order that has said nothing yet: the next line is what it orders, or the items of the next list are.
	head   *Order
	listed bool // head had an item
}

// line reads one line.
func (r *reader) line(l line) {
	if l.start == l.end {
		r.open = false
		return
	}
	var found []Order
	var rest bool
	if l.prose {
		found, rest = r.orders(l)
	}
	switch {
	case len(found) > 0:
		r.listed = r.listed || l.item
		r.close()
		r.out.Rest = r.out.Rest || rest
		r.take(found, l.end)
	case !l.prose:
		r.close()
		r.out.Rest = true
	case r.head != nil && l.item:
		r.listed, r.open = true, false
		r.out.Orders = append(r.out.Orders, r.head.with(r.text, l.start, l.start, l.end))
	case r.head != nil && r.open:
		r.out.Orders = append(r.out.Orders, r.head.with(r.text, r.head.Start, l.start, l.end))
		r.head = nil
	case r.open && !l.item:
		o := &r.out.Orders[len(r.out.Orders)-1]
		o.End = l.end
		o.Text += "\n" + r.text[l.start:l.end]
	default:
		r.close()
		r.out.Rest = true
	}
}

// with is an order of the same kind that says something else.
func (o *Order) with(message string, start, from, end int) Order {
	n := *o
	n.Start, n.End, n.Text = start, end, message[from:end]
	return n
}

// take takes in the orders of a line that ends somewhere.
func (r *reader) take(found []Order, end int) {
	last := &found[len(found)-1]
	if last.Text == "" {
		r.head, found = last, found[:len(found)-1]
	}
	r.out.Orders = append(r.out.Orders, found...)
	r.open = last.Command && last.End == end
}

// close ends the order that is being read.
func (r *reader) close() {
	if r.head != nil && !r.listed {
		if r.head.Command {
			r.out.Orders = append(r.out.Orders, *r.head)
		} else {
			r.out.Rest = true
		}
	}
	r.head, r.listed, r.open = nil, false, false
}

// orders finds the orders of a line. rest tells whether it says something besides. What stands behind a semicolon and is
// no order itself belongs to the order before.
func (r *reader) orders(l line) (list []Order, rest bool) {
	for at := l.start; at <= l.end; {
		end := l.end
		if i := strings.IndexAny(r.text[at:l.end], ";；"); i >= 0 {
			end = at + i
		}
		next := end + 1
		for next < l.end && !utf8Start(r.text[next]) {
			next++
		}
		start, stop := trim(r.text, at, end)
		at = next
		found, more := r.piece(start, stop)
		switch n := len(list); {
		case len(found) > 0:
			list, rest = append(list, found...), rest || more
		case start == stop:
		case n > 0 && list[n-1].Text != "" && !rest:
			o := &list[n-1]
			from := o.End - len(o.Text)
			*o = o.with(r.text, o.Start, from, stop)
		default:
			rest = true
		}
	}
	return list, rest
}

func utf8Start(b byte) bool { return b&0xC0 != 0x80 }

// piece finds the orders between two semicolons.
func (r *reader) piece(start, end int) (list []Order, rest bool) {
	if c, from, ok := commandAt(r.text[start:end]); ok {
		from, end = trim(r.text, start+from, end)
		return []Order{{Kind: c.Intent, Text: r.text[from:end], Start: start, End: end, Command: true, Confidence: typed}}, false
	}
	at := start
	for i, n := range text.Sentences(r.text[start:end]) {
		from, to := trim(r.text, at, at+n)
		at += n
		if from == to {
			continue
		}
		p, ok := phraseIn(r.text[from:to])
		begin, stop := trim(r.text, from+p.start, from+p.end)
		if !ok || begin == stop && to < end {
			rest = true
			continue
		}
		o := Order{Kind: p.kind, Language: p.language, Start: from, End: to, Text: r.text[begin:stop], Confidence: within}
		if i == 0 {
			o.Confidence = opening
		}
		list = append(list, o)
	}
	return list, rest
}

package shell

// This file and edit_*.go are the line editor of the prompts of ctxd wql and ctxd chat: a text of several lines with
// the keys of Emacs, words that Tab completes, and a history that Ctrl-R searches.
//
// edit_editor.go is the text, edit_keys.go the keys, edit_draw.go the terminal, edit_prompt.go the keyboard and its
// modes, edit_history.go the file that only this user can read. The editor moves by graphemes and measures in columns
// of the terminal. What Tab offers, and when a text is finished, are functions of the caller.
//
// A [Prompt] is used by one goroutine; it has the terminal in raw mode while a text is edited, and only then. Prompts
// that run at a time add to one history.

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/wql/syntax"
)

// Editor has a person edit a text of one line or of several on a terminal
// that is in raw mode. Places are counted in columns and characters are taken
// whole, so names in any script can be edited; golang.org/x/term, which counts
// one column for every code point, could not. It is used by one goroutine.
type Editor struct {
	In       *bufio.Reader
	Out      io.Writer
	Size     func() (width, height int)
	History  *History
	Complete func(text string, at int) syntax.Completion
	Finished func(text string) bool // Enter ends the text, and does not only its line
	Typed    string                 // stands there when the next edit begins, as if it were typed

	prompt string // plain
	Paint  func(prompt string) string
	text   string
	at     int    // offset of the cursor in it
	killed string // what Ctrl-Y brings back
	back   int    // entries of the history that the text lies back; 0: it is typed
	typed  string // before the history was looked at
	row    int    // of the cursor, in what is drawn
	search *historySearch
}

// ErrInterrupted is the end of an edit by Ctrl-C.
var ErrInterrupted = errors.New("interrupted")

// Read has a text edited. The error is ErrInterrupted after Ctrl-C, with what was
// typed, and io.EOF when there is no more, after Ctrl-D in an empty text.
func (e *Editor) Read(prompt string) (string, error) {
	typed := editable(e.Typed)
	e.Typed = ""
	e.prompt, e.text, e.at, e.back, e.row, e.search = prompt, typed, len(typed), 0, 0, nil
	e.Write(markPaste)
	defer e.Write(UnmarkPaste)
	e.draw()
	for {
		k, err := readKey(e.In)
		if err != nil {
			e.leave("")
			return "", err
		}
		over, err := e.press(k)
		if err != nil {
			e.leave(map[bool]string{true: "^C"}[errors.Is(err, ErrInterrupted)])
			return e.text, err
		}
		if over {
			e.leave("")
			return e.text, nil
		}
		// What is typed ahead or pasted is drawn once.
		if e.In.Buffered() == 0 {
			e.draw()
		}
	}
}

// press does what a key means, and reports whether the text is finished.
func (e *Editor) press(k key) (over bool, err error) {
	if e.search != nil && !e.searchKey(k) {
		return false, nil
	}
	switch k {
	case ctrlC:
		return false, ErrInterrupted
	case ctrlD:
		if e.text == "" {
			return false, io.EOF
		}
		e.replace(e.at, e.after(), "")
	case keyEnter, keyLF:
		if e.ends() {
			return true, nil
		}
		e.at = len(e.text)
		e.insert("\n")
	case keyNewLine:
		e.insert("\n")
	case keyTab:
		e.tab()
	case keyPaste:
		return false, e.paste()
	case ctrlR:
		e.search = &historySearch{before: e.text, at: e.at}
	case ctrlL:
		e.Write("\x1b[H\x1b[2J")
		e.row = 0
	default:
		if !e.move(k) && !e.kill(k) && k >= ' ' && k <= unicode.MaxRune && k != keyBack {
			e.insert(string(rune(k)))
		}
	}
	return false, nil
}

// ends reports whether Enter ends the text here. An empty line at its end does
// in any case, so that nobody is caught in a text that seems unfinished.
func (e *Editor) ends() bool {
	return e.Finished(e.text) || strings.HasSuffix(e.text, "\n") && e.at == len(e.text)
}

// move moves the cursor, or to another entry of the history.
func (e *Editor) move(k key) bool {
	switch k {
	case keyLeft, ctrlB:
		e.at = e.before()
	case keyRight, ctrlF:
		e.at = e.after()
	case keyHome, ctrlA:
		e.at = e.lineStart()
	case keyEnd, ctrlE:
		e.at = lineEnd(e.text, e.at)
	case keyWordLeft:
		e.at = e.wordStart(isWordRune)
	case keyWordRight:
		e.at = e.wordEnd()
	case keyUp, ctrlP:
		if start := e.lineStart(); start > 0 && e.back == 0 {
			e.toLine(start - 1)
			return true
		}
		e.recall(e.back + 1)
	case keyDown, ctrlN:
		if end := lineEnd(e.text, e.at); end < len(e.text) && e.back == 0 {
			e.toLine(end + 1)
			return true
		}
		e.recall(e.back - 1)
	default:
		return false
	}
	return true
}

// kill takes something out of the text.
func (e *Editor) kill(k key) bool {
	from, to := e.at, e.at
	switch k {
	case keyBack, ctrlH:
		e.replace(e.before(), e.at, "")
		return true
	case keyDelete:
		e.replace(e.at, e.after(), "")
		return true
	case ctrlY:
		e.insert(e.killed)
		return true
	case ctrlU:
		from = e.lineStart()
	case ctrlK:
		to = lineEnd(e.text, e.at)
	case ctrlW:
		from = e.wordStart(func(r rune) bool { return !unicode.IsSpace(r) })
	case keyAlt + keyBack, keyAlt + ctrlH:
		from = e.wordStart(isWordRune)
	case keyAlt + 'd', keyAlt + 'D':
		to = e.wordEnd()
	default:
		return false
	}
	if from < to {
		e.killed = e.text[from:to]
		e.replace(from, to, "")
	}
	return true
}

// replace puts another text in the place of a part, and the cursor behind it.
func (e *Editor) replace(from, to int, with string) {
	e.text = e.text[:from] + with + e.text[to:]
	e.at, e.back = from+len(with), 0
}

// longestText is how much can be typed: more than any query may have.
const longestText = 64 << 10

func (e *Editor) insert(s string) {
	if len(e.text)+len(s) <= longestText {
		e.replace(e.at, e.at, s)
	}
}

// paste inserts everything up to the end of what is pasted; no key in it means
// anything.
func (e *Editor) paste() error {
	var b strings.Builder
	for {
		k, err := readKey(e.In)
		if err != nil {
			return err
		}
		switch {
		case k == keyPasted:
			e.insert(strings.TrimRight(editable(b.String()), "\n"))
			return nil
		case k <= unicode.MaxRune && b.Len() < longestText:
			b.WriteRune(rune(k))
		}
	}
}

// editable returns a text without what can't be edited: tabs become spaces, and
// of the control characters only line breaks stay.
func editable(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\t':
			return ' '
		case unicode.IsControl(r), r == utf8.RuneError:
			return -1
		}
		return r
	}, s)
}

// before returns where the character before the cursor begins.
func (e *Editor) before() int {
	start := e.lineStart()
	if start == e.at {
		return max(0, e.at-1) // a line break
	}
	at, state := start, -1
	for {
		cluster, _, _, next := uniseg.FirstGraphemeClusterInString(e.text[at:], state)
		if at+len(cluster) >= e.at {
			return at
		}
		at, state = at+len(cluster), next
	}
}

// after returns where the character at the cursor ends.
func (e *Editor) after() int {
	cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(e.text[e.at:], -1)
	return e.at + len(cluster)
}

func (e *Editor) lineStart() int { return strings.LastIndexByte(e.text[:e.at], '\n') + 1 }

// toLine moves to the line of an offset, and to the column that the cursor has
// where that line is long enough.
func (e *Editor) toLine(offset int) {
	column := term.Columns(term.Clean(e.text[e.lineStart():e.at]))
	e.at = offset
	start := e.lineStart()
	head, _ := term.CutColumns(e.text[start:lineEnd(e.text, start)], column)
	e.at = start + len(head)
}

func isWordRune(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// wordStart returns where the word before the cursor begins, that of the given
// characters.
func (e *Editor) wordStart(of func(rune) bool) int {
	head := strings.TrimRightFunc(e.text[:e.at], func(r rune) bool { return !of(r) })
	return len(strings.TrimRightFunc(head, of))
}

func (e *Editor) wordEnd() int {
	rest := strings.TrimLeftFunc(e.text[e.at:], func(r rune) bool { return !isWordRune(r) })
	return len(e.text) - len(strings.TrimLeftFunc(rest, isWordRune))
}

// recall shows the entry of the history that lies back so far, 0 for what was
// typed.
func (e *Editor) recall(back int) {
	if back < 0 || back > e.History.len() {
		return
	}
	if e.back == 0 {
		e.typed = e.text
	}
	e.back, e.text = back, e.typed
	if back > 0 {
		e.text = e.History.back(back)
	}
	e.at = len(e.text)
}

// lineEnd returns where the line of an offset ends.
func lineEnd(text string, at int) int {
	n := strings.IndexByte(text[at:], '\n')
	if n < 0 {
		return len(text)
	}
	return at + n
}

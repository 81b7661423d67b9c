package lsp

// This file and complete_*.go answer textDocument/completion: what may be meant by the text that is being typed, in
// the open document and not in its file.
//
// What is typed decides which methods of the daemon are asked; they rank, and their order is kept by sortText. Lists
// are incomplete, so that the editor asks again as more is typed. Each item has one text edit: it begins where the
// typed word begins and ends behind what it replaces, closing brackets included where the editor has written them, so that
// the cursor stands behind them. It is an escaped snippet for an editor that knows such: several editors cut a plain text
// at its first blank.
//
// Cost: the line of the cursor, one or two calls of the daemon, and the parse of the document where headings of it are
// asked for. Errors are those of the daemon.

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/ctxd/ctxd/entities/fault"
)

// CompletionFeature returns completion.
func CompletionFeature() Feature {
	return Feature{
		Requests: []Request{
			NewRequest("textDocument/completion", complete),
			NewRequest("completionItem/resolve", resolve),
		},
		Announce: func(_ *Session, can *ServerCapabilities) {
			can.CompletionProvider = &CompletionOptions{
				TriggerCharacters: []string{"[", "(", "/", "#", "^", "@", ":", " ", "{", "."}, ResolveProvider: true,
			}
		},
	}
}

// asked is one completion.
type asked struct {
	*Call
	ctx   context.Context
	doc   *Document
	at    int // the cursor
	limit int
	style insertStyle
	list  *CompletionList
}

// insertStyle is how an editor inserts an item.
type insertStyle struct {
	snippets    bool // it knows snippets
	untilCursor bool // it replaces what stands before the cursor only
	// labels is set for the completion that Neovim brings: it writes the label of an item that is a snippet, and misreads a
	// filterText.
	labels bool
	// lastWord is set for yegappan/lsp, which calls itself Vim: it replaces the word before the cursor with the item, less as
	// many characters as the edit has before that word, whichever these are.
	lastWord bool
}

func (s *Session) insertStyle() insertStyle {
	can := s.Client().TextDocument.Completion.CompletionItem
	neovim := s.Editor().Name == "Neovim" && !can.InsertReplaceSupport
	vim9 := s.Editor().Name == "Vim"
	return insertStyle{snippets: can.SnippetSupport, untilCursor: neovim || vim9, labels: neovim, lastWord: vim9}
}

// complete finds out what is being typed. nil stands for nothing that is completed.
func complete(ctx context.Context, c *Call, p *CompletionParams) (*CompletionList, error) {
	if c.Document == nil {
		return nil, nil
	}
	a := &asked{
		Call: c, ctx: ctx, doc: c.Document, at: c.Document.Offset(p.Position, c.Encoding()), limit: c.Settings().Limit,
		style: c.insertStyle(), list: &CompletionList{IsIncomplete: true, Items: []CompletionItem{}},
	}
	// A blank, a colon and a brace begin something in queries and in frontmatter only, a parenthesis in a link as well.
	typed := ""
	if p.Context != nil && p.Context.TriggerKind == CompletionTriggerCharacter {
		typed = p.Context.TriggerCharacter
	}
	structured := typed == " " || typed == "(" || typed == ":" || typed == "{" || typed == "."
	found, err := a.any(structured)
	if !found || err != nil {
		return nil, err
	}
	return a.list, nil
}

// any completes what stands before the cursor. It reports false where nothing does.
func (a *asked) any(structured bool) (bool, error) {
	if q, ok := a.doc.QueryAt(a.at); ok {
		return true, a.query(q)
	}
	if a.doc.IsTypeFile() {
		return a.typeFile()
	}
	if !a.doc.IsNote() {
		return false, nil
	}
	if _, code := a.doc.FenceAt(a.at); code {
		return false, nil
	}
	front, inFront := a.doc.FrontLineAt(a.at)
	if l, ok := openLink(a.doc, a.at); ok {
		return true, a.link(a.closing(l), front, inFront)
	}
	if l, ok := openDestination(a.doc, a.at); ok {
		return true, a.destination(a.closing(l))
	}
	if inFront {
		return a.front(front)
	}
	if structured {
		return false, nil
	}
	return a.mark()
}

// item is one choice.
type item struct {
	label, insert, detail string
	kind                  int
	from, end             int    // of what it replaces
	typed                 string // what the editor compares it with
	of                    completionRecord
}

// completionRecord is what an item resolves to.
type completionRecord struct {
	Kind string `json:"kind,omitempty"` // note, entity, memory
	ID   string `json:"id,omitempty"`
}

// add adds a choice behind those before it, unless the editor would write something else.
func (a *asked) add(i item) {
	if a.style.lastWord && !startsWithFold(i.insert, strings.TrimRightFunc(a.doc.Text[i.from:a.at], inWord)) {
		return
	}
	out := CompletionItem{
		Label: i.label, Kind: i.kind, Detail: i.detail,
		SortText: fmt.Sprintf("%04d", len(a.list.Items)), FilterText: filter(i.typed, i.label),
		TextEdit: &TextEdit{Range: a.doc.Range(i.from, i.end, a.Encoding()), NewText: i.insert},
	}
	// A backquote in a snippet is Lisp to YASnippet, and nothing escapes it for every editor.
	if a.style.snippets && (a.style.labels || !strings.Contains(i.insert, "`")) {
		out.InsertTextFormat, out.TextEdit.NewText = InsertTextSnippet, snippetEscapes.Replace(i.insert)
	}
	if a.style.labels {
		out.FilterText = "" // with one, Neovim 0.7 to 0.9 begins the item at the last blank
	}
	if a.style.snippets && a.style.labels {
		if !strings.Contains(i.insert, i.label) {
			out.Detail = strings.TrimSpace(i.label + " " + i.detail)
		}
		out.Label = i.insert
	}
	if i.of.ID != "" {
		out.Data, _ = json.Marshal(i.of) // two texts can't fail
	}
	a.list.Items = append(a.list.Items, out)
}

// inWord reports whether Vim counts a character to a word.
func inWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// startsWithFold reports whether a text begins with another, whatever the case of their letters.
func startsWithFold(s, start string) bool {
	return len(s) >= len(start) && strings.EqualFold(s[:len(start)], start)
}

// snippetEscapes makes a snippet of a text.
var snippetEscapes = strings.NewReplacer(`\`, `\\`, `$`, `\$`, `}`, `\}`)

// filter is what an editor compares with what was typed: it begins with it, since the
// daemon has found the item by rules of its own.
func filter(typed, label string) string {
	if typed == "" || strings.HasPrefix(label, typed) {
		return label
	}
	return typed + " " + label
}

// resolve adds what an item is about.
func resolve(ctx context.Context, c *Call, i *CompletionItem) (*CompletionItem, error) {
	var of completionRecord
	var shown string
	err := readData(i.Data, &of)
	if err != nil {
		return nil, err
	}
	switch of.Kind {
	case "note":
		shown, err = previewNote(ctx, c.Session, of.ID, "", "")
	case "entity":
		shown, err = previewEntity(ctx, c.Session, of.ID)
	case "memory":
		shown, err = previewMemory(ctx, c.Session, of.ID)
	}
	if shown != "" {
		i.Documentation = &MarkupContent{Kind: MarkupMarkdown, Value: shown}
	}
	return i, err
}

// readData reads what an item or a link keeps. Without any v stays as it is.
func readData(data json.RawMessage, v any) error {
	if len(data) == 0 {
		return nil
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fault.New(fault.Invalid, "the data of the item is not what the server gave it")
	}
	return nil
}

// matching returns the texts that a prefix may mean, in three ranks: those that begin
// with it, those of which a word does, those that contain it; each in the given order.
func matching(list []string, prefix string) (out []int) {
	low := strings.ToLower(strings.TrimSpace(prefix))
	ranks := [3][]int{}
	for i, s := range list {
		switch s = strings.ToLower(s); {
		case strings.HasPrefix(s, low):
			ranks[0] = append(ranks[0], i)
		case strings.Contains(s, " "+low):
			ranks[1] = append(ranks[1], i)
		case strings.Contains(s, low):
			ranks[2] = append(ranks[2], i)
		}
	}
	return append(append(ranks[0], ranks[1]...), ranks[2]...)
}

package lsp

// This file answers what an editor asks about the structure of an open document: its symbols, what can be folded, and
// the ranges around a place that a selection grows to.
//
// It looks at the document alone and asks the daemon nothing: all is linear in the length of the text, and nothing
// fails.

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"
)

// OutlineFeature returns what is asked about structure.
func OutlineFeature() Feature {
	return Feature{
		Requests: []Request{
			NewRequest("textDocument/documentSymbol", documentSymbols),
			NewRequest("textDocument/foldingRange", folds),
			NewRequest("textDocument/selectionRange", selections),
		},
		Announce: func(_ *Session, can *ServerCapabilities) {
			can.DocumentSymbolProvider, can.FoldingRangeProvider, can.SelectionRangeProvider = true, true, true
		},
	}
}

// documentSymbols are the headings, each with those below it, and the keys of the frontmatter; as a
// flat list for an editor that reads no tree.
func documentSymbols(_ context.Context, c *Call, p *TextDocumentParams) (any, error) {
	d := c.Read(p.TextDocument.URI)
	if d == nil || !d.IsNote() {
		return []DocumentSymbol{}, nil
	}
	e := c.Encoding()
	list := []DocumentSymbol{}
	if front := d.Frontmatter(); front.Found && front.End > front.Start {
		s := DocumentSymbol{Name: "frontmatter", Kind: SymbolNamespace, Range: d.Range(front.Start, front.End, e)}
		s.SelectionRange = d.Range(front.Start, front.Start, e)
		for _, k := range d.FrontKeys() {
			start, end := d.LineSpan(k.Line)
			if k.Key != "" {
				s.Children = append(s.Children, DocumentSymbol{
					Name: k.Key, Detail: k.Value, Kind: SymbolProperty, Range: d.Range(start, end, e), SelectionRange: d.Range(start, end, e),
				})
			}
		}
		list = append(list, s)
	}
	tree, _ := below(d, 0, 0, e)
	list = append(list, tree...)
	if c.Client().TextDocument.DocumentSymbol.HierarchicalDocumentSymbolSupport {
		return list, nil
	}
	return flat([]SymbolInformation{}, list, d.URI, ""), nil
}

// below returns the headings from number i on that are deeper than a level, as a tree, and
// the number of the first that is not.
func below(d *Document, i, level int, e Encoding) (list []DocumentSymbol, next int) {
	all := d.Headings()
	for i < len(all) && all[i].Level > level {
		h := all[i]
		s := DocumentSymbol{
			Name: h.Text, Kind: SymbolString, Detail: strings.Repeat("#", h.Level),
			Range: d.Range(h.Start, sectionEnd(d, i), e), SelectionRange: d.Range(h.Start, h.End, e),
		}
		if strings.TrimSpace(s.Name) == "" {
			s.Name = s.Detail // a name may not be empty
		}
		s.Children, i = below(d, i+1, h.Level, e)
		list = append(list, s)
	}
	return list, i
}

// sectionEnd returns where the section of a heading ends: at the next one of its level or above.
func sectionEnd(d *Document, i int) int {
	list := d.Headings()
	for _, next := range list[i+1:] {
		if next.Level <= list[i].Level {
			return next.Start
		}
	}
	return len(d.Text)
}

func flat(to []SymbolInformation, list []DocumentSymbol, uri, container string) []SymbolInformation {
	for _, s := range list {
		to = append(to, SymbolInformation{Name: s.Name, Kind: s.Kind, Location: Location{URI: uri, Range: s.Range}, ContainerName: container})
		to = flat(to, s.Children, uri, s.Name)
	}
	return to
}

// folds are the frontmatter, the sections and the blocks of code.
func folds(_ context.Context, c *Call, p *TextDocumentParams) ([]FoldingRange, error) {
	list := []FoldingRange{}
	d := c.Read(p.TextDocument.URI)
	if d == nil || !d.IsNote() {
		return list, nil
	}
	add := func(first, last int, kind string) {
		if last > first {
			list = append(list, FoldingRange{StartLine: uint32(first), EndLine: uint32(last), Kind: kind})
		}
	}
	if front := d.Frontmatter(); front.Found {
		add(0, d.LineAt(max(front.Start, front.End-1))+1, FoldRegion)
	}
	for i, h := range d.Headings() {
		last := d.LineAt(sectionEnd(d, i))
		if end := sectionEnd(d, i); end < len(d.Text) || strings.HasSuffix(d.Text, "\n") {
			last--
		}
		for last > h.Line-1 && strings.TrimSpace(d.Line(last)) == "" {
			last-- // blank lines below a section stay
		}
		add(h.Line-1, last, "")
	}
	for _, f := range d.Fences() {
		add(f.OpenLine, f.CloseLine, FoldRegion)
	}
	if most := c.Client().TextDocument.FoldingRange.RangeLimit; most != nil && uint64(len(list)) > uint64(*most) {
		list = list[:*most]
	}
	return list, nil
}

// selections are, for each place, the word, the inside of the link, the link, the line, the
// paragraph, the sections and the document.
func selections(_ context.Context, c *Call, p *SelectionRangeParams) ([]SelectionRange, error) {
	d := c.Read(p.TextDocument.URI)
	if d == nil {
		return nil, nil
	}
	list := make([]SelectionRange, len(p.Positions))
	for i, at := range p.Positions {
		list[i] = around(d, d.Offset(at, c.Encoding()), c.Encoding())
	}
	return list, nil
}

// around builds the ranges around an offset, each inside the next.
func around(d *Document, at int, e Encoding) SelectionRange {
	spans := [][2]int{word(d.Text, at)}
	if l, ok := d.LinkAt(at); ok {
		if !l.Markdown {
			spans = append(spans, [2]int{l.Start + strings.Index(l.Raw, "[[") + 2, l.End - 2})
		}
		spans = append(spans, [2]int{l.Start, l.End})
	}
	line := d.LineAt(at)
	start, end := d.LineSpan(line)
	spans = append(spans, [2]int{start, end})
	first, last := line, line
	for strings.TrimSpace(d.Line(line)) != "" && first > 0 && strings.TrimSpace(d.Line(first-1)) != "" {
		first--
	}
	for strings.TrimSpace(d.Line(line)) != "" && last+1 < d.Lines() && strings.TrimSpace(d.Line(last+1)) != "" {
		last++
	}
	start, _ = d.LineSpan(first)
	_, end = d.LineSpan(last)
	spans = append(spans, [2]int{start, end})
	for i := len(d.Headings()) - 1; i >= 0; i-- {
		if h := d.Headings()[i]; h.Start <= at && at < max(h.End+1, sectionEnd(d, i)) {
			spans = append(spans, [2]int{h.Start, sectionEnd(d, i)})
		}
	}
	spans = append(spans, [2]int{0, len(d.Text)})
	var outer *SelectionRange
	limit := [2]int{0, len(d.Text)}
	for i := len(spans) - 1; i >= 0; i-- {
		s := spans[i]
		if outer != nil && (s[0] < limit[0] || s[1] > limit[1] || s == limit) || s[0] > at || s[1] < at {
			continue
		}
		outer, limit = &SelectionRange{Range: d.Range(s[0], s[1], e), Parent: outer}, s
	}
	return *outer
}

// word returns the word at an offset.
func word(s string, at int) [2]int {
	start, end := at, at
	for start > 0 {
		r, n := utf8.DecodeLastRuneInString(s[:start])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' {
			break
		}
		start -= n
	}
	for end < len(s) {
		r, n := utf8.DecodeRuneInString(s[end:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' {
			break
		}
		end += n
	}
	return [2]int{start, end}
}

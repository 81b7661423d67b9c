package lsp

import "encoding/json"

// What began a completion.
const (
	CompletionTriggerInvoked    = 1
	CompletionTriggerCharacter  = 2
	CompletionTriggerIncomplete = 3
)

// CompletionParams ask what may be meant.
type CompletionParams struct {
	TextDocumentPositionParams
	Context *struct {
		TriggerKind      int    `json:"triggerKind"`
		TriggerCharacter string `json:"triggerCharacter,omitempty"`
	} `json:"context,omitempty"`
}

// CompletionList are the items.
type CompletionList struct {
	IsIncomplete bool             `json:"isIncomplete"`
	Items        []CompletionItem `json:"items"`
}

// The kinds of items.
const (
	CompletionKindText       = 1
	CompletionKindFunction   = 3
	CompletionKindField      = 5
	CompletionKindVariable   = 6
	CompletionKindClass      = 7
	CompletionKindProperty   = 10
	CompletionKindValue      = 12
	CompletionKindEnum       = 13
	CompletionKindKeyword    = 14
	CompletionKindFile       = 17
	CompletionKindReference  = 18
	CompletionKindFolder     = 19
	CompletionKindEnumMember = 20
	CompletionKindOperator   = 24
)

// InsertTextSnippet says that the text of an item is a snippet.
const InsertTextSnippet = 2

// CompletionItem is one item.
type CompletionItem struct {
	Label            string                      `json:"label"`
	LabelDetails     *CompletionItemLabelDetails `json:"labelDetails,omitempty"`
	Kind             int                         `json:"kind,omitempty"`
	Detail           string                      `json:"detail,omitempty"`
	Documentation    *MarkupContent              `json:"documentation,omitempty"`
	SortText         string                      `json:"sortText,omitempty"`
	FilterText       string                      `json:"filterText,omitempty"`
	InsertTextFormat int                         `json:"insertTextFormat,omitempty"`
	TextEdit         *TextEdit                   `json:"textEdit,omitempty"`
	Command          *Command                    `json:"command,omitempty"`
	Data             json.RawMessage             `json:"data,omitempty"`
}

// CompletionItemLabelDetails stand beside a label.
type CompletionItemLabelDetails struct {
	Detail      string `json:"detail,omitempty"`
	Description string `json:"description,omitempty"`
}

// HoverParams ask what stands at a place.
type HoverParams = TextDocumentPositionParams

// Hover says what stands there.
type Hover struct {
	Contents MarkupContent `json:"contents"`
	Range    *Range        `json:"range,omitempty"`
}

// DefinitionParams ask where something leads.
type DefinitionParams = TextDocumentPositionParams

// ReferenceParams ask what leads to something.
type ReferenceParams struct {
	TextDocumentPositionParams
	Context struct {
		IncludeDeclaration bool `json:"includeDeclaration"`
	} `json:"context"`
}

// The kinds of highlights.
const (
	HighlightText  = 1
	HighlightRead  = 2
	HighlightWrite = 3
)

// DocumentHighlight is a place to highlight.
type DocumentHighlight struct {
	Range Range `json:"range"`
	Kind  int   `json:"kind,omitempty"`
}

// DocumentLink is a link of a document.
type DocumentLink struct {
	Range   Range           `json:"range"`
	Target  string          `json:"target,omitempty"`
	Tooltip string          `json:"tooltip,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// The kinds of symbols.
const (
	SymbolFile      = 1
	SymbolNamespace = 3
	SymbolClass     = 5
	SymbolProperty  = 7
	SymbolField     = 8
	SymbolString    = 15
	SymbolObject    = 19
	SymbolKey       = 20
)

// DocumentSymbol is a part of a document.
type DocumentSymbol struct {
	Name           string           `json:"name"`
	Detail         string           `json:"detail,omitempty"`
	Kind           int              `json:"kind"`
	Range          Range            `json:"range"`
	SelectionRange Range            `json:"selectionRange"`
	Children       []DocumentSymbol `json:"children,omitempty"`
}

// SymbolInformation is a symbol and where it is.
type SymbolInformation struct {
	Name          string   `json:"name"`
	Kind          int      `json:"kind"`
	Location      Location `json:"location"`
	ContainerName string   `json:"containerName,omitempty"`
}

// WorkspaceSymbolParams ask for symbols by name.
type WorkspaceSymbolParams struct {
	Query string `json:"query"`
	WorkDoneProgressParams
}

// The kinds of folds.
const (
	FoldComment = "comment"
	FoldRegion  = "region"
)

// FoldingRange is a part that can be folded.
type FoldingRange struct {
	StartLine      uint32  `json:"startLine"`
	StartCharacter *uint32 `json:"startCharacter,omitempty"`
	EndLine        uint32  `json:"endLine"`
	EndCharacter   *uint32 `json:"endCharacter,omitempty"`
	Kind           string  `json:"kind,omitempty"`
}

// SelectionRangeParams ask for growing ranges around places.
type SelectionRangeParams struct {
	TextDocument TextDocumentIdentifier `json:"textDocument"`
	Positions    []Position             `json:"positions"`
}

// SelectionRange is a range and that around it.
type SelectionRange struct {
	Range  Range           `json:"range"`
	Parent *SelectionRange `json:"parent,omitempty"`
}

// InlayHintParams ask for the hints of a range.
type InlayHintParams struct {
	TextDocument TextDocumentIdentifier `json:"textDocument"`
	Range        Range                  `json:"range"`
}

// InlayHint is a text that is shown within a document and is not part of it.
type InlayHint struct {
	Position     Position       `json:"position"`
	Label        string         `json:"label"`
	Kind         int            `json:"kind,omitempty"`
	Tooltip      *MarkupContent `json:"tooltip,omitempty"`
	PaddingLeft  bool           `json:"paddingLeft,omitempty"`
	PaddingRight bool           `json:"paddingRight,omitempty"`
}

// CodeLens is a line above a range, with a command.
type CodeLens struct {
	Range   Range           `json:"range"`
	Command *Command        `json:"command,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"`
}

package lsp

import "encoding/json"

// RenameParams ask for another name of what stands at a place.
type RenameParams struct {
	TextDocumentPositionParams
	NewName string `json:"newName"`
}

// PrepareRenameResult is what can be renamed at a place.
type PrepareRenameResult struct {
	Range       Range  `json:"range"`
	Placeholder string `json:"placeholder"`
}

// WorkspaceEdit changes documents: by Changes, or by DocumentChanges for a client that reads them.
type WorkspaceEdit struct {
	Changes map[DocumentURI][]TextEdit `json:"changes,omitempty"`
	// Each is a TextDocumentEdit, a CreateFile or a RenameFile.
	DocumentChanges []any `json:"documentChanges,omitempty"`
}

// TextDocumentEdit changes one document.
type TextDocumentEdit struct {
	TextDocument OptionalVersionedTextDocumentIdentifier `json:"textDocument"`
	Edits        []TextEdit                              `json:"edits"`
}

// CreateFile makes a file. Kind is create.
type CreateFile struct {
	Kind    string             `json:"kind"`
	URI     DocumentURI        `json:"uri"`
	Options *CreateFileOptions `json:"options,omitempty"`
}

// CreateFileOptions say what happens to a file that is there.
type CreateFileOptions struct {
	Overwrite      bool `json:"overwrite,omitempty"`
	IgnoreIfExists bool `json:"ignoreIfExists,omitempty"`
}

// RenameFile moves a file. Kind is rename.
type RenameFile struct {
	Kind   string      `json:"kind"`
	OldURI DocumentURI `json:"oldUri"`
	NewURI DocumentURI `json:"newUri"`
}

// The kinds of changes of files, as clients name those that they can make.
const (
	ResourceCreate = "create"
	ResourceRename = "rename"
)

// RenameFilesParams say which files and folders the editor is about to rename.
type RenameFilesParams struct {
	Files []struct {
		OldURI DocumentURI `json:"oldUri"`
		NewURI DocumentURI `json:"newUri"`
	} `json:"files"`
}

// ApplyWorkspaceEditParams have the client change documents.
type ApplyWorkspaceEditParams struct {
	Label string        `json:"label,omitempty"`
	Edit  WorkspaceEdit `json:"edit"`
}

// ApplyWorkspaceEditResult says whether it did.
type ApplyWorkspaceEditResult struct {
	Applied       bool   `json:"applied"`
	FailureReason string `json:"failureReason,omitempty"`
}

// The severities of diagnostics.
const (
	SeverityError       = 1
	SeverityWarning     = 2
	SeverityInformation = 3
	SeverityHint        = 4
)

// Diagnostic is something about a range of a document.
type Diagnostic struct {
	Range    Range           `json:"range"`
	Severity int             `json:"severity,omitempty"`
	Code     string          `json:"code,omitempty"`
	Source   string          `json:"source,omitempty"`
	Message  string          `json:"message"`
	Data     json.RawMessage `json:"data,omitempty"`
	// RelatedInformation are other places that have to do with it.
	RelatedInformation []DiagnosticRelatedInformation `json:"relatedInformation,omitempty"`
}

// DiagnosticRelatedInformation is a place that has to do with a diagnostic.
type DiagnosticRelatedInformation struct {
	Location Location `json:"location"`
	Message  string   `json:"message"`
}

// PublishDiagnosticsParams are all diagnostics of a document.
type PublishDiagnosticsParams struct {
	URI         DocumentURI  `json:"uri"`
	Version     *int32       `json:"version,omitempty"`
	Diagnostics []Diagnostic `json:"diagnostics"`
}

// DocumentDiagnosticReport are all diagnostics of a document, for a client that has asked. Kind is full.
type DocumentDiagnosticReport struct {
	Kind  string       `json:"kind"`
	Items []Diagnostic `json:"items"`
}

// CodeActionParams ask what can be done with a range.
type CodeActionParams struct {
	TextDocument TextDocumentIdentifier `json:"textDocument"`
	Range        Range                  `json:"range"`
	Context      struct {
		Diagnostics []Diagnostic `json:"diagnostics"`
		Only        []string     `json:"only,omitempty"`
	} `json:"context"`
}

// The kinds of actions.
const (
	ActionQuickFix        = "quickfix"
	ActionRefactor        = "refactor"
	ActionRefactorExtract = "refactor.extract"
	ActionRefactorRewrite = "refactor.rewrite"
	ActionSource          = "source"
)

// CodeAction is something that can be done.
type CodeAction struct {
	Title       string         `json:"title"`
	Kind        string         `json:"kind,omitempty"`
	Diagnostics []Diagnostic   `json:"diagnostics,omitempty"`
	IsPreferred bool           `json:"isPreferred,omitempty"`
	Edit        *WorkspaceEdit `json:"edit,omitempty"`
	Command     *Command       `json:"command,omitempty"`
}

// ExecuteCommandParams run a command.
type ExecuteCommandParams struct {
	Command   string            `json:"command"`
	Arguments []json.RawMessage `json:"arguments,omitempty"`
	WorkDoneProgressParams
}

package lsp

// This file and wire_*.go declare the messages of the Language Server Protocol 3.17 that the language server reads and
// writes: params, results, capabilities, codes.
//
// A type has the name and the fields of the specification; fields that nobody here reads or writes are left out, so
// that a message of any client decodes. A field that may be absent is a pointer where its zero value would say
// something, and omitempty elsewhere. Where the specification allows several shapes, a result has the one that tells
// most (MarkupContent, LocationLink and the like are used only where a client has said that it reads them), and a
// param is json.RawMessage or a type that decodes all. Positions are in lines and characters from 0, in the unit of
// the negotiated encoding: text_position.go converts them. Lists that a client must get are never null: use make or a
// literal.
//
// The types are ours because no module that is kept up declares those of 3.17: the Go team's are internal to gopls,
// and the modules that can be had stop at 3.16 and bring a logger and a JSON-RPC library of their own with them. The
// protocol library of VS Code, which drives the server in cmd/ctxd/lsp_conformance_test.go, holds them to the
// specification.
//
// They are values only, without state: any goroutine may use them.

import "encoding/json"

// InitializeParams begin a session.
type InitializeParams struct {
	ProcessID             *int64             `json:"processId"`
	ClientInfo            *ProgramInfo       `json:"clientInfo,omitempty"`
	Locale                string             `json:"locale,omitempty"`
	RootPath              *string            `json:"rootPath,omitempty"`
	RootURI               *DocumentURI       `json:"rootUri"`
	InitializationOptions json.RawMessage    `json:"initializationOptions,omitempty"`
	Capabilities          ClientCapabilities `json:"capabilities"`
	Trace                 string             `json:"trace,omitempty"`
	WorkspaceFolders      []WorkspaceFolder  `json:"workspaceFolders,omitempty"`
	WorkDoneProgressParams
}

// ProgramInfo names a program.
type ProgramInfo struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

// WorkspaceFolder is a folder that is open in the editor.
type WorkspaceFolder struct {
	URI  DocumentURI `json:"uri"`
	Name string      `json:"name"`
}

// DynamicCapability says whether a client takes registrations.
type DynamicCapability struct {
	DynamicRegistration bool `json:"dynamicRegistration,omitempty"`
}

// ClientCapabilities are what a client can do, as far as it is looked at here.
type ClientCapabilities struct {
	Workspace struct {
		ApplyEdit     bool `json:"applyEdit,omitempty"`
		WorkspaceEdit struct {
			DocumentChanges         bool     `json:"documentChanges,omitempty"`
			ResourceOperations      []string `json:"resourceOperations,omitempty"`
			FailureHandling         string   `json:"failureHandling,omitempty"`
			ChangeAnnotationSupport *struct {
				GroupsOnLabel bool `json:"groupsOnLabel,omitempty"`
			} `json:"changeAnnotationSupport,omitempty"`
		} `json:"workspaceEdit"`
		DidChangeConfiguration DynamicCapability `json:"didChangeConfiguration"`
		DidChangeWatchedFiles  DynamicCapability `json:"didChangeWatchedFiles"`
		WorkspaceFolders       bool              `json:"workspaceFolders,omitempty"`
		Configuration          bool              `json:"configuration,omitempty"`
		FileOperations         struct {
			WillRename bool `json:"willRename,omitempty"`
		} `json:"fileOperations"`
		CodeLens    RefreshCapability `json:"codeLens"`
		InlayHint   RefreshCapability `json:"inlayHint"`
		Diagnostics RefreshCapability `json:"diagnostics"`
	} `json:"workspace"`
	TextDocument struct {
		Completion struct {
			CompletionItem struct {
				SnippetSupport          bool     `json:"snippetSupport,omitempty"`
				DocumentationFormat     []string `json:"documentationFormat,omitempty"`
				InsertReplaceSupport    bool     `json:"insertReplaceSupport,omitempty"`
				LabelDetailsSupport     bool     `json:"labelDetailsSupport,omitempty"`
				CommitCharactersSupport bool     `json:"commitCharactersSupport,omitempty"`
			} `json:"completionItem"`
			CompletionList struct {
				ItemDefaults []string `json:"itemDefaults,omitempty"`
			} `json:"completionList"`
		} `json:"completion"`
		Hover struct {
			ContentFormat []string `json:"contentFormat,omitempty"`
		} `json:"hover"`
		Definition struct {
			LinkSupport bool `json:"linkSupport,omitempty"`
		} `json:"definition"`
		DocumentSymbol struct {
			HierarchicalDocumentSymbolSupport bool `json:"hierarchicalDocumentSymbolSupport,omitempty"`
		} `json:"documentSymbol"`
		DocumentLink struct {
			TooltipSupport bool `json:"tooltipSupport,omitempty"`
		} `json:"documentLink"`
		FoldingRange struct {
			RangeLimit      *uint32 `json:"rangeLimit,omitempty"`
			LineFoldingOnly bool    `json:"lineFoldingOnly,omitempty"`
		} `json:"foldingRange"`
		CodeAction struct {
			CodeActionLiteralSupport *struct{} `json:"codeActionLiteralSupport,omitempty"`
			IsPreferredSupport       bool      `json:"isPreferredSupport,omitempty"`
			DataSupport              bool      `json:"dataSupport,omitempty"`
			ResolveSupport           *struct {
				Properties []string `json:"properties"`
			} `json:"resolveSupport,omitempty"`
		} `json:"codeAction"`
		Rename struct {
			PrepareSupport bool `json:"prepareSupport,omitempty"`
		} `json:"rename"`
		PublishDiagnostics struct {
			RelatedInformation     bool `json:"relatedInformation,omitempty"`
			VersionSupport         bool `json:"versionSupport,omitempty"`
			CodeDescriptionSupport bool `json:"codeDescriptionSupport,omitempty"`
			DataSupport            bool `json:"dataSupport,omitempty"`
		} `json:"publishDiagnostics"`
		Diagnostic *struct {
			DynamicCapability
			RelatedDocumentSupport bool `json:"relatedDocumentSupport,omitempty"`
		} `json:"diagnostic,omitempty"`
	} `json:"textDocument"`
	Window struct {
		WorkDoneProgress bool      `json:"workDoneProgress,omitempty"`
		ShowMessage      *struct{} `json:"showMessage,omitempty"`
		ShowDocument     struct {
			Support bool `json:"support,omitempty"`
		} `json:"showDocument"`
	} `json:"window"`
	General struct {
		PositionEncodings []string `json:"positionEncodings,omitempty"`
	} `json:"general"`
}

// RefreshCapability says whether a client asks again when the server says that it should.
type RefreshCapability struct {
	RefreshSupport bool `json:"refreshSupport,omitempty"`
}

// InitializeResult says what the server can do.
type InitializeResult struct {
	Capabilities ServerCapabilities `json:"capabilities"`
	ServerInfo   ProgramInfo        `json:"serverInfo"`
}

// The kinds of synchronization of open documents.
const (
	SyncFull        = 1
	SyncIncremental = 2
)

// ServerCapabilities are what the server can do: each feature sets its own.
type ServerCapabilities struct {
	PositionEncoding          string                       `json:"positionEncoding,omitempty"`
	TextDocumentSync          TextDocumentSyncOptions      `json:"textDocumentSync"`
	CompletionProvider        *CompletionOptions           `json:"completionProvider,omitempty"`
	HoverProvider             bool                         `json:"hoverProvider,omitempty"`
	DefinitionProvider        bool                         `json:"definitionProvider,omitempty"`
	ReferencesProvider        bool                         `json:"referencesProvider,omitempty"`
	DocumentHighlightProvider bool                         `json:"documentHighlightProvider,omitempty"`
	DocumentSymbolProvider    bool                         `json:"documentSymbolProvider,omitempty"`
	CodeActionProvider        *CodeActionOptions           `json:"codeActionProvider,omitempty"`
	CodeLensProvider          *ResolveOptions              `json:"codeLensProvider,omitempty"`
	DocumentLinkProvider      *ResolveOptions              `json:"documentLinkProvider,omitempty"`
	WorkspaceSymbolProvider   bool                         `json:"workspaceSymbolProvider,omitempty"`
	RenameProvider            *RenameOptions               `json:"renameProvider,omitempty"`
	FoldingRangeProvider      bool                         `json:"foldingRangeProvider,omitempty"`
	SelectionRangeProvider    bool                         `json:"selectionRangeProvider,omitempty"`
	ExecuteCommandProvider    *ExecuteCommandOptions       `json:"executeCommandProvider,omitempty"`
	InlayHintProvider         bool                         `json:"inlayHintProvider,omitempty"`
	DiagnosticProvider        *DiagnosticOptions           `json:"diagnosticProvider,omitempty"`
	Workspace                 *ServerWorkspaceCapabilities `json:"workspace,omitempty"`
}

// TextDocumentSyncOptions say how open documents are kept.
type TextDocumentSyncOptions struct {
	OpenClose bool         `json:"openClose"`
	Change    int          `json:"change"`
	Save      *SaveOptions `json:"save,omitempty"`
}

// SaveOptions say whether a saved text is sent.
type SaveOptions struct {
	IncludeText bool `json:"includeText,omitempty"`
}

// CompletionOptions say what begins a completion.
type CompletionOptions struct {
	TriggerCharacters []string `json:"triggerCharacters,omitempty"`
	ResolveProvider   bool     `json:"resolveProvider,omitempty"`
}

// ResolveOptions say whether items can be resolved.
type ResolveOptions struct {
	ResolveProvider bool `json:"resolveProvider,omitempty"`
}

// CodeActionOptions say which actions there are.
type CodeActionOptions struct {
	CodeActionKinds []string `json:"codeActionKinds,omitempty"`
	ResolveProvider bool     `json:"resolveProvider,omitempty"`
}

// RenameOptions say whether a rename can be prepared.
type RenameOptions struct {
	PrepareProvider bool `json:"prepareProvider,omitempty"`
}

// ExecuteCommandOptions are the commands.
type ExecuteCommandOptions struct {
	Commands []string `json:"commands"`
}

// DiagnosticOptions say how diagnostics are pulled.
type DiagnosticOptions struct {
	Identifier            string `json:"identifier,omitempty"`
	InterFileDependencies bool   `json:"interFileDependencies"`
	WorkspaceDiagnostics  bool   `json:"workspaceDiagnostics"`
}

// ServerWorkspaceCapabilities are what the server can do with a workspace.
type ServerWorkspaceCapabilities struct {
	WorkspaceFolders *WorkspaceFoldersServerCapabilities `json:"workspaceFolders,omitempty"`
	FileOperations   *FileOperationOptions               `json:"fileOperations,omitempty"`
}

// WorkspaceFoldersServerCapabilities say whether the server follows which folders are open.
type WorkspaceFoldersServerCapabilities struct {
	Supported           bool `json:"supported"`
	ChangeNotifications bool `json:"changeNotifications"`
}

// FileOperationOptions say of which files the server wants to know that they are renamed.
type FileOperationOptions struct {
	WillRename *FileOperationRegistration `json:"willRename,omitempty"`
}

// FileOperationRegistration are filters of files.
type FileOperationRegistration struct {
	Filters []FileOperationFilter `json:"filters"`
}

// FileOperationFilter is a pattern of files.
type FileOperationFilter struct {
	Scheme  string `json:"scheme,omitempty"`
	Pattern struct {
		Glob    string `json:"glob"`
		Matches string `json:"matches,omitempty"`
	} `json:"pattern"`
}

// InitializedParams are empty.
type InitializedParams struct{}

// CancelParams withdraw a request.
type CancelParams struct {
	ID json.RawMessage `json:"id"`
}

// Registration asks a client for something later than initialize.
type Registration struct {
	ID              string `json:"id"`
	Method          string `json:"method"`
	RegisterOptions any    `json:"registerOptions,omitempty"`
}

// RegistrationParams are several of them.
type RegistrationParams struct {
	Registrations []Registration `json:"registrations"`
}

// ConfigurationParams ask for settings.
type ConfigurationParams struct {
	Items []ConfigurationItem `json:"items"`
}

// ConfigurationItem names settings.
type ConfigurationItem struct {
	ScopeURI string `json:"scopeUri,omitempty"`
	Section  string `json:"section,omitempty"`
}

// DidChangeConfigurationParams are new settings, or null where they are to be asked for.
type DidChangeConfigurationParams struct {
	Settings json.RawMessage `json:"settings"`
}

// DidChangeWorkspaceFoldersParams say which folders were opened and closed.
type DidChangeWorkspaceFoldersParams struct {
	Event struct {
		Added   []WorkspaceFolder `json:"added"`
		Removed []WorkspaceFolder `json:"removed"`
	} `json:"event"`
}

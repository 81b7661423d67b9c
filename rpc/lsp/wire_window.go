package lsp

// The types of messages.
const (
	MessageError   = 1
	MessageWarning = 2
	MessageInfo    = 3
	MessageLog     = 4
)

// ShowMessageParams are those of window/showMessage and window/logMessage.
type ShowMessageParams struct {
	Type    int    `json:"type"`
	Message string `json:"message"`
}

// ShowMessageRequestParams ask a question.
type ShowMessageRequestParams struct {
	Type    int                 `json:"type"`
	Message string              `json:"message"`
	Actions []MessageActionItem `json:"actions,omitempty"`
}

// MessageActionItem is an answer.
type MessageActionItem struct {
	Title string `json:"title"`
}

// ShowDocumentParams have the client show a document or a page.
type ShowDocumentParams struct {
	URI       string `json:"uri"`
	External  bool   `json:"external,omitempty"`
	TakeFocus bool   `json:"takeFocus,omitempty"`
	Selection *Range `json:"selection,omitempty"`
}

// WorkDoneProgressCreateParams announce a progress.
type WorkDoneProgressCreateParams struct {
	Token ProgressToken `json:"token"`
}

// ProgressParams are those of $/progress.
type ProgressParams struct {
	Token ProgressToken `json:"token"`
	Value any           `json:"value"`
}

// WorkDoneProgress is the value of a progress. Kind is begin, report or end.
type WorkDoneProgress struct {
	Kind        string  `json:"kind"`
	Title       string  `json:"title,omitempty"`
	Message     string  `json:"message,omitempty"`
	Cancellable bool    `json:"cancellable,omitempty"`
	Percentage  *uint32 `json:"percentage,omitempty"`
}

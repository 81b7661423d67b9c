package entities

// Severities of a Diagnostic.
const (
	SeverityError   = "error"
	SeverityWarning = "warning"
)

// Diagnostic is one finding about a type or a query text.
type Diagnostic struct {
	Field    string `json:"field,omitempty"`  // the field of the type that it is about
	Line     int    `json:"line"`             // from 1
	Column   int    `json:"column"`           // UTF-16 code units, from 1
	Message  string `json:"message"`          // what is wrong
	Hint     string `json:"hint,omitempty"`   // what to do
	Severity string `json:"severity"`         // error or warning
	Source   string `json:"source,omitempty"` // the source line, a line break, and a caret under the column
}

package record

// Severities of a Diagnostic.
const (
	SeverityError   = "error"
	SeverityWarning = "warning"
)

// Diagnostic is one finding about a type or a query text.
type Diagnostic struct {
	Field    string `json:"field,omitempty" jsonschema:"the field of the type that it is about"`
	Line     int    `json:"line" jsonschema:"line in the text, from 1"`
	Column   int    `json:"column" jsonschema:"column in that line, UTF-16 code units, from 1"`
	Message  string `json:"message" jsonschema:"what is wrong"`
	Hint     string `json:"hint,omitempty" jsonschema:"what to do about it"`
	Severity string `json:"severity" jsonschema:"error or warning"`
	Source   string `json:"source,omitempty" jsonschema:"the line of the text, and below it a caret under the column"`
}

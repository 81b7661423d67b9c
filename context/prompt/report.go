package prompt

// Reason says why an item was left out.
type Reason string

// The reasons.
const (
	OverBudget Reason = "budget"    // no room
	OverLimit  Reason = "limit"     // more items than the section takes
	Archived   Reason = "archived"  // an archived note
	Deleted    Reason = "deleted"   // an entity in the trash
	Private    Reason = "private"   // withheld from a remote audience
	Duplicate  Reason = "duplicate" // given twice
	Unknown    Reason = "unknown"   // no such record
	Ambiguous  Reason = "ambiguous" // several records, see the candidates
)

// Candidate is a record that an ambiguous mention may mean.
type Candidate struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Type  string `json:"type,omitempty"`
	Path  string `json:"path,omitempty"`
}

// Edge is a reference that leads to an item: the entity it stands in and the
// name of the field.
type Edge struct {
	From  string `json:"from"`
	Field string `json:"field"`
}

// Item is one thing that went into the prompt: Start and End are its range in
// the prompt in UTF-16 code units, half open, which holds Chars characters. The
// items of a section follow each other without a gap, behind its heading.
type Item struct {
	Kind   string `json:"kind"` // note, entity, event, action
	ID     string `json:"id,omitempty"`
	Title  string `json:"title"`
	Start  int    `json:"start"`
	End    int    `json:"end"`
	Chars  int    `json:"chars"`
	Cut    bool   `json:"cut"` // only a part of it went in
	Reason string `json:"reason"`
	Depth  int    `json:"depth"`         // of an entity: edges from a mention
	Via    []Edge `json:"via,omitempty"` // of an entity: what leads to it, when asked to explain
}

// Dropped is one thing that was mentioned or reached and did not go in.
type Dropped struct {
	Kind       string      `json:"kind"`
	ID         string      `json:"id,omitempty"`
	Title      string      `json:"title,omitempty"` // not of a private record
	Reason     Reason      `json:"reason"`
	Candidates []Candidate `json:"candidates,omitempty"`
}

// QueryError is a computed field that failed.
type QueryError struct {
	Entity  string `json:"entity"`
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Stage is one step of the assembly.
type Stage struct {
	Name    string  `json:"name"`
	Ms      float64 `json:"ms"`
	Skipped bool    `json:"skipped,omitempty"`
	Why     string  `json:"why,omitempty"`
}

// SectionReport says what a section holds and what room it had.
type SectionReport struct {
	Name   string `json:"name"`
	Chars  int    `json:"chars"`
	Budget int    `json:"budget"`
	Items  []Item `json:"items"`
}

// Report explains a prompt. Everything mentioned or reached is in it exactly
// once, in the items of a section or in Dropped; a record that was given twice
// has an entry of reason duplicate besides.
type Report struct {
	Chars       int             `json:"chars"`
	Budget      int             `json:"budget"`
	Sections    []SectionReport `json:"sections"`
	Dropped     []Dropped       `json:"dropped"`
	QueryErrors []QueryError    `json:"queryErrors"`
	Stages      []Stage         `json:"stages"`
	Hash        string          `json:"hash"` // SHA-256 of the prompt, hexadecimal
}

// Section is where a section stands in the prompt: UTF-16 code units, half
// open.
type Section struct {
	Name  string `json:"name"`
	Start int    `json:"start"`
	End   int    `json:"end"`
}

// Result is a finished prompt.
type Result struct {
	System   string    `json:"system"`
	Sections []Section `json:"sections"`
	Report   Report    `json:"report"`
}

// Item kinds.
const (
	KindNote   = "note"
	KindEntity = "entity"
	KindEvent  = "event"
	KindAction = "action"
)

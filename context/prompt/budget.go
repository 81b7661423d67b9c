package prompt

// Budgets bound the prompt and its sections, in characters.
type Budgets struct {
	Total    int `json:"total"`
	Pinned   int `json:"pinned"`
	Entities int `json:"entities"`
	Linked   int `json:"linked"`
	Search   int `json:"search"`
	Client   int `json:"client"`
}

// DefaultBudgets are those of a caller that sets none.
var DefaultBudgets = Budgets{Total: 64_000, Pinned: 20_500, Entities: 12_000, Linked: 6_500, Search: 12_500, Client: 8_000}

// Limits of items, whatever the budget is.
const (
	MaxPinned      = 5     // notes
	PinnedChars    = 4_000 // of the text of each
	MaxLinked      = 3
	LinkedChars    = 2_000
	MaxFound       = 8
	FoundChars     = 1_500
	MaxEntities    = 40    // mentioned ones are shown even when they are more
	FieldChars     = 1_000 // of one value
	ComputedRows   = 10    // shown of a computed field
	MaxClientItems = 50    // of each kind
	MinNoteChars   = 200   // a note is not cut to less than this

	nameChars = FieldChars * 3 / 4 // of a name in a reference
)

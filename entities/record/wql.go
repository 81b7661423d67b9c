package record

// WQLRow is one entity of a result, or one task of a note.
type WQLRow struct {
	ID   string `json:"id" jsonschema:"id of the entity; of a task that of its note"`
	Name string `json:"name" jsonschema:"its name; of a task its text without marks"`
	Type string `json:"type" jsonschema:"its type"`
	Task *Task  `json:"task,omitempty" jsonschema:"of a task: what its line says"`
	Link string `json:"link,omitempty" jsonschema:"of a task: what leads to its note, where other notes have its title, too"`
}

// WQLPlan says how a query was run, and what its value as a computed field would
// depend on.
type WQLPlan struct {
	Access        string        `json:"access" jsonschema:"how the rows were found: index (by value), range (between two values), scan (every entity), order (in the order asked for, up to the last row returned), or mixed when it differs between types"`
	Types         []WQLTypePlan `json:"types" jsonschema:"the types of FROM and how the rows of each were found"`
	Program       string        `json:"program,omitempty" jsonschema:"what WHERE became; the numbers are slots"`
	Slots         []string      `json:"slots" jsonschema:"the operands by number"`
	RowsExamined  int           `json:"rowsExamined" jsonschema:"entities that were looked at"`
	RowsMatched   int           `json:"rowsMatched" jsonschema:"those of them that match the condition"`
	CachedProgram bool          `json:"cachedProgram" jsonschema:"whether the vector of the text was cached"`
	CachedResult  bool          `json:"cachedResult" jsonschema:"whether the entity of this has a computed field with the query whose value is cached; the plan is still that of a run"`
	DependsOn     []string      `json:"dependsOn" jsonschema:"what a value in the cache is kept for: when none of it changes, the value holds"`
	Expires       string        `json:"expires,omitempty" jsonschema:"day: a cached value expires at the end of the day; now: the value is not cached"`
	Micros        float64       `json:"micros" jsonschema:"microseconds from text to result"`
}

// WQLTypePlan is the part of a plan that is about one type.
type WQLTypePlan struct {
	Type         string        `json:"type" jsonschema:"name of the type"`
	Access       string        `json:"access" jsonschema:"index, range, scan or order: how its rows were found"`
	Rows         int           `json:"rows" jsonschema:"live entities of the type"`
	RowsExamined int           `json:"rowsExamined" jsonschema:"those that were looked at"`
	Uses         []WQLIndexUse `json:"uses" jsonschema:"the indexes used: several for conditions joined with OR"`
	Considered   []WQLIndexUse `json:"considered" jsonschema:"conditions that an index could have answered and that were not used"`
	Why          string        `json:"why,omitempty" jsonschema:"why the rows were scanned"`
}

// WQLIndexUse is a condition that an index answers.
type WQLIndexUse struct {
	Condition string `json:"condition" jsonschema:"as in team = {this}"`
	Field     string `json:"field" jsonschema:"the field that the index is on"`
	Kind      string `json:"kind" jsonschema:"of the index: id, reference (by target), equality (by value), ordered (numbers and dates in order) or sorted (all entities in the order of the field)"`
	Rows      int    `json:"rows" jsonschema:"entities that it gives; -1 when the count was not needed"`
	Built     bool   `json:"built" jsonschema:"whether this query built the index"`
}

package record

// WQLRow is one entity of a result.
type WQLRow struct {
	ID   string `json:"id" jsonschema:"id of the entity"`
	Name string `json:"name" jsonschema:"its name"`
	Type string `json:"type" jsonschema:"its type"`
}

// WQLPlan says how a query was run, and what its value as a computed field would
// depend on.
type WQLPlan struct {
	Access        string        `json:"access" jsonschema:"how the rows were found: index (by values), range (by what lies between two values), scan (by a look at all), or mixed when it differs from type to type"`
	Types         []WQLTypePlan `json:"types" jsonschema:"the types of FROM, each with how its rows were found"`
	Program       string        `json:"program,omitempty" jsonschema:"what WHERE became; the numbers are slots"`
	Slots         []string      `json:"slots" jsonschema:"the operands by number"`
	RowsExamined  int           `json:"rowsExamined" jsonschema:"entities that were looked at"`
	RowsMatched   int           `json:"rowsMatched" jsonschema:"those of them that meet the condition"`
	CachedProgram bool          `json:"cachedProgram" jsonschema:"whether the text had been made ready before"`
	CachedResult  bool          `json:"cachedResult" jsonschema:"whether this has a computed field with the query whose value is in the cache; the plan is that of a run all the same"`
	DependsOn     []string      `json:"dependsOn" jsonschema:"what a value in the cache is kept for: when none of it changes, the value holds"`
	Expires       string        `json:"expires,omitempty" jsonschema:"day: a kept value holds until the day ends; now: it is not kept at all"`
	Micros        float64       `json:"micros" jsonschema:"microseconds from text to result"`
}

// WQLTypePlan is the part of a plan that is about one type.
type WQLTypePlan struct {
	Type         string        `json:"type" jsonschema:"name of the type"`
	Access       string        `json:"access" jsonschema:"index, range or scan: how its rows were found"`
	Rows         int           `json:"rows" jsonschema:"live entities of the type"`
	RowsExamined int           `json:"rowsExamined" jsonschema:"those that were looked at"`
	Uses         []WQLIndexUse `json:"uses" jsonschema:"the indexes used: several for conditions joined with OR"`
	Considered   []WQLIndexUse `json:"considered" jsonschema:"conditions that an index answers, and that were not used"`
	Why          string        `json:"why,omitempty" jsonschema:"why the rows were scanned"`
}

// WQLIndexUse is a condition that an index answers.
type WQLIndexUse struct {
	Condition string `json:"condition" jsonschema:"as in team = {this}"`
	Field     string `json:"field" jsonschema:"the field that the index is on"`
	Kind      string `json:"kind" jsonschema:"of the index: id, reference (who refers to whom), equality (who has which value) or ordered (numbers and dates in their order)"`
	Rows      int    `json:"rows" jsonschema:"entities that it gives, -1 when that was not needed"`
	Built     bool   `json:"built" jsonschema:"whether this query built the index"`
}

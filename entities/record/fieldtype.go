package record

import (
	"net/mail"
	"net/url"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/text"
)

// FieldType says what values a field holds.
type FieldType string

// The field types. What there is to know of each stands in its FieldTypeInfo.
const (
	Text          FieldType = "text"
	TextList      FieldType = "text_list"
	Number        FieldType = "number"
	Boolean       FieldType = "boolean"
	Email         FieldType = "email"
	URL           FieldType = "url"
	Date          FieldType = "date"
	Select        FieldType = "select"
	EntityRef     FieldType = "entity_ref"
	EntityRefList FieldType = "entity_ref_list"
	NoteRef       FieldType = "note_ref"
	Computed      FieldType = "computed"
)

// Form is the form of a stored value.
type Form uint8

// The forms of stored values, by their Go types.
const (
	NoValue     Form = iota // never stored
	TextValue               // string
	NumberValue             // float64, finite
	TruthValue              // bool
	ListValue               // []string, never empty
)

// Target is what a reference leads to.
type Target uint8

// The targets of references.
const (
	NoTarget Target = iota // the value is no reference
	ToEntity               // an id of an entity, or a link that has no target yet
	ToNote                 // the same of a note
)

// Order says how values are compared and sorted in queries.
type Order uint8

// The orders of values.
const (
	NoOrder    Order = iota // that of what the query of the field gives
	ByText                  // as texts are
	ByOption                // as texts are, without case
	ByNumber                // as numbers
	ByTruth                 // false before true
	ByDay                   // as days
	ByRecord                // as references: only equal or not
	ByItems                 // as lists, by their items
	OrderCount              // how many orders there are
)

// FieldTypeInfo is all that the rooms need to know of a field type. A new field type
// is a constant and an entry here.
type FieldTypeInfo struct {
	Type  FieldType
	Form  Form      // of its values
	Item  FieldType // of a list: what its items are
	To    Target    // what its values, or their items, lead to
	Order Order     // of its values in queries

	// Inferred says, when it is not 0, that fields of frontmatter get this type when all
	// of their values fit it and fit none with a lower number. What fits is what Check
	// accepts or, where that accepts too much, what Written reports.
	Inferred int
	Written  func(text string) bool

	Suggest []string // what may be compared with in a query, beside the options of a select

	About   string // what it holds, for people: "an e-mail address"
	Example string // a value as it stands in frontmatter, JSON or plain; for Computed, of Field.Query

	// check checks one value that is not blank, of which the form is TextValue or
	// ListValue. nil: any text.
	check func(f Field, s string) (string, error)
}

var fieldTypes = [...]FieldTypeInfo{
	{Type: Text, Form: TextValue, Order: ByText, About: "any text", Example: "Engineer"},
	{Type: TextList, Form: ListValue, Item: Text, Order: ByItems, About: "several texts", Example: `["red", "blue"]`},
	{Type: Number, Form: NumberValue, Order: ByNumber, Inferred: 2, Written: isNumber, About: "a finite number", Example: "12.5"},
	{
		Type: Boolean, Form: TruthValue, Order: ByTruth, Inferred: 1, Written: isTruth,
		Suggest: []string{"true", "false"}, About: "true or false", Example: "true",
	},
	{Type: Email, Form: TextValue, Order: ByText, Inferred: 5, About: "one e-mail address", Example: "ann@example.org", check: checkEmail},
	{Type: URL, Form: TextValue, Order: ByText, Inferred: 6, About: "an absolute URL", Example: "https://example.org", check: checkURL},
	{
		Type: Date, Form: TextValue, Order: ByDay, Inferred: 3,
		Suggest: []string{"today()", "date('"}, About: "a calendar day, YYYY-MM-DD, or a moment", Example: "2026-01-31", check: checkDate,
	},
	{Type: Select, Form: TextValue, Order: ByOption, About: "one of the options of the field", Example: "open", check: checkOption},
	{
		Type: EntityRef, Form: TextValue, To: ToEntity, Order: ByRecord, Inferred: 4, Written: isLink,
		About: "an entity", Example: `"[[Ann Lee]]"`, check: checkRef,
	},
	{
		Type: EntityRefList, Form: ListValue, Item: EntityRef, To: ToEntity, Order: ByItems,
		About: "several entities", Example: `["[[Ann Lee]]", "[[Bob]]"]`, check: checkRef,
	},
	{Type: NoteRef, Form: TextValue, To: ToNote, Order: ByRecord, About: "a note", Example: `"[[Kickoff]]"`, check: checkRef},
	{Type: Computed, About: "what a query gives; it is not stored", Example: "SELECT p FROM Person WHERE p.team = {this}"},
}

// FieldTypes lists every field type, in the order of the documentation.
var FieldTypes = func() []FieldType {
	list := make([]FieldType, len(fieldTypes))
	for i := range fieldTypes {
		list[i] = fieldTypes[i].Type
	}
	return list
}()

// noFieldType stands for a type that there is none of.
var noFieldType FieldTypeInfo

// Info returns what there is to know of a field type; of one that is not known the
// zero FieldTypeInfo. It is shared and must not be changed.
func (t FieldType) Info() *FieldTypeInfo {
	for i := range fieldTypes {
		if fieldTypes[i].Type == t {
			return &fieldTypes[i]
		}
	}
	return &noFieldType
}

// Known reports whether there is such a field type.
func (t FieldType) Known() bool { return t.Info() != &noFieldType }

// IsRef reports whether values of the type refer to other records.
func (t FieldType) IsRef() bool { return t.Info().To != NoTarget }

// IsComputed reports whether values of the type are never stored, but worked out by
// the query of the field.
func (t FieldType) IsComputed() bool { return t == Computed }

// List returns the type of lists of such values; lists of all but references are lists
// of texts.
func (t FieldType) List() FieldType {
	for i := range fieldTypes {
		if fieldTypes[i].Item == t {
			return fieldTypes[i].Type
		}
	}
	return TextList
}

func isTruth(text string) bool { return text == "true" || text == "false" }

func isLink(text string) bool {
	_, ok := LinkTarget(text)
	return ok
}

func checkEmail(f Field, s string) (string, error) {
	s = strings.TrimSpace(s)
	addr, err := mail.ParseAddress(s)
	if err != nil || addr.Address != s {
		return "", f.mistyped("one e-mail address")
	}
	return s, nil
}

func checkURL(f Field, s string) (string, error) {
	s = strings.TrimSpace(s)
	u, err := url.Parse(s)
	if err != nil || u.Scheme == "" || u.Host == "" && u.Opaque == "" {
		return "", f.mistyped("an absolute URL").WithHint("write it with its scheme, as in https://example.org")
	}
	return s, nil
}

func checkDate(f Field, s string) (string, error) {
	s = strings.TrimSpace(s)
	if _, ok := Moment(s, time.UTC); !ok {
		return "", f.mistyped("a date").WithHint("write it as YYYY-MM-DD")
	}
	return s, nil
}

// WrittenDay returns the day in a link to it, as notes of days are linked to, and any other text as it is.
func WrittenDay(s string) string {
	if inner, ok := LinkTarget(s); ok {
		target, _, _ := strings.Cut(inner, "|")
		target = strings.TrimSpace(target)
		if _, err := time.Parse(time.DateOnly, target[max(0, len(target)-len(time.DateOnly)):]); err == nil {
			return target[len(target)-len(time.DateOnly):]
		}
	}
	return s
}

// momentLayouts are those of moments without a zone.
var momentLayouts = [...]string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04"}

// Moment reads a value of a date: a day, a link to one, or a moment; one without a zone is in loc.
func Moment(s string, loc *time.Location) (time.Time, bool) {
	s = strings.TrimSpace(WrittenDay(s))
	if t, err := time.ParseInLocation(time.DateOnly, s, loc); err == nil {
		return t, true
	}
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t, true
	}
	for _, layout := range momentLayouts {
		if t, err := time.ParseInLocation(layout, s, loc); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

func checkOption(f Field, s string) (string, error) {
	for _, option := range f.Options {
		if text.Fold(option) == text.Fold(strings.TrimSpace(s)) {
			return option, nil
		}
	}
	return "", fault.Field(f.Name, "field %q has no such option", f.Name).
		WithHint("its options are %s", strings.Join(f.Options, ", "))
}

func checkRef(f Field, s string) (string, error) {
	s = strings.TrimSpace(s)
	if IsID(s) || isLink(s) {
		return s, nil
	}
	return "", f.mistyped("a reference").WithHint("give the id of the record, or a link as in [[Title]]")
}

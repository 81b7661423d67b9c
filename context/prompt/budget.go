package prompt

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// BudgetTable declares the budgets, each once: its name in parameters and on
// command lines, its default in characters and what it bounds. T is int for the
// bounds of a prompt and *int for what a caller sets, nil for the default. What
// each pays for, and in which order, is said by shares.
type BudgetTable[T any] struct {
	Total       T `json:"total,omitempty" default:"64000" jsonschema:"the whole prompt"`
	Personality T `json:"personality,omitempty" default:"4000" jsonschema:"how the assistant is to speak"`
	Pinned      T `json:"pinned,omitempty" default:"20500" jsonschema:"pinned notes"`
	Referenced  T `json:"referenced,omitempty" default:"24000" jsonschema:"memories and messages that the user named or attached"`
	Entities    T `json:"entities,omitempty" default:"12000" jsonschema:"entities"`
	Linked      T `json:"linked,omitempty" default:"6500" jsonschema:"notes that entity fields refer to"`
	Search      T `json:"search,omitempty" default:"12500" jsonschema:"notes found by search"`
	Passages    T `json:"passages,omitempty" default:"6000" jsonschema:"passages of books"`
	Client      T `json:"client,omitempty" default:"8000" jsonschema:"calendar and action items together"`
	Memory      T `json:"memory,omitempty" default:"6000" jsonschema:"the profile, pinned memories and what was found among memories and messages"`
}

// Budgets bound a prompt and its sections, in characters.
type Budgets = BudgetTable[int]

// share is what one budget pays for.
type share struct {
	budget   func(*Budgets) *int
	sections []string // in the order in which they are written
	write    func(b *builder, limit int, in *Input)
}

// shares are in the order in which the budgets get room from the total, which is
// the order of the text but for what the user referred to: that is written behind what the client sent.
var shares = [...]share{
	{
		func(b *Budgets) *int { return &b.Personality },
		[]string{SectionPersonality},
		func(b *builder, limit int, in *Input) {
			b.personality(limit, in.Personality)
			b.now(in.Now)
		},
	},
	{
		func(b *Budgets) *int { return &b.Pinned },
		[]string{SectionPinned},
		func(b *builder, limit int, in *Input) { b.notes(pinnedSection, limit, in.Pinned) },
	},
	{
		func(b *Budgets) *int { return &b.Referenced },
		[]string{SectionReferenced},
		func(b *builder, limit int, in *Input) { b.reserve(limit, in.Referenced) },
	},
	{
		func(b *Budgets) *int { return &b.Entities },
		[]string{SectionEntities},
		func(b *builder, limit int, in *Input) { b.entities(limit, in.maxEntities(), in.Entities) },
	},
	{
		func(b *Budgets) *int { return &b.Linked },
		[]string{SectionLinked},
		func(b *builder, limit int, in *Input) { b.notes(linkedSection, limit, in.Linked) },
	},
	{
		func(b *Budgets) *int { return &b.Search },
		[]string{SectionSearch},
		func(b *builder, limit int, in *Input) { b.notes(foundSection, limit, in.Found) },
	},
	{
		func(b *Budgets) *int { return &b.Passages },
		[]string{SectionPassages},
		func(b *builder, limit int, in *Input) { b.passages(limit, in.Passages) },
	},
	{
		func(b *Budgets) *int { return &b.Client },
		[]string{SectionCalendar, SectionActions},
		func(b *builder, limit int, in *Input) { b.client(limit, in.Events, in.Actions) },
	},
	{
		func(b *Budgets) *int { return &b.Memory },
		[]string{SectionMemory},
		func(b *builder, limit int, in *Input) { b.recalled(limit, in.Recalled) },
	},
}

// Budget is one entry of BudgetTable.
type Budget struct {
	Name     string
	Default  int      // characters
	Bounds   string   // what it bounds, in words
	Sections []string // that it bounds; none: this program has no such section
}

// AllBudgets are the entries of BudgetTable in their order.
var AllBudgets = readBudgets()

// DefaultBudgets are those of a caller that sets none.
var DefaultBudgets = func() (b Budgets) {
	for i, budget := range AllBudgets {
		*b.At(i) = budget.Default
	}
	return b
}()

// At returns the place of the budget AllBudgets[i].
func (t *BudgetTable[T]) At(i int) *T {
	return reflect.ValueOf(t).Elem().Field(i).Addr().Interface().(*T)
}

// readBudgets reads the tags of BudgetTable. It panics when one is wrong, which any
// test shows.
func readBudgets() []Budget {
	var table Budgets
	typ := reflect.TypeFor[Budgets]()
	all := make([]Budget, typ.NumField())
	for i := range all {
		f := typ.Field(i)
		all[i].Name, _, _ = strings.Cut(f.Tag.Get("json"), ",")
		all[i].Bounds = f.Tag.Get("jsonschema")
		chars, err := strconv.Atoi(f.Tag.Get("default"))
		if err != nil {
			panic(fmt.Sprintf("prompt: the default of the budget %s: %v", f.Name, err))
		}
		all[i].Default = chars
		for _, s := range shares {
			if table.At(i) == &table.Total || table.At(i) == s.budget(&table) {
				all[i].Sections = append(all[i].Sections, s.sections...)
			}
		}
	}
	return all
}

// Limits of items, whatever the budget is.
const (
	MaxPinned      = 5     // notes
	PinnedChars    = 4_000 // of the text of each
	MaxLinked      = 3
	LinkedChars    = 2_000
	MaxFound       = 8
	MaxPassages    = 8
	PassageChars   = 6_000 // of one passage, which is whole or not there
	FoundChars     = 1_500
	MaxEntities    = 40    // mentioned ones are shown even when they are more
	FieldChars     = 1_000 // of one value
	ComputedRows   = 10    // shown of a computed field
	MaxClientItems = 50    // of each kind
	MinNoteChars   = 200   // a note is not cut to less than this

	nameChars = FieldChars * 3 / 4 // of a name in a reference
)

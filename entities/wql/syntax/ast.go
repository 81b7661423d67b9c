package syntax

// Span is a half-open range of byte offsets in the source.
type Span struct{ Start, End int }

// Source returns the span itself; it makes every node that embeds Span tell
// its place.
func (s Span) Source() Span { return s }

// Name is an identifier as it was written, quotes removed.
type Name struct {
	Span
	Text string
}

// Query is the syntax tree of a whole query.
type Query struct {
	Source   string
	Distinct bool
	What     What
	From     []Name
	Alias    *Name // after FROM; nil when there is none
	Where    Expr  // nil: every row
	Order    []OrderKey
	Limit    *Count
	Offset   *Count

	Strays []Operand // of conditions with a syntax error
}

// WhatKind says what a query selects.
type WhatKind uint8

// What a query selects.
const (
	SelectRows  WhatKind = iota // an alias or *
	SelectCount                 // COUNT(*) or COUNT(path)
	SelectSum
	SelectAvg
	SelectMin
	SelectMax
)

// WhatNames are the words behind SELECT, by WhatKind.
var WhatNames = [...]string{
	SelectRows: "*", SelectCount: "COUNT", SelectSum: "SUM", SelectAvg: "AVG", SelectMin: "MIN",
	SelectMax: "MAX",
}

// What is the part behind SELECT.
type What struct {
	Span
	Kind  WhatKind
	Alias *Name // of SELECT alias; nil for * and aggregates
	Path  *Path // of an aggregate; nil for COUNT(*)
}

// Count is the number behind LIMIT or OFFSET.
type Count struct {
	Span
	N int
}

// OrderKey is one key of ORDER BY.
type OrderKey struct {
	Key        Operand
	Desc       bool
	NullsFirst bool // NULLs come last unless it was asked for
}

// Expr is a condition: *Logic, *Not, *Compare, *In, *Between, *IsNull or
// *Matches.
type Expr interface {
	Source() Span
	isExpr()
}

// Logic is a chain of AND or of OR with two or more arguments.
type Logic struct {
	Span
	Or   bool
	Args []Expr
}

// Not is NOT over a condition.
type Not struct {
	Span
	X Expr
}

// CompareOp is an operator between two operands.
type CompareOp uint8

// The operators between two operands.
const (
	OpEq CompareOp = iota
	OpNe
	OpLt
	OpLe
	OpGt
	OpGe
	OpContains
	OpStartsWith
	OpLike
)

var opNames = [...]string{
	OpEq: "=", OpNe: "!=", OpLt: "<", OpLe: "<=", OpGt: ">", OpGe: ">=",
	OpContains: "CONTAINS", OpStartsWith: "STARTS WITH", OpLike: "LIKE",
}

// String returns the operator as it is written in a query.
func (o CompareOp) String() string { return opNames[o] }

// Ordering reports whether the operator compares by order: < <= > >=.
func (o CompareOp) Ordering() bool { return o >= OpLt && o <= OpGe }

// Compare is a comparison of two operands. Not belongs to CONTAINS and LIKE.
type Compare struct {
	Span
	Op          CompareOp
	Not         bool
	Left, Right Operand
}

// In is membership in a list of values.
type In struct {
	Span
	Not   bool
	X     Operand
	Items []Operand
}

// Between is Low <= X AND X <= High.
type Between struct {
	Span
	Not          bool
	X, Low, High Operand
}

// IsNull asks whether an operand is missing.
type IsNull struct {
	Span
	Not bool
	X   Operand
}

// Matches asks the full-text index.
type Matches struct {
	Span
	Words string
}

func (*Logic) isExpr()   {}
func (*Not) isExpr()     {}
func (*Compare) isExpr() {}
func (*In) isExpr()      {}
func (*Between) isExpr() {}
func (*IsNull) isExpr()  {}
func (*Matches) isExpr() {}

// Operand is a value in a condition or a key: *Path, *Literal, *This, *Call or
// *Shift.
type Operand interface {
	Source() Span
	isOperand()
}

// Path names a field, or one reached over references. The first segment may be
// the alias.
type Path struct {
	Span
	Segments []Name
}

// LiteralKind is the kind of a Literal.
type LiteralKind uint8

// The kinds of literals.
const (
	LitNull LiteralKind = iota
	LitText
	LitNumber
	LitBool
)

// Literal is a constant in the text.
type Literal struct {
	Span
	Kind   LiteralKind
	Text   string
	Number float64
	Bool   bool
}

// This is {this} or {this.path}.
type This struct {
	Span
	Segments []Name
}

// Call is a function call; the name is in lower case.
type Call struct {
	Span
	Name Name
	Args []Operand
}

// Shift is a date or an instant moved by a duration.
type Shift struct {
	Span
	X      Operand
	Amount int  // negative for -
	Unit   byte // d, w, m (months), y or h
}

func (*Path) isOperand()    {}
func (*Literal) isOperand() {}
func (*This) isOperand()    {}
func (*Call) isOperand()    {}
func (*Shift) isOperand()   {}

package fault

import (
	"context"
	"errors"
	"fmt"
)

// Kind says what sort of failure an Error is. The zero value is Internal, so
// an error that nobody classified never passes for something a client caused.
type Kind uint8

// The kinds, each with the wire code that it is mapped to.
const (
	Internal    Kind = iota // a defect of ours: -32603 with an incident id
	Invalid                 // a value that can't be accepted; Field names it: -32602
	NotFound                // an unknown id, path or title: 1001
	Conflict                // stale version, duplicate, ambiguous: 1002
	Unavailable             // a stage, the store or the disk can't serve now: 1003
	Limit                   // a size or count over its limit: 1004
	Deadline                // out of time: 1005
	Query                   // a WQL text that can't be run: 1006
	Cancelled               // the caller withdrew the call: -32800
)

var kindNames = [...]string{
	Internal: "internal", Invalid: "invalid_params", NotFound: "not_found", Conflict: "conflict",
	Unavailable: "unavailable", Limit: "limit", Deadline: "deadline", Query: "query", Cancelled: "cancelled",
}

// String returns the kind as it stands in the data.kind member of a wire error.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[Internal]
}

// Reason says what a Conflict is about. Every Conflict has one; the wire carries it as data.reason.
type Reason string

// The reasons. Clients switch on them, so the list only grows.
const (
	StaleVersion Reason = "version"     // ifVersion is not the version of the record, which is in Version
	Exists       Reason = "exists"      // what is to be made is there already
	Ambiguous    Reason = "ambiguous"   // a reference means several records, which are in Candidates
	VaultBacked  Reason = "vaultBacked" // the record comes from a file, and changes with it alone
	State        Reason = "state"       // the record, or the store, is in a state that does not allow it
	Duplicate    Reason = "duplicate"   // another record says the same
	Busy         Reason = "busy"        // something else is going on; the same call may succeed later
	Changed      Reason = "changed"     // what was read, or shown, has changed meanwhile
)

// Reasons are all reasons of conflicts.
var Reasons = []Reason{StaleVersion, Exists, Ambiguous, VaultBacked, State, Duplicate, Busy, Changed}

// Candidate is one of several records that an ambiguous or misspelt reference
// may have meant.
type Candidate struct {
	ID     string `json:"id" jsonschema:"id of the record; of a tag or domain itself"`
	Kind   string `json:"kind,omitempty" enum:"memory,context,conversation,entity,tag,domain,note" jsonschema:"what it is, where a reference may mean records of several kinds"`
	Title  string `json:"title,omitempty" jsonschema:"its title, of a note"`
	Name   string `json:"name,omitempty" jsonschema:"its name, of an entity or a context"`
	Type   string `json:"type,omitempty" jsonschema:"its type, of an entity"`
	Handle string `json:"handle,omitempty" jsonschema:"what @ names it by, where that is stored"`
	Vault  string `json:"vault,omitempty" jsonschema:"its vault, or that of the note that an entity was made from; absent when the reader sees one vault at most"`
	Path   string `json:"path,omitempty" jsonschema:"its path, or that of the note that an entity was made from"`
}

// Sides are the two texts of a write that met another one.
type Sides struct {
	Current string `json:"current" jsonschema:"what is there now"`
	Wanted  string `json:"wanted" jsonschema:"what was to be written"`
}

// Error is a failure that a caller can understand. Only Kind and Msg are
// always set.
type Error struct {
	Kind       Kind
	Reason     Reason      // of a Conflict
	Version    int         // the version that the record has, with StaleVersion and Exists; 0 when there is none
	Op         string      // what was being done, for the log: "notes.put"
	Msg        string      // what was wrong, with what; one sentence, no full stop
	Ref        string      // the id or name of the record concerned
	Field      string      // the parameter or field at fault, dotted: "fields.role"
	Hint       string      // what to do about it; one sentence
	Retryable  bool        // the same call may succeed later
	Line       int         // position in a query text, from 1; 0 when there is none
	Column     int         // UTF-16 column, from 1
	Candidates []Candidate // what the reference may have meant
	Sides      *Sides      // of a Conflict by Changed: the two texts; nil where they can't be told
	Err        error       // cause, for the log only: its text never reaches a client
}

// Error returns the message with the record concerned, and the cause when
// there is one. It is meant for logs and terminals; clients get Msg.
func (e *Error) Error() string {
	s := e.Msg
	if e.Op != "" {
		s = e.Op + ": " + s
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// New returns an error of the given kind. One about time is Retryable, since the machine may be busy now.
func New(kind Kind, format string, args ...any) *Error { return Wrap(kind, nil, format, args...) }

// Clash returns a Conflict error for a reason.
func Clash(reason Reason, format string, args ...any) *Error {
	return &Error{Kind: Conflict, Reason: reason, Msg: fmt.Sprintf(format, args...)}
}

// Wrap is New with a cause that stays in the log.
func Wrap(kind Kind, err error, format string, args ...any) *Error {
	return &Error{Kind: kind, Msg: fmt.Sprintf(format, args...), Err: err, Retryable: kind == Deadline}
}

// Field returns an Invalid error that names the parameter or field at fault.
func Field(field, format string, args ...any) *Error {
	return &Error{Kind: Invalid, Field: field, Msg: fmt.Sprintf(format, args...)}
}

// TooLarge returns a Limit error for a field of size units where limit are
// allowed.
func TooLarge(field string, size, limit int, unit string) *Error {
	return &Error{
		Kind: Limit, Field: field,
		Msg:  fmt.Sprintf("%s has %d %s, at most %d are allowed", field, size, unit, limit),
		Hint: fmt.Sprintf("shorten %s to %d %s", field, limit, unit),
	}
}

// Missing returns a NotFound error for a record of the named sort.
func Missing(sort, id string) *Error {
	return &Error{Kind: NotFound, Ref: id, Msg: fmt.Sprintf("no %s with id %q", sort, id)}
}

// Stale returns a Conflict error for a record whose version moved on, or that must not exist where
// want is 0.
func Stale(sort, id string, have, want int) *Error {
	e := &Error{
		Kind: Conflict, Reason: StaleVersion, Version: have, Ref: id, Field: "ifVersion",
		Msg:  fmt.Sprintf("%s %q is at version %d, not %d", sort, id, have, want),
		Hint: "read the record again and repeat the change on its current version",
	}
	if want == 0 {
		e.Msg = fmt.Sprintf("%s %q is there already, at version %d", sort, id, have)
		e.Hint, e.Reason = "give another id, or change what is there", Exists
	}
	return e
}

// WithHint sets the hint and returns e, for use at the point of creation.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// WithReason sets what a Conflict is about and returns e.
func (e *Error) WithReason(r Reason) *Error {
	e.Reason = r
	return e
}

// WithRef sets the record concerned and returns e.
func (e *Error) WithRef(ref string) *Error {
	e.Ref = ref
	return e
}

// WithCandidates sets what the reference may have meant and returns e.
func (e *Error) WithCandidates(c []Candidate) *Error {
	e.Candidates = c
	return e
}

// Under returns err with prefix put before the field it names, so that a value
// nested in a larger one is named in full. Other errors are returned as they
// are.
func Under(prefix string, err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	c := *e
	if c.Field == "" {
		c.Field = prefix
	} else {
		c.Field = prefix + "." + c.Field
	}
	return &c
}

// In returns err as one about the parameter or field of that name. Other errors are returned as they are.
func In(field string, err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	c := *e
	c.Field = field
	return &c
}

// KindOf returns the kind of err: that of the nearest Error in its chain,
// Cancelled or Deadline for a context that ended, Internal for anything else.
func KindOf(err error) Kind {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e.Kind
	case errors.Is(err, context.Canceled):
		return Cancelled
	case errors.Is(err, context.DeadlineExceeded):
		return Deadline
	}
	return Internal
}

// IsMissing reports whether err says that a record does not exist: an id or a path that no record can have is one of them.
func IsMissing(err error) bool {
	kind := KindOf(err)
	return err != nil && (kind == NotFound || kind == Invalid)
}

// CandidatesOf returns what the reference of the nearest Error in the chain of err may have meant.
func CandidatesOf(err error) []Candidate {
	var e *Error
	if !errors.As(err, &e) {
		return nil
	}
	return e.Candidates
}

// Message returns what may be said of err to a client: the message of the
// nearest Error, and nothing of what lies behind it.
func Message(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Msg
	}
	switch KindOf(err) {
	case Cancelled:
		return "cancelled"
	case Deadline:
		return "out of time"
	}
	return "internal error"
}

package nats

import (
	"errors"

	"github.com/ctxd/ctxd/entities/fault"
)

// Reason says why a message was refused.
type Reason string

// The reasons.
const (
	ReasonMalformed Reason = "malformed" // it is no message, or one of a newer format
	ReasonWrongKey  Reason = "wrongKey"  // it is encrypted with a key that is not here
	ReasonAltered   Reason = "altered"   // its key is here and its checksum is wrong
	ReasonMoved     Reason = "moved"     // it belongs to another place or another log
	ReasonCut       Reason = "cut"       // what it follows on is not what is here
	ReasonTooLarge  Reason = "tooLarge"  // it would become larger than allowed
)

// refusal is the cause of a fault of this package.
type refusal struct{ reason Reason }

// Error names the reason.
func (r *refusal) Error() string { return "refused: " + string(r.reason) }

// ReasonOf returns why a message was refused, "" for any other error.
func ReasonOf(err error) Reason {
	var r *refusal
	if errors.As(err, &r) {
		return r.reason
	}
	return ""
}

// refuseMessage returns the fault of a reason.
func refuseMessage(reason Reason) *fault.Error {
	f := fault.Wrap(fault.Unavailable, &refusal{reason}, "%s", says[reason].msg)
	return f.WithHint("%s", says[reason].hint)
}

// anew is what is left where the log itself can't be used any more.
const anew = "look who can write on the servers; then begin the shared store anew on the machine that has most: ctxd sync init --again"

var says = map[Reason]struct{ msg, hint string }{
	ReasonMalformed: {"the shared log holds a message that this version cannot read", "update ctxd on this machine if others have a newer one; if not, " + anew},
	ReasonWrongKey:  {"the shared log holds a message for which this machine has no key", "if this machine was removed, join again with the present recovery words: ctxd sync join --again"},
	ReasonAltered:   {"a message of the shared log was altered", anew},
	ReasonMoved:     {"a message of the shared log was repeated or moved", anew},
	ReasonCut:       {"the shared log does not follow on what this machine has", "the log was cut or replaced; keep this folder, and join again: ctxd sync join --again"},
	ReasonTooLarge:  {"a message of the shared log is larger than any transaction", anew},
}

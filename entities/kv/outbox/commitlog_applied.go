package outbox

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// Applied is how far a store has applied its log: everything up to a position, and so many
// transactions of the entry behind it. A store that stops while it writes the transactions of an
// entry to its journal, one after the other, goes on in the middle of that entry.
type Applied struct {
	Position
	Done int
	// Unmarked says that the records were brought into another format, and the log may not say
	// yet where that begins. The store has written nothing to the log since.
	Unmarked bool
}

// unmarked ends what is Unmarked.
const unmarked = " unmarked"

// String returns it as a store keeps it.
func (a Applied) String() string {
	text := fmt.Sprintf("%d %x %d", a.Seq, a.Mark, a.Done)
	if a.Unmarked {
		text += unmarked
	}
	return text
}

// ParseApplied is the reverse of String.
func ParseApplied(s string) (a Applied, err error) {
	var mark string
	s, a.Unmarked = strings.CutSuffix(s, unmarked)
	if _, err := fmt.Sscanf(s, "%d %s %d", &a.Seq, &mark, &a.Done); err != nil {
		return a, err
	}
	if len(mark) != 2*len(a.Mark) {
		return a, errors.New("a mark of another length")
	}
	_, err = hex.Decode(a.Mark[:], []byte(mark))
	return a, err
}

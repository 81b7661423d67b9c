package commitlog

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// Place is how far a log is applied: everything up to a position, and so many transactions
// of the entry behind it. A store that stopped while it wrote an entry to its journal, one
// transaction after the other, goes on in the middle of it.
type Place struct {
	Position
	Done int
	// Unmarked says that the records were brought into another format, and the log may not say
	// yet where that begins. The store has written nothing to the log since.
	Unmarked bool
}

// unmarked ends a place that is Unmarked.
const unmarked = " unmarked"

// String returns a place as a store keeps it.
func (p Place) String() string {
	text := fmt.Sprintf("%d %x %d", p.Seq, p.Mark, p.Done)
	if p.Unmarked {
		text += unmarked
	}
	return text
}

// ParsePlace is the reverse of String.
func ParsePlace(s string) (p Place, err error) {
	var mark string
	s, p.Unmarked = strings.CutSuffix(s, unmarked)
	if _, err := fmt.Sscanf(s, "%d %s %d", &p.Seq, &mark, &p.Done); err != nil {
		return p, err
	}
	if len(mark) != 2*len(p.Mark) {
		return p, errors.New("a mark of another length")
	}
	_, err = hex.Decode(p.Mark[:], []byte(mark))
	return p, err
}

package commitlog

import (
	"encoding/hex"
	"errors"
	"fmt"
)

// Place is how far a log is applied: everything up to a position, and so many transactions
// of the entry behind it. A store that stopped while it wrote an entry to its journal, one
// transaction after the other, goes on in the middle of it.
type Place struct {
	Position
	Done int
}

// String returns a place as a store keeps it.
func (p Place) String() string { return fmt.Sprintf("%d %x %d", p.Seq, p.Mark, p.Done) }

// ParsePlace is the reverse of String.
func ParsePlace(s string) (p Place, err error) {
	var mark string
	if _, err := fmt.Sscanf(s, "%d %s %d", &p.Seq, &mark, &p.Done); err != nil {
		return p, err
	}
	if len(mark) != 2*len(p.Mark) {
		return p, errors.New("a mark of another length")
	}
	_, err = hex.Decode(p.Mark[:], []byte(mark))
	return p, err
}

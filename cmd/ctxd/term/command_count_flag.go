package term

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/alecthomas/kong"
)

// CountFlag is the number of a flag such as --count. Its tag says what it may
// be: from, and to where there is an end. Kong itself takes -1 for a flag.
type CountFlag int

// Decode reads the number from the command line.
func (c *CountFlag) Decode(ctx *kong.DecodeContext) error {
	token := ctx.Scan.Pop()
	if token.IsEOL() {
		return errors.New("a number is missing")
	}
	word := token.String()
	n, err := strconv.Atoi(word)
	if err != nil {
		return fmt.Errorf("%q is not a whole number", word)
	}
	from, _ := strconv.Atoi(ctx.Value.Tag.Get("from")) // none is 0
	to, end := strconv.Atoi(ctx.Value.Tag.Get("to"))
	switch {
	case end == nil && (n < from || n > to):
		return fmt.Errorf("must be %d to %d", from, to)
	case n < from:
		return fmt.Errorf("must be %d or more", from)
	}
	*c = CountFlag(n)
	return nil
}

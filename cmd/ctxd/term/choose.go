package term

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"
)

// Choices asks on the terminal to choose, again and again. New it with Streams.Choices.
type Choices struct {
	streams *Streams
	lines   chan string
}

// Choices returns who asks; ok is false where nobody can be asked.
func (a *Streams) Choices() (c *Choices, ok bool) {
	in, ok := a.In.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) || !a.Err.Terminal {
		return nil, false
	}
	c = &Choices{streams: a, lines: make(chan string)}
	go func() { // it may outlive an interrupt; the process is then about to end
		defer close(c.lines)
		r := bufio.NewReader(in)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			c.lines <- strings.ToLower(strings.TrimSpace(line))
		}
	}()
	return c, true
}

// Ask asks until one of some answers is given, and returns it; "" at the end of the input.
func (c *Choices) Ask(ctx context.Context, question string, answers map[string]string) (string, error) {
	for {
		fmt.Fprint(c.streams.Err, c.streams.Err.Render(Line{Styled(Strong, question), Text(" ")}))
		select {
		case said, more := <-c.lines:
			if !more {
				c.streams.Err.Say()
				return "", nil
			}
			if answer, ok := answers[said]; ok {
				return answer, nil
			}
		case <-ctx.Done():
			c.streams.Err.Say() // the shell's prompt gets a line of its own
			return "", ctx.Err()
		}
	}
}

package term

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/ctxd/ctxd/entities/fault"
)

// Confirm asks on the terminal whether to go on. Where nobody can be asked, the
// error says how to go on without being asked; after any other answer than yes it
// is Cancelled. draw shows what the question is about.
func (a *Streams) Confirm(ctx context.Context, question, without string, draw func(s *Screen)) error {
	in, ok := a.In.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) || !a.Err.Terminal {
		return Misuse("this needs a confirmation, and there is no terminal to ask on", without)
	}
	draw(a.Err)
	a.Err.Say()
	fmt.Fprint(a.Err, a.Err.Render(Line{Styled(Strong, question), Text(" [y/N] ")}))
	answer := make(chan string, 1)
	go func() { // it may outlive the interrupt; the process is then about to end
		said, _ := bufio.NewReader(in).ReadString('\n') // the end of the input is no yes
		answer <- said
	}()
	select {
	case said := <-answer:
		switch strings.ToLower(strings.TrimSpace(said)) {
		case "y", "yes":
			return nil
		}
		return fault.New(fault.Cancelled, "nothing was changed")
	case <-ctx.Done():
		a.Err.Say() // the shell's prompt gets a line of its own
		return ctx.Err()
	}
}

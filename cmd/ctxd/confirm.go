package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/ctxd/ctxd/entities/fault"
)

// confirm asks on the terminal whether to go on. Where nobody can be asked, the
// error says how to go on without being asked; after any other answer than yes it
// is Cancelled. draw shows what the question is about.
func (a *app) confirm(question, without string, draw func(s *screen)) error {
	in, ok := a.in.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) || !a.err.terminal {
		return &usageError{"this asks before it goes on, and there is no terminal to ask on", without}
	}
	draw(a.err)
	a.err.say()
	fmt.Fprint(a.err, a.err.render(line{styled(strong, question), text(" [y/N] ")}))
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
	case <-a.ctx.Done():
		a.err.say() // the shell's prompt gets a line of its own
		return a.ctx.Err()
	}
}

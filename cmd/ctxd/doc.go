// Command ctxd is the daemon and its command line.
//
// The package does two things and has no domain logic: engine.go and daemon.go
// open the rooms in their order and put a server on the socket; everything else
// is the command line, which speaks to a daemon over that socket as any other
// client does. `ctxd demo` does both in one process.
//
// # How a command is made
//
// Each command is a struct with its flags, a Run method that takes the *app,
// and Examples for its help; main.go lists them. A command asks the daemon,
// and draws the answer, or writes it as JSON with --json. What is drawn goes
// through line (line.go): texts lose their control characters when they enter
// a span, are measured in columns of the terminal, and are coloured last, so
// no note can paint the screen or fake a prompt.
//
// It is the largest room, because each command has its own way to draw an
// answer, and the reports of prompts are long; no file knows of another command's.
//
// # Errors
//
// A command returns an error and prints nothing of it. errors.go alone turns it
// into "Error: …", "Try: …" and an exit status; the statuses stand there.
//
// # Concurrency
//
// A command runs on the main goroutine. A first interrupt ends its context: a
// running call is withdrawn and answered, a daemon drains. After it, signals
// have their default effect again, so a second one ends the process at once;
// nothing is lost by that, because whatever was acknowledged is on disk and the
// next start finds the locks free.
//
// Nothing imports this package. It may import every room.
package main

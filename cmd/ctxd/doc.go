// Command ctxd is the daemon and its command line.
//
// It wires the packages below this folder to commands, and has no domain logic.
// main.go lists the commands. A package a feature: term draws on a terminal,
// command has errors, exit statuses and examples, config the settings, logfile
// the log, daemon opens the rooms and puts a server on the socket, connect is
// the way to a daemon; on them stand call, search, service, store (backup and
// restore), shell (ctxd wql, with its line editor in shell/edit), report,
// inspect, doctor and demo. Here are the commands that are short, and those that
// run or start a daemon: serve, stop, stdio, mcp, lsp, import, vault, events,
// completion, version. layers_test.go has the order.
//
// # How a command is made
//
// A command is a struct with its flags, a Run method that takes the options of
// its package (the *app, here), and Help and Examples for its help. It asks the
// daemon, and draws the answer through term, or writes it as JSON with --json. A
// command of inspect is a file in inspect and a line in its Command; one that
// lists notes belongs in search; one that is none of these gets a field in
// commandLine and an entry in app.bindings when it has options of its own.
//
// # Errors
//
// A command returns an error and prints nothing of it. fail.go alone prints it:
// "Error: …", "Try: …" and the exit status, by term.ExplainError.
//
// # Tests
//
// The tests here drive the built program: the scripts of fixtures/scripts, the
// campaigns of reliability, pseudo-terminals. They stay together because they
// share what starts and watches daemons, and because Taskfile and CI name this
// folder.
//
// # Concurrency
//
// A command runs on the main goroutine. A first interrupt ends its context: a
// running call is withdrawn and answered, a daemon drains. After it, signals
// have their default effect again, so a second one ends the process at once;
// nothing is lost by that, because whatever was acknowledged is on disk and the
// next start finds the locks free. The prompt of ctxd wql has an interrupt cancel
// the query instead (term.Interrupts).
//
// Nothing imports this package. It may import every room.
package main

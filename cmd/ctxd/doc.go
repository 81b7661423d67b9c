// Command ctxd is the daemon and its command line. It wires the packages below this folder to commands, and has no
// domain logic.
//
// main.go lists the commands. A package has the commands of a subject: records what is stored, inspect (with ctxd
// search) what the daemon knows, chats conversations, shell ctxd wql, store (with ctxd sync and ctxd uninstall) the
// files of the store, doctor, service, demo. They stand on term, which draws and has errors and exit statuses, config,
// the settings, logfile, the log, daemon, which opens the rooms and puts a server on the socket, connect, the way to a
// daemon (with ctxd call), and page, the HTML pages.
//
// # Parts
//
//   - main.go, help.go, fail.go: the commands, their help, and how their errors are printed.
//   - serve.go, stop.go, stdio.go, mcp.go, lsp.go: commands that run or start a daemon.
//   - import.go, vault.go, events.go, version_cmd.go: commands that are short.
//   - open.go: ctxd open, and ctxd:// addresses.
//   - completion.go, offer.go: completion scripts, and what they offer.
//   - man.go, manual*.go: manual pages.
//
// # How a command is made
//
// A command is a struct with its flags, a Run method that takes the options of its package (the *app, here), and Help
// and Examples for its help. It asks the daemon, and draws the answer through term, or writes it as JSON with --json.
// A command of ctxd inspect is a file in inspect and a line in its Command; one that lists notes belongs there, too
// (inspect/search_command.go); one that is none of these gets a field in commandLine and an entry in app.bindings when
// it has options of its own.
//
// # Errors
//
// A command returns an error and prints nothing of it. fail.go alone prints it: "Error: …", "Try: …" and the exit
// status, by term.ExplainError.
//
// # Tests
//
// The tests here drive the built program: the scripts of fixtures/scripts, the campaigns of reliability,
// pseudo-terminals. They stay together because they share what starts and watches daemons, and because Taskfile and CI
// name this folder. layers_test.go holds the layers and walls of the house.
//
// # Concurrency
//
// A command runs on the main goroutine. A first interrupt ends its context: a running call is withdrawn and answered,
// a daemon drains. After it, signals have their default effect again, so a second one ends the process at once;
// nothing is lost by that, because whatever was acknowledged is on disk and the next start finds the locks free. The
// prompt of ctxd wql has an interrupt cancel the query instead (term.Interrupts).
//
// Nothing imports this package. It may import every room.
//
// Wall: subject: the program, from its arguments to its exit status.
package main

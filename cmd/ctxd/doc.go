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
// # The prompt
//
// ctxd wql is a session (wql_session.go) that runs statements (wql_split.go) and
// shows their answers (wql_view.go, wql_fields.go), and a prompt on top of it
// (wql_prompt.go) with a line editor of its own: wql_editor.go is the text and the
// keys, wql_editor_draw.go the terminal. It is in raw mode only while a text is
// edited. What a query means, and all that is wrong with it, the daemon says; the
// text is parsed here to know which fields to show and what Tab may offer.
//
// # Configuration
//
// config.go lists the settings; loadConfig finds the value of each in the flags,
// the environment, config.yaml or its default, and remembers which it was. Every
// command that needs one asks the app for its config; no other file reads the
// environment for a setting.
//
// # The store without a daemon
//
// ctxd backup and ctxd restore have the daemon do the work that has the store.
// When none has it they open the store themselves, under the same lock, without
// bringing its records into a newer format, and close it when they are done.
// store_access.go alone decides which of the two it is. ctxd doctor reads the
// files beside a running daemon, and changes nothing unless it is told to.
//
// # A daemon that nobody started
//
// attach.go alone starts one for a client that finds none (ctxd stdio and
// ctxd mcp). It settles no race itself: all start their own, serve lets the
// owner of the socket win (rpc/socket), the losers end at once, and everybody
// attaches to the winner. What a daemon that could not start has to say, it says
// as JSON on standard error, which is a temporary file; the starter reads it.
//
// # The log
//
// A daemon logs to standard error and to a file, unless it was told not to
// (log.go, log_file.go). The file is always JSON, whatever the form on
// standard error, so that ctxd inspect log (log_reader.go) can read it. It is
// opened when the daemon has its data, and not before: a second daemon that is
// about to be refused must not rotate the first one's log. The trace of a crash
// lies beside it.
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
// next start finds the locks free. The prompt of ctxd wql has an interrupt cancel
// the query instead (app.interrupts).
//
// Nothing imports this package. It may import every room.
package main

// Package hook is ctxd hook: what programs with a model of their own call at the start of a session, at a prompt and
// when an answer is done, and what puts those calls into their settings.
//
// hosts.go is the table of these programs: a program is a row. hook.go runs one call within Limit, says nothing when
// anything is wrong, and ends with status 0. turns.go reads what was said, secrets.go masks what looks like a secret
// before it leaves this process, keep.go hands it to the daemon. settings.go edits the settings of a program as text, so
// that every byte that is not ctxd's stays; install.go has the commands for that. capture.go tells what was kept.
//
// The package keeps no state and writes no file but the settings of a program. A call is used by one goroutine. cmd/ctxd
// calls it, ctxd inspect shows what it kept, and ctxd uninstall takes out what it installed. The formats are those that
// README.md names, with where each is documented.
//
// Wall: subject: ctxd hook.
package hook

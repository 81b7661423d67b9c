// Package term is what all commands share at a terminal: how they draw, ask and write documents, and their errors,
// exit statuses and examples.
//
// # Parts
//
//   - screen.go, line.go, table.go, facts.go, mark.go: screens, lines of styled spans, tables, trees, bars.
//   - progress.go, live.go: progress, and views that are drawn again and again.
//   - confirm.go, choose.go: questions that are answered with y or n, or with a choice.
//   - document.go: the documents that a command is asked for.
//   - markdown*.go: Markdown that is drawn while it comes.
//   - command_*.go: errors with exit statuses, examples, number flags, interrupts, the version of the program.
//   - streams.go, clock_*.go, console_*.go, pending.go: the streams of a command, and what differs by operating
//     system.
//
// All that is drawn goes through Line: texts lose their control characters when they enter a Span (Text, Styled), are
// measured in columns of the terminal, and are coloured last, so no note can paint the screen or fake a prompt. On
// anything but a terminal nothing is cut and nothing is coloured.
//
// Any package below cmd/ctxd may call it; it calls none of them. Streams are made once, by main; a screen, a table and
// a progress are used by one goroutine at a time.
//
// Wall: subject: what commands draw on a terminal.
package term

// Package term draws on a terminal: screens, lines of styled spans, tables,
// trees, bars, progress, views that are drawn again and again, and questions
// that are answered with y or n. It also writes the documents that a command is
// asked for.
//
// All that is drawn goes through Line: texts lose their control characters when
// they enter a Span (Text, Styled), are measured in columns of the terminal, and
// are coloured last, so no note can paint the screen or fake a prompt. On
// anything but a terminal nothing is cut and nothing is coloured.
//
// Any package below cmd/ctxd may call it but command, on which it stands.
// Streams are made once, by main; a screen, a table and a progress are used by
// one goroutine at a time.
package term

// Package manual makes the manual pages of ctxd out of the help of its commands, which is
// the only place where they are described: a page ctxd(1) for the program, and one
// ctxd-COMMAND(1) for each command, with the commands below it as sections.
//
// Pages is pure: the model of a parser in, texts in the man(7) language out, in the order
// of their names. The same model and the same About give the same bytes. No text of the
// help becomes a request of troff; what is not ASCII is written as an escape. Hidden
// commands and flags have no place in a page. The pages are of a size with the help, and
// take as long to make.
package manual

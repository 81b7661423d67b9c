// Package open is ctxd open: it opens the file of a note in the program that is configured, or says where it is. It is
// what handles ctxd:// addresses, which chat.references and ctxd mcp give.
//
// An address may come from anywhere, such as a link in a browser. It only ever names a record: the program is that of
// the setting open.command, it runs without a shell, and it is given the path of a file in a vault. The package keeps
// nothing; one goroutine runs the command.
package open

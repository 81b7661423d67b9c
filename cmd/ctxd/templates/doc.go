// Package templates is ctxd prompts: the templates of what ctxd itself asks a model, such as the title of a
// conversation, for a person to see and to copy.
//
// It reads the configuration and the folder that prompts.dir names, as a daemon would that starts now, and asks none.
// The package keeps nothing; one goroutine runs a command.
package templates

// Package prompts makes the prompts that ctxd itself sends to a model: what it asks a title or a selection of memories
// by. Each is a template, a file *.tmpl of this folder that is compiled in. A person may put another one of the same
// name into a folder of his own. README.md says what stands in one.
//
// # Data
//
// What a person, a note or another model wrote goes into a prompt as data, between marks. A [Set] escapes it before a
// template sees it, so that no template can forget to, and no text can end its mark or forge another one.
//
// # What goes wrong
//
// A prompt is always made. A template of the person's that can't be read, does not parse, or shows the model less than
// it needs is passed over when a [Set] is opened; one that fails later is passed over then. Either is logged, and is
// one of the Warnings of the Set. The templates that are compiled in can't fail: the tests make each of them.
//
// # Who may call it
//
// Rooms that ask a model, and the command line to show the templates. A [Set] is opened once, with the daemon: a
// template that is changed later holds from the next start on. All methods may be called concurrently.
//
// Wall: subject: the words by which ctxd asks models for itself, which a person may replace.
package prompts

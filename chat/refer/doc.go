// Package refer says which notes and memories a message refers to: the wikilinks of its text, what a prompt and tools
// showed for it, each record once. It also writes the list of them that a model is given behind a message, and shows
// them to a reader. README.md has the rules and the promises.
//
// # Shapes and units
//
// A [Reference] is one as it is stored: the members that clients see, and what is needed to decide later whether a
// reader may see all of them. Places are half-open and in UTF-16 code units of the text of the message, as it is
// stored; [Show] moves them to the text that the reader is shown.
//
// # Two readers
//
// A link can mean one note for a person and another one, or none, for a remote model. So a message has one list for
// each of the two where they differ ([Lists]). Both are made when the message is stored and are not made anew: what was
// said of a reference stays. What has become private since is left out when a list is shown.
//
// # Errors and bounds
//
// Nothing here fails for what a text says: a link that leads nowhere is a reference that says so. Summaries may fail,
// and the references then have none ([Reader.Failed]). All functions take a time that is linear in the text and in
// what was shown; of a text 1,000 different targets are looked up.
//
// # Who may call it
//
// Package chat. A [Reader] belongs to one call; the functions hold nothing.
package refer

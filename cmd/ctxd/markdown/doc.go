// Package markdown draws Markdown on a terminal while it comes: headings, lists, quotes, code, emphasis and links.
//
// It is no parser of CommonMark. What can't be told before its end has come, such as emphasis, is waited for within
// its line and for a limited length; then it is written as it stands, so no character of a text is lost. What is
// written consists of whole words with whole escape sequences, and what could steer a terminal is made visible.
//
// A Writer is made for one text and used by one goroutine.
package markdown

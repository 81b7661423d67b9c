// Package passages cuts a book in its neutral form (package block) into passages: what is searched, shown in
// a prompt and cited.
//
// A passage is a piece of the text of the book (Text), of about 200 tokens, that ends with a sentence, a row
// or a block of code. It never reaches over a heading. In prose it begins with the last sentence of the one
// before it, so that what is said across the border is found. Rows stand whole, each with the names of its
// columns, code stands whole up to 4,000 characters. A passage knows the headings above it, the page or the
// row that it begins with, and its offset.
//
// It is pure: the same document gives the same text and passages. Time is linear in the text. Functions may
// be called concurrently.
package passages

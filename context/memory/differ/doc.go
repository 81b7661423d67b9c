// Package differ tells in what two statements that look alike say different things: "I eat meat" and
// "I do not eat meat" are near to each other for every embedder, as are "25 days of leave" and "28 days of
// leave". It is pure, and reads the words alone: a difference is a reason to look, not a proof that one of
// the two is wrong.
//
// One of two statements may say more than the other without saying anything else. So they differ in
// numbers, dates or names only where each has one that the other has not, and in negation where one of them
// denies. What counts is declared in words.go: negations of ten languages and number words of five; months and
// weekdays are those of package when. Names are words with a capital letter that do not begin a sentence, so the nouns of German
// are among them.
//
// IsExcerpt asks for more: that one text is the other with words left out, and no denial among them.
package differ

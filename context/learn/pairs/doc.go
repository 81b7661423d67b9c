// Package pairs decides how two statements stand to each other: whether they say the same, contradict each other, whether
// the newer one says that something changed, or whether both hold. What rules cannot decide is left to a model, or to the
// person.
//
// It is pure. Read reads a statement once, in time linear in it; Judge compares two that were read, in time linear in both
// but for the words that they do not share, of which it compares at most 32 with as many. Cosines come from whoever has
// the vectors, and are brought between 0 and 1 by Levels, a table with a row for each model: cosines of two models cannot
// be compared. Words are those of English, German and French, in words.go; another language is added there and nowhere
// else. A verdict of Duplicate is given only where no word stands in the place of another, since a wrong merge loses what
// a person said. testdata/pairs.tsv has pairs with their verdicts, and testdata/*.golden what becomes of them.
package pairs

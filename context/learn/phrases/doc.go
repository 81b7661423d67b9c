// Package phrases finds what a text speaks of: names, and groups of one to three words that stand where nouns do. It
// knows no grammar. A word counts when something introduces it that nouns stand behind ("the", "my", "of", a verb), or
// when it is written as a name is; of German, where all nouns have a capital letter, that alone decides. Words of the
// language that introduce, that end a group, or that say nothing are declared in a table for each language, and the
// language of a text is the one whose table has the most of its words.
//
// What nothing introduces, such as the first word of a sentence, is given as weak: whoever counts takes it for the same
// when the phrase is introduced elsewhere. Texts of languages without blanks between words give nothing. Keys are made of
// stems, so that singular and plural are one; they are no text to be shown.
//
// All functions are pure, may be called concurrently, never fail, and take O(text).
package phrases

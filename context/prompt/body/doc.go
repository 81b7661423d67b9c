// Package body gives the text of a note the form in which people and models are
// shown it: its own Markdown, without what its writer has taken out of sight.
//
//	note          "# Plan\n%% ask Eve %%\n- [ ] ~~Call~~\n"
//	Shown         "# Plan\n- [ ] ~~Call~~"
//	in a prompt   "#### Plan\n- [ ] ~~Call~~"
//
// Shown leaves out the comments. New makes a Body of that: a
// text in which no line can pass for one of the prompt's own. Cut shortens it.
// Both read lines by the same rules (see lines): those of CommonMark for code
// fences, quotes, lists and headings, as far as they decide what a line is. Where a
// model could read more structure than CommonMark does, it is taken for structure.
// Characters that show nothing hide no mark and part none (package chars).
//
// It is pure: text in, text out, and takes time linear in the length of the text.
// Any function may be called from any goroutine. The texts of private records are
// masked before, in the source (audience.View.Body).
package body

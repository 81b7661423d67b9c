package names

import "strings"

// typedAs returns the form of a folded name in which completion compares it: people type
// names of Turkish with the dots of their keyboard, and emoji in any colour. Names that
// differ in that are still not the same.
func typedAs(fold string) string {
	if !hasTypedForm(fold) {
		return fold
	}
	return typedForms.Replace(fold)
}

var typedForms = strings.NewReplacer("ı", "i", "i\u0307", "i", "\uFE0E", "", "\uFE0F", "")

// hasTypedForm reports whether a name may have another form than its fold: it has a
// first byte of ı, İ, the dot above or a selector of colours. That is quick to tell, and
// few names have any.
func hasTypedForm(name string) bool {
	for i := range len(name) {
		switch name[i] {
		case 0xC4, 0xCC, 0xEF:
			return true
		}
	}
	return false
}

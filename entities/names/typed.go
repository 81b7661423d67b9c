package names

import "strings"

// typedAs returns the form of a folded name that completion compares: ı and i with a dot
// above are i, since few keyboards have them, and the variation selectors of emoji and
// symbols are left out. Names that differ in that alone are still different names.
func typedAs(fold string) string {
	if !hasTypedForm(fold) {
		return fold
	}
	return typedForms.Replace(fold)
}

var typedForms = strings.NewReplacer("ı", "i", "i\u0307", "i", "\uFE0E", "", "\uFE0F", "")

// hasTypedForm reports whether typedForms may replace something of a folded name: it has
// the first byte of ı, of the dot above or of a variation selector. That is quicker to
// tell, and few names have one.
func hasTypedForm(name string) bool {
	for i := range len(name) {
		switch name[i] {
		case 0xC4, 0xCC, 0xEF:
			return true
		}
	}
	return false
}

package entities

import "github.com/ctxd/ctxd/entities/text"

// Fold returns the form under which names are compared (see text.Fold): two names
// are the same name when their folds are equal.
func Fold(s string) string { return text.Fold(s) }

// CompareNatural orders two names as people do (see text.CompareNatural).
func CompareNatural(a, b string) int { return text.CompareNatural(a, b) }

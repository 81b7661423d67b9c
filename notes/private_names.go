package notes

import (
	"slices"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/names"
)

// allNames returns what a note is called: its title and aliases, its file and its path,
// both without their endings. Each once.
func allNames(n *Note) []string {
	list := append([]string{n.Title}, n.Aliases...)
	if n.Path == "" {
		return list
	}
	for _, name := range [...]string{baseOf(n.Path), trimExt(n.Path)} {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// foldedNames returns allNames with their folds.
func foldedNames(n *Note) []names.Name {
	list := allNames(n)
	folded := make([]names.Name, len(list))
	for i, name := range list {
		folded[i] = names.Name{Text: name, Fold: entities.Fold(name)}
	}
	return folded
}

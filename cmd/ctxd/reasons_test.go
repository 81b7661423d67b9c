package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// conflicts are the ways to make a Conflict, each with what has to follow in the same statement.
var conflicts = []struct{ made, with *regexp.Regexp }{
	{regexp.MustCompile(`fault\.New\(fault\.Conflict,`), regexp.MustCompile(`^\b$`)}, // fault.Clash makes it, with its reason
	{regexp.MustCompile(`fault\.Wrap\(fault\.Conflict,`), regexp.MustCompile(`\.WithReason\(`)},
	{regexp.MustCompile(`Kind:\s+fault\.Conflict,`), regexp.MustCompile(`^ Reason: fault\.`)},
}

// TestAPI6_EachConflictHasAReason: clients switch on data.reason, so no Conflict is made without one.
func TestAPI6_EachConflictHasAReason(t *testing.T) {
	made := 0
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, c := range conflicts {
			for _, at := range c.made.FindAllIndex(text, -1) {
				made++
				statement, _, _ := strings.Cut(string(text[at[1]:]), "\n")
				if !c.with.MatchString(statement) {
					t.Errorf("%s: %s%s", path, text[at[0]:at[1]], statement)
				}
			}
		}
		return nil
	})
	if err != nil || made < 20 {
		t.Errorf("%d conflicts: %v", made, err)
	}
}

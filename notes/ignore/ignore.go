package ignore

import (
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/ctxd/ctxd/entities/text"
)

// Pattern is a line of an ignore file.
type Pattern struct {
	below       string // the folder in which it holds, with a slash at its end; "" for all
	prefix      string // what it begins with, up to its first wildcard
	glob        string // the rest
	isPath      bool   // it is compared with paths below its folder, and not with their last names
	negated     bool
	foldersOnly bool
}

// Comparable returns the form in which paths and patterns are compared: in NFC, since
// one file system writes an é as one character and another as two, and without regard to
// letter case where the file system folds it.
func Comparable(p string, folds bool) string {
	if folds {
		return text.Fold(p)
	}
	return norm.NFC.String(p)
}

// Parse reads an ignore file that lies in a folder, "." for that of the vault.
func Parse(file, dir string, folds bool) []Pattern {
	below := ""
	if dir != "." {
		below = Comparable(dir, folds) + "/"
	}
	var out []Pattern
	for line := range strings.Lines(strings.TrimPrefix(file, "\ufeff")) {
		line = trimBlanks(strings.TrimRight(line, "\r\n"))
		if strings.TrimSpace(line) == "" || line[0] == '#' {
			continue
		}
		line = Comparable(line, folds)
		if folds {
			line = strings.ReplaceAll(line, "[:upper:]", "[:lower:]")
		}
		out = append(out, parseLine(line, below))
	}
	return out
}

// trimBlanks takes blanks from the end of a line, but for one behind a backslash.
func trimBlanks(line string) string {
	short := strings.TrimRight(line, " ")
	slashes := len(short) - len(strings.TrimRight(short, `\`))
	if len(short) < len(line) && slashes%2 == 1 {
		short += " "
	}
	return short
}

func parseLine(line, below string) Pattern {
	p := Pattern{below: below}
	line, p.negated = strings.CutPrefix(line, "!")
	line, p.foldersOnly = strings.CutSuffix(line, "/")
	p.isPath = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	wildcard := strings.IndexAny(line, `*?[\`)
	if wildcard < 0 {
		wildcard = len(line)
	}
	p.prefix, p.glob = line[:wildcard], line[wildcard:]
	return p
}

// Match reports whether patterns exclude a path or a folder that it lies in. Of those
// that match, the last decides. The path is comparable.
func Match(patterns []Pattern, path string, isFolder bool) bool {
	if len(patterns) == 0 {
		return false
	}
	for i := range len(path) {
		if path[i] == '/' && excludes(patterns, path[:i], true) {
			return true // what is in it can't be included again
		}
	}
	return excludes(patterns, path, isFolder)
}

func excludes(patterns []Pattern, path string, isFolder bool) bool {
	for i := len(patterns) - 1; i >= 0; i-- {
		if p := &patterns[i]; p.matches(path, isFolder) {
			return !p.negated
		}
	}
	return false
}

func (p *Pattern) matches(path string, isFolder bool) bool {
	name, isBelow := strings.CutPrefix(path, p.below)
	if !isBelow || p.foldersOnly && !isFolder {
		return false
	}
	if !p.isPath {
		name = name[strings.LastIndexByte(name, '/')+1:]
	}
	rest, begins := strings.CutPrefix(name, p.prefix)
	return begins && matchesGlob(p.glob, rest)
}

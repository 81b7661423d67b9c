package ignore

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// attempt is where matching goes on when what follows a wildcard does not match.
type attempt struct {
	open bool
	glob string // behind the wildcard
	name string // that is tried next
}

// matchesGlob compares a name with a glob. A star matches any characters of a name but
// "/", "**/" any number of folders. It is enough to go back to the last of each: what
// the wildcards before them match could only be longer.
func matchesGlob(glob, name string) bool {
	var star, folders attempt
	atStart := true // of the glob, or behind a slash
	for {
		rest := strings.TrimLeft(glob, "*")
		switch stars := len(glob) - len(rest); {
		case glob == "" && name == "":
			return true
		case stars > 1 && atStart && rest == "":
			return true
		case stars > 1 && atStart && rest[0] == '/':
			glob = rest[1:]
			star, folders = attempt{}, attempt{true, glob, name}
			continue
		case stars > 0:
			glob, atStart = rest, false
			star = attempt{true, glob, name}
			continue
		case glob != "" && name != "":
			if behind, size := matchOne(glob, name); size > 0 {
				atStart = glob[len(glob)-len(behind)-1] == '/'
				glob, name = behind, name[size:]
				continue
			}
		}
		if star.open && star.name != "" && star.name[0] != '/' {
			_, size := utf8.DecodeRuneInString(star.name)
			star.name = star.name[size:]
			glob, name, atStart = star.glob, star.name, false
			continue
		}
		_, deeper, ok := strings.Cut(folders.name, "/")
		if !folders.open || !ok {
			return false
		}
		folders.name, star.open = deeper, false
		glob, name, atStart = folders.glob, deeper, true
	}
}

// matchOne compares the first character of a name with what a glob begins with. It
// returns the rest of the glob and the bytes of the character, 0 when they differ.
func matchOne(glob, name string) (rest string, size int) {
	r, size := utf8.DecodeRuneInString(name)
	switch glob[0] {
	case '?':
		if r == '/' {
			return "", 0
		}
		return glob[1:], size
	case '[':
		rest, in := matchClass(glob[1:], r)
		if !in || r == '/' {
			return "", 0
		}
		return rest, size
	case '\\':
		glob = glob[1:]
	}
	rest, same := strings.CutPrefix(glob, name[:size])
	if !same {
		return "", 0
	}
	return rest, size
}

// matchClass reports whether a character is of a class, which begins behind its
// bracket, and returns what follows its end. In a class that can't be read is none.
func matchClass(class string, r rune) (rest string, in bool) {
	negated := strings.HasPrefix(class, "!") || strings.HasPrefix(class, "^")
	if negated {
		class = class[1:]
	}
	const none = -1
	from := rune(none) // the character before, which a range may begin with
	for first := true; class != ""; first = false {
		if class[0] == ']' && !first {
			return class[1:], in != negated
		}
		if name, behind, ok := cutNamed(class); ok {
			is := named[name]
			if is == nil {
				return "", false
			}
			class, from, in = behind, none, in || is(r)
			continue
		}
		isRange := class[0] == '-' && from != none && len(class) > 1 && class[1] != ']'
		if isRange {
			class = class[1:]
		}
		c, behind := cutCharacter(class)
		switch class = behind; {
		case isRange:
			in, from = in || from <= r && r <= c, none
		default:
			in, from = in || c == r, c
		}
	}
	return "", false
}

// cutNamed cuts a class such as [:digit:] from what stands between brackets.
func cutNamed(class string) (name, rest string, ok bool) {
	class, ok = strings.CutPrefix(class, "[:")
	if !ok {
		return "", "", false
	}
	name, rest, closed := strings.Cut(class, "]")
	if !closed {
		return "", "", true // it has no end, and no name
	}
	name, ok = strings.CutSuffix(name, ":")
	return name, rest, ok
}

// cutCharacter cuts a character, which may stand behind a backslash.
func cutCharacter(class string) (r rune, rest string) {
	class = strings.TrimPrefix(class, `\`)
	r, size := utf8.DecodeRuneInString(class)
	return r, class[size:]
}

// named are the classes that have a name.
var named = map[string]func(r rune) bool{
	"alnum":  func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) },
	"alpha":  unicode.IsLetter,
	"blank":  func(r rune) bool { return r == ' ' || r == '\t' },
	"cntrl":  unicode.IsControl,
	"digit":  unicode.IsDigit,
	"graph":  func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) },
	"lower":  unicode.IsLower,
	"print":  unicode.IsPrint,
	"punct":  func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) },
	"space":  unicode.IsSpace,
	"upper":  unicode.IsUpper,
	"xdigit": func(r rune) bool { return unicode.Is(unicode.ASCII_Hex_Digit, r) },
}

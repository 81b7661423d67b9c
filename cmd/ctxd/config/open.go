package config

import (
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/text"
)

// OpenCommand is the program that ctxd open runs, with its arguments: what open.command says. Blanks part the words; a
// word with blanks stands in quotes. Placeholders are filled in behind that, so that no path is ever parted.
type OpenCommand string

// Placeholders of open.command.
const (
	placePath = "{path}"    // of the file, whole
	placeURL  = "{urlpath}" // the same as a part of an address
	placeLine = "{line}"    // from 1
)

var placeholder = text.Pattern(`\{[^{}]*\}`)

// Args returns the program and its arguments for a file and a line. Where nothing says where the path belongs it is the
// last argument. nil: no program is configured.
func (c OpenCommand) Args(path string, line int) []string {
	words, err := c.words()
	if err != nil || len(words) == 0 {
		return nil
	}
	address := url.URL{Path: filepath.ToSlash(path)}
	fill := strings.NewReplacer(placePath, path, placeURL, strings.ReplaceAll(address.EscapedPath(), "&", "%26"), placeLine, strconv.Itoa(line))
	named := false
	for i := range words[1:] {
		word := &words[i+1]
		named = named || strings.Contains(*word, placePath) || strings.Contains(*word, placeURL)
		*word = fill.Replace(*word)
	}
	if !named {
		words = append(words, path)
	}
	return words
}

// words parts the command at blanks outside of quotes.
func (c OpenCommand) words() (words []string, err *fault.Error) {
	var word strings.Builder
	begun, quote := false, rune(0)
	for _, r := range string(c) {
		switch {
		case r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			begun, quote = true, r
		case r == ' ' || r == '\t':
			if begun {
				words = append(words, word.String())
				word.Reset()
			}
			begun = false
		default:
			begun = true
			word.WriteRune(r)
		}
	}
	if quote != 0 {
		return nil, fault.New(fault.Invalid, "a quote %c has no end", quote).WithHint("write it as: code --goto '{path}:{line}'")
	}
	if begun {
		words = append(words, word.String())
	}
	return words, nil
}

// checkOpen tells what is wrong with a command.
func checkOpen(text string) *fault.Error {
	words, err := OpenCommand(text).words()
	switch {
	case err != nil:
		return err
	case strings.ContainsAny(text, "\x00\r\n"):
		return fault.New(fault.Invalid, "it has more than one line")
	case len(words) > 0 && (words[0] == "" || placeholder().MatchString(words[0])):
		return fault.New(fault.Invalid, "it begins with no program").WithHint("write it as: code --goto {path}:{line}")
	}
	for _, found := range placeholder().FindAllString(text, -1) {
		if found != placePath && found != placeURL && found != placeLine {
			return fault.New(fault.Invalid, "there is no %s", found).WithHint("give %s, %s or %s", placePath, placeLine, placeURL)
		}
	}
	return nil
}

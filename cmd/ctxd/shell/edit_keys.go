package shell

import (
	"bufio"
	"strings"
	"unicode"
)

// key is what a keyboard sends for one key: a character, or one of those below.
type key rune

// The keys that are no characters. Those with Ctrl are control characters.
const (
	keyUp key = unicode.MaxRune + 1 + iota
	keyDown
	keyLeft
	keyRight
	keyHome
	keyEnd
	keyDelete
	keyWordLeft
	keyWordRight
	keyNewLine // Alt-Enter
	keyPaste   // what follows is pasted, until keyPasted
	keyPasted
	keyUnknown
	keyAlt // plus a character: that key with Alt
)

const (
	ctrlA     key = 'A' - '@'
	ctrlB     key = 'B' - '@'
	ctrlC     key = 'C' - '@'
	ctrlD     key = 'D' - '@'
	ctrlE     key = 'E' - '@'
	ctrlF     key = 'F' - '@'
	ctrlG     key = 'G' - '@'
	ctrlH     key = 'H' - '@'
	keyTab    key = '\t'
	keyLF     key = '\n'
	ctrlK     key = 'K' - '@'
	ctrlL     key = 'L' - '@'
	keyEnter  key = '\r'
	ctrlN     key = 'N' - '@'
	ctrlP     key = 'P' - '@'
	ctrlR     key = 'R' - '@'
	ctrlU     key = 'U' - '@'
	ctrlW     key = 'W' - '@'
	ctrlY     key = 'Y' - '@'
	keyEscape key = 0x1b
	keyBack   key = 0x7f
)

// What a terminal is told so that it marks what is pasted, and no longer.
const (
	markPaste   = "\x1b[?2004h"
	UnmarkPaste = "\x1b[?2004l"
)

// controlKeys are the sequences behind ESC [ and ESC O, as terminals send them.
var controlKeys = map[string]key{
	"A": keyUp, "B": keyDown, "C": keyRight, "D": keyLeft, "H": keyHome, "F": keyEnd,
	"1~": keyHome, "7~": keyHome, "4~": keyEnd, "8~": keyEnd, "3~": keyDelete,
	"1;5C": keyWordRight, "1;3C": keyWordRight, "5C": keyWordRight, "c": keyWordRight,
	"1;5D": keyWordLeft, "1;3D": keyWordLeft, "5D": keyWordLeft, "d": keyWordLeft,
	"200~": keyPaste, "201~": keyPasted,
}

// altKeys are what Alt, or Escape before it, makes of a character.
var altKeys = map[rune]key{
	'b': keyWordLeft, 'B': keyWordLeft, 'f': keyWordRight, 'F': keyWordRight,
	'\r': keyNewLine, '\n': keyNewLine,
}

// readKey reads one key. Escape alone is a prefix, as in readline, so nothing
// hangs on how fast the characters of a sequence come.
func readKey(in *bufio.Reader) (key, error) {
	r, _, err := in.ReadRune()
	if err != nil || key(r) != keyEscape {
		return key(r), err
	}
	for key(r) == keyEscape {
		r, _, err = in.ReadRune()
		if err != nil {
			return 0, err
		}
	}
	switch {
	case r == '[':
		return controlKey(in)
	case r == 'O':
		r, _, err = in.ReadRune()
		if err != nil {
			return 0, err
		}
		return knownKey(string(r)), nil
	case altKeys[r] != 0:
		return altKeys[r], nil
	}
	return keyAlt + key(r), nil
}

// longestSequence bounds what is read of a sequence that nothing ends.
const longestSequence = 32

// controlKey reads the rest of a control sequence: parameters and a last
// character.
func controlKey(in *bufio.Reader) (key, error) {
	var b strings.Builder
	for b.Len() < longestSequence {
		r, _, err := in.ReadRune()
		if err != nil {
			return 0, err
		}
		b.WriteRune(r)
		if r >= '@' && r <= '~' {
			break
		}
	}
	return knownKey(b.String()), nil
}

func knownKey(sequence string) key {
	if k := controlKeys[sequence]; k != 0 {
		return k
	}
	return keyUnknown
}

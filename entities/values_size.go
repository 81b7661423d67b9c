package entities

import (
	"encoding/json"
	"unicode/utf8"
)

// jsonLength returns how many bytes json.Marshal makes of values. Texts are counted and not written: an import brings many
// in the turn of its writer. O(values).
func jsonLength(values Values) (int, error) {
	n := len("{}") + max(0, len(values)-1)
	for name, value := range values {
		text, ok := value.(string)
		if !ok {
			data, err := json.Marshal(value)
			if err != nil {
				return 0, err
			}
			n += len(data)
		} else {
			n += textLength(text)
		}
		n += textLength(name) + len(":")
	}
	return n, nil
}

// textLength is jsonLength for a text.
func textLength(s string) int {
	n := len(`""`)
	for i := 0; i < len(s); {
		if b := s[i]; b < utf8.RuneSelf {
			n += int(asciiLength[b])
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 || r == '\u2028' || r == '\u2029' {
			n += len(`\u2028`)
		} else {
			n += size
		}
		i += size
	}
	return n
}

// asciiLength is how many bytes JSON has for an ASCII character in a text.
var asciiLength = func() (of [utf8.RuneSelf]uint8) {
	for b := range of {
		data, err := json.Marshal(string(rune(b)))
		if err != nil {
			panic(err)
		}
		of[b] = uint8(len(data) - len(`""`))
	}
	return of
}()

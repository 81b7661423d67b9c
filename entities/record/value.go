package record

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/text"
)

// Check returns value in the form it is stored in, nil for an empty one, or an
// Invalid fault that names the field.
func (f Field) Check(value any) (any, error) {
	if value == nil {
		return nil, nil
	}
	info := f.Type.Info()
	switch {
	case f.Type.IsComputed():
		return nil, fault.Field(f.Name, "field %q is computed", f.Name).
			WithHint("leave it out: its query gives the value")
	case info.Form == NumberValue:
		if s, ok := value.(string); ok {
			return f.checkWritten(s)
		}
		n, ok := value.(float64)
		if !ok || math.IsNaN(n) || math.IsInf(n, 0) {
			return nil, f.mistyped("a number")
		}
		return n, nil
	case info.Form == TruthValue:
		b, ok := value.(bool)
		if !ok {
			return nil, f.mistyped("true or false")
		}
		return b, nil
	case info.Form == ListValue:
		return f.checkList(value)
	}
	s, ok := value.(string)
	if !ok {
		return nil, f.mistyped("a text")
	}
	if !utf8.ValidString(s) {
		return nil, fault.Field(f.Name, "field %q is not valid UTF-8", f.Name)
	}
	if strings.TrimSpace(s) == "" {
		return nil, nil
	}
	if info.check == nil {
		return s, nil
	}
	s, err := info.check(f, s)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// maxDigits is how many digits of a whole number a float64 has for sure.
const maxDigits = 15

// checkWritten returns the number that a text is, and the text itself where it would not come back from it: 02134, 1.10, 1e3.
// Whoever computes with it reads it with WrittenNumber.
func (f Field) checkWritten(s string) (any, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return nil, nil //nolint:nilnil // an empty field
	}
	n, ok := WrittenNumber(s)
	switch {
	case ok && FormatNumber(n) == s:
		return n, nil
	case ok:
		return s, nil
	case longNumber(s):
		return nil, fault.Field(f.Name, "field %q has a number of more than %d digits, which a number can't hold", f.Name, maxDigits).
			WithHint("declare the field as text, where it keeps every digit")
	}
	return nil, f.mistyped("a number")
}

// WrittenNumber returns the number that a text is as people write it, with leading and trailing zeros, a sign and an
// exponent. One of more whole digits than a number can hold is none.
func WrittenNumber(s string) (float64, bool) {
	s = strings.TrimSpace(s)
	if s == "" || strings.Trim(s, "+-.0123456789eE") != "" || longNumber(s) {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil && !math.IsInf(n, 0)
}

// longNumber reports whether a text is a whole number of more digits than a number can hold.
func longNumber(s string) bool {
	digits := strings.TrimLeft(strings.TrimLeft(s, "+-"), "0")
	return len(digits) > maxDigits && strings.Trim(digits, "0123456789") == ""
}

// KeptAsText reports whether a value of a vault stays a text in a field whose type it does not fit, with a diagnostic: the
// digits of a long number count.
func (f Field) KeptAsText(value any) (string, bool) {
	s, ok := value.(string)
	return s, ok && f.Type.Info().Form == NumberValue && longNumber(strings.TrimSpace(s))
}

// isNumber reports whether a text comes back from the number that it is.
func isNumber(s string) bool {
	n, ok := WrittenNumber(s)
	return ok && FormatNumber(n) == s
}

// checkList accepts a list, a JSON array in a string, and comma-separated
// text: note apps store lists in all three forms.
func (f Field) checkList(value any) (any, error) {
	var items []string
	switch v := value.(type) {
	case []string:
		items = v
	case []any:
		for _, item := range v {
			s, ok := item.(string)
			if !ok {
				return nil, f.mistyped("a list of texts")
			}
			items = append(items, s)
		}
	case string:
		items = splitList(v)
	default:
		return nil, f.mistyped("a list of texts")
	}
	out := make([]string, 0, len(items))
	for _, item := range items {
		if !utf8.ValidString(item) {
			return nil, fault.Field(f.Name, "field %q is not valid UTF-8", f.Name)
		}
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		if check := f.Type.Info().check; check != nil {
			checked, err := check(f, item)
			if err != nil {
				return nil, err
			}
			item = checked
		}
		out = append(out, item)
	}
	if len(out) == 0 {
		return nil, nil
	}
	return out, nil
}

// splitList splits a list that is stored as one text.
func splitList(s string) []string {
	if strings.HasPrefix(strings.TrimSpace(s), "[") {
		var items []string
		if json.Unmarshal([]byte(s), &items) == nil {
			return items
		}
	}
	var items []string
	depth, start := 0, 0
	for i := 0; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], "[["):
			depth++
			i++
		case strings.HasPrefix(s[i:], "]]") && depth > 0:
			depth--
			i++
		case s[i] == ',' && depth == 0: // a comma in a link belongs to its title
			items = append(items, s[start:i])
			start = i + 1
		}
	}
	return append(items, s[start:])
}

func (f Field) mistyped(want string) *fault.Error {
	return fault.Field(f.Name, "field %q is not %s", f.Name, want).WithHint("the field is of type %s", f.Type)
}

// LinkTarget returns the text between the brackets of a reference that is
// written as a link, "[[Title]]".
func LinkTarget(s string) (string, bool) {
	inner, ok := strings.CutPrefix(s, "[[")
	if !ok {
		return "", false
	}
	inner, ok = strings.CutSuffix(inner, "]]")
	if !ok || strings.TrimSpace(inner) == "" || strings.ContainsAny(inner, "[]\n\r") {
		return "", false
	}
	return inner, true
}

// NeverLed reports whether a reference that leads to no record is a name that was written
// where an id belongs: a link, or a text unlike the ids that are made here. What it means
// may come; another one led to a record that is gone.
func NeverLed(ref string) bool {
	_, isLink := LinkTarget(ref)
	return isLink || uuid.Validate(ref) != nil
}

// Lenient turns a value from YAML into what the field's type expects, where
// the meaning is plain. What it can't turn it leaves for Check to refuse.
func (f Field) Lenient(value any) any {
	info := f.Type.Info()
	switch {
	case info.Form == NumberValue:
	case info.Form == TruthValue:
		if s, ok := value.(string); ok {
			switch text.Fold(strings.TrimSpace(s)) {
			case "yes", "on", "true":
				return true
			case "no", "off", "false":
				return false
			}
		}
	case info.Form == ListValue:
		items, err := listTexts(value)
		if err != nil {
			return value
		}
		if info.To != NoTarget {
			for i, item := range items {
				items[i] = asLink(item)
			}
		}
		return items
	case info.To != NoTarget:
		if items, err := listTexts(value); err == nil && len(items) == 1 {
			return asLink(items[0])
		}
	default:
		if s, err := scalarText(value); err == nil {
			return s
		}
	}
	return value
}

// asLink writes a bare name as the link that it means in a vault.
func asLink(s string) string {
	s = strings.TrimSpace(s)
	if _, ok := LinkTarget(s); ok || s == "" {
		return s
	}
	return "[[" + strings.TrimPrefix(s, "@") + "]]"
}

var errNotScalar = errors.New("not a scalar")

func scalarText(value any) (string, error) {
	switch v := value.(type) {
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case float64:
		return FormatNumber(v), nil
	}
	return "", errNotScalar
}

func listTexts(value any) ([]string, error) {
	switch v := value.(type) {
	case []string:
		return append([]string(nil), v...), nil
	case []any:
		items := make([]string, 0, len(v))
		for _, item := range v {
			s, err := scalarText(item)
			if err != nil {
				return nil, err
			}
			items = append(items, s)
		}
		return items, nil
	}
	s, err := scalarText(value)
	if err != nil {
		return nil, err
	}
	return splitList(s), nil
}

// FormatNumber writes a number as people do: without an exponent below 1e21,
// with as many digits as it takes to read the same number back.
func FormatNumber(n float64) string {
	if math.Abs(n) >= 1e21 {
		return strconv.FormatFloat(n, 'g', -1, 64)
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// IsID reports whether a text is an id: 1 to 64 letters, digits, hyphens and
// underscores.
func IsID(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return 0 < len(s) && len(s) <= 64
}

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
		if s, ok := value.(string); ok {
			if n, err := strconv.ParseFloat(strings.TrimSpace(s), 64); err == nil {
				return n
			}
		}
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

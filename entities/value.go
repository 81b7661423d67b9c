package entities

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities/fault"
)

// CheckValues checks the values of an entity against its type and returns them
// in the form they are stored in: field names as declared, selects spelt as
// the option, lists as []string. A nil value is an empty field and left out.
// The error is an Invalid fault that names the field as "fields.NAME", or a
// Limit fault when they have more than maxBytes as JSON.
func CheckValues(t *Type, values Values, maxBytes int) (Values, error) {
	out := make(Values, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := values[name]
		f, ok := t.Field(name)
		if !ok {
			return nil, unknownField(t, name)
		}
		v, err := f.Check(value)
		if err != nil {
			return nil, fault.Under("fields", err)
		}
		if v == nil {
			continue
		}
		if _, twice := out[f.Name]; twice {
			return nil, fault.Field("fields."+f.Name, "field %q is given twice", f.Name)
		}
		out[f.Name] = v
	}
	if err := checkRequired(t, out); err != nil {
		return nil, err
	}
	return out, checkFieldBytes(out, maxBytes)
}

// ParseValues reads values that people wrote by hand, as in frontmatter. It is
// lenient about form (a number for a text, "yes" for a boolean, a bare name
// for a reference) and returns one problem for each value that still does not
// fit; the others are kept.
func ParseValues(t *Type, values Values, maxBytes int) (Values, []error) {
	out := make(Values, len(values))
	var problems []error
	for _, f := range t.Fields {
		value, ok := values[f.Name]
		if !ok {
			continue
		}
		v, err := f.Check(f.lenient(value))
		switch {
		case err != nil:
			problems = append(problems, fault.Under("fields", err))
		case v != nil:
			out[f.Name] = v
		}
	}
	if err := checkRequired(t, out); err != nil {
		problems = append(problems, err)
	}
	if err := checkFieldBytes(out, maxBytes); err != nil {
		return Values{}, append(problems, err)
	}
	return out, problems
}

func unknownField(t *Type, name string) error {
	e := fault.Field("fields."+strings.Trim(quoted(name), `"`), "type %s has no field %s", t.Name, quoted(name))
	names := make([]string, 0, len(t.Fields))
	for _, f := range t.Fields {
		names = append(names, f.Name)
	}
	if len(names) == 0 {
		return e.WithHint("declare the field with types.put first")
	}
	return e.WithHint("its fields are %s", strings.Join(names, ", "))
}

func checkRequired(t *Type, values Values) error {
	for _, f := range t.Fields {
		if _, ok := values[f.Name]; f.Required && !ok {
			return fault.Field("fields."+f.Name, "field %q of type %s is required", f.Name, t.Name)
		}
	}
	return nil
}

func checkFieldBytes(values Values, maxBytes int) error {
	data, err := json.Marshal(values)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "field values can't be encoded")
	}
	if len(data) > maxBytes {
		return fault.TooLarge("fields", len(data), maxBytes, "bytes")
	}
	return nil
}

// Check returns value in the form it is stored in, nil for an empty one, or an
// Invalid fault that names the field.
func (f Field) Check(value any) (any, error) {
	if value == nil {
		return nil, nil
	}
	switch f.Type {
	case Computed:
		return nil, fault.Field(f.Name, "field %q is computed", f.Name).
			WithHint("leave it out: its query gives the value")
	case Number:
		n, ok := value.(float64)
		if !ok || math.IsNaN(n) || math.IsInf(n, 0) {
			return nil, f.mistyped("a number")
		}
		return n, nil
	case Boolean:
		b, ok := value.(bool)
		if !ok {
			return nil, f.mistyped("true or false")
		}
		return b, nil
	case TextList, EntityRefList:
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
	s, err := f.checkText(s)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// checkText checks one non-blank value of a type that is stored as a string.
func (f Field) checkText(s string) (string, error) {
	switch f.Type {
	case Text:
		return s, nil
	case Email:
		s = strings.TrimSpace(s)
		if addr, err := mail.ParseAddress(s); err != nil || addr.Address != s {
			return "", f.mistyped("one e-mail address")
		}
	case URL:
		s = strings.TrimSpace(s)
		if u, err := url.Parse(s); err != nil || u.Scheme == "" || u.Host == "" && u.Opaque == "" {
			return "", f.mistyped("an absolute URL").WithHint("write it with its scheme, as in https://example.org")
		}
	case Date:
		s = strings.TrimSpace(s)
		if _, err := time.Parse(time.DateOnly, s); err != nil {
			return "", f.mistyped("a date").WithHint("write it as YYYY-MM-DD")
		}
	case Select:
		for _, option := range f.Options {
			if Fold(option) == Fold(strings.TrimSpace(s)) {
				return option, nil
			}
		}
		return "", fault.Field(f.Name, "field %q has no such option", f.Name).
			WithHint("its options are %s", strings.Join(f.Options, ", "))
	case EntityRef, NoteRef:
		return f.checkRef(s)
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
		if f.Type == EntityRefList {
			ref, err := f.checkRef(item)
			if err != nil {
				return nil, err
			}
			item = ref
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

func (f Field) checkRef(s string) (string, error) {
	s = strings.TrimSpace(s)
	if isID(s) {
		return s, nil
	}
	if _, ok := LinkTarget(s); ok {
		return s, nil
	}
	return "", f.mistyped("a reference").WithHint("give the id of the record, or a link as in [[Title]]")
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

// lenient turns a value from YAML into what the field's type expects, where
// the meaning is plain. What it can't turn it leaves for Check to refuse.
func (f Field) lenient(value any) any {
	switch f.Type {
	case Number:
		if s, ok := value.(string); ok {
			if n, err := strconv.ParseFloat(strings.TrimSpace(s), 64); err == nil {
				return n
			}
		}
	case Boolean:
		if s, ok := value.(string); ok {
			switch Fold(strings.TrimSpace(s)) {
			case "yes", "on", "true":
				return true
			case "no", "off", "false":
				return false
			}
		}
	case TextList, EntityRefList:
		items, err := listTexts(value)
		if err != nil {
			return value
		}
		if f.Type == EntityRefList {
			for i, item := range items {
				items[i] = asLink(item)
			}
		}
		return items
	case EntityRef, NoteRef:
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

package entities

import (
	"cmp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// Sizes that a record may have. Over them a write is a Limit error that names
// the field. Those that Limits has are the defaults of its members.
const (
	MaxName       = 512       // code points of a name, title or alias
	MaxAliases    = 100       // aliases of a record
	MaxFieldBytes = 256 << 10 // bytes of all field values of an entity as JSON
	MaxFields     = 200       // fields of a type
	MaxTypeName   = record.MaxTypeName
	MaxQueryBytes = 4 << 10 // bytes of the query of a computed field
	MaxMany       = 1000    // records of one call that writes many
)

// Limits are the sizes that can be configured. A zero member stands for its
// default. What was stored under wider limits stays and can be read.
type Limits struct {
	Name       int // code points of a name, title or alias
	FieldBytes int // bytes of all field values of an entity as JSON
	Fields     int // fields of a type
}

func (l Limits) withDefaults() Limits {
	return Limits{
		Name:       cmp.Or(l.Name, MaxName),
		FieldBytes: cmp.Or(l.FieldBytes, MaxFieldBytes),
		Fields:     cmp.Or(l.Fields, MaxFields),
	}
}

// CheckID refuses an id that could not stand in a prompt as it is.
func CheckID(field, id string) error {
	if record.IsID(id) {
		return nil
	}
	return fault.Field(field, "%s is not an id", field).
		WithHint("ids are 1 to 64 letters, digits, hyphens and underscores")
}

// quoted is a text of the caller as it may be repeated in a message.
func quoted(s string) string {
	const limit = 80
	n := 0
	for at := range s {
		if n == limit {
			return strconv.Quote(s[:at] + "…")
		}
		n++
	}
	return strconv.Quote(s)
}

// CheckName refuses a name that is empty, too long or not valid UTF-8, and
// returns it without surrounding blanks.
func CheckName(field, name string, max int) (string, error) {
	if !utf8.ValidString(name) {
		return "", fault.Field(field, "%s is not valid UTF-8", field)
	}
	name = strings.TrimFunc(name, unicode.IsSpace)
	if name == "" {
		return "", fault.Field(field, "%s is empty", field).WithHint("give a %s", field)
	}
	if n := utf8.RuneCountInString(name); n > max {
		return "", fault.TooLarge(field, n, max, "characters")
	}
	return name, nil
}

// CheckAliases checks a list of names of at most maxName code points each, and
// drops blank and repeated ones.
func CheckAliases(aliases []string, maxName int) ([]string, error) {
	if len(aliases) > MaxAliases {
		return nil, fault.TooLarge("aliases", len(aliases), MaxAliases, "items")
	}
	out := make([]string, 0, len(aliases))
	seen := make(map[string]bool, len(aliases))
	for _, alias := range aliases {
		if strings.TrimSpace(alias) == "" {
			continue
		}
		alias, err := CheckName("aliases", alias, maxName)
		if err != nil {
			return nil, err
		}
		if key := Fold(alias); !seen[key] {
			seen[key] = true
			out = append(out, alias)
		}
	}
	return out, nil
}

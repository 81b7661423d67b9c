package columns

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Text writes a value as people do, times with day; "" for none.
func Text(value any, day func(time.Time) string) string {
	switch v := value.(type) {
	case nil:
		return ""
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = Text(item, day)
		}
		return strings.Join(parts, ", ")
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case time.Time:
		return day(v)
	case map[string]any:
		return recordText(v)
	}
	return fmt.Sprint(value)
}

// recordText names the record that a reference leads to.
func recordText(v map[string]any) string {
	get := func(key string) string { s, _ := v[key].(string); return s }
	name := cmp.Or(get("name"), get("id"))
	switch {
	case get("error") != "":
		return "fails: " + get("error")
	case get("state") != "":
		return "@" + name + " (" + get("state") + ")"
	case get("kind") == "note" && get("name") == "":
		return name + " (no such note)"
	case get("kind") == "note":
		return "[[" + name + "]]"
	}
	return "@" + name
}

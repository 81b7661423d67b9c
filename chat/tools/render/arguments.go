package render

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// ArgumentKind is what an argument of a tool holds, as its JSON schema has it.
type ArgumentKind struct {
	Type  string // string, integer, number, boolean, array or object
	Items string // of an array: what its items are
}

// alike are names that models give to an argument that is called otherwise, by what it is called; the first that the tool
// has is meant.
var alike = []struct{ name, others string }{
	{"query", "q text search searchquery querystring question keywords words"},
	{"question", "q query text"},
	{"text", "query q content message prompt"},
	{"statement", "text content memory fact"},
	{"note", "id title name path ref noteid notepath notetitle"},
	{"id", "note title name path ref noteid memoryid"},
	{"entity", "id name ref entityid"},
	{"book", "id title name ref bookid"},
	{"memory", "id ref number memoryid"},
	{"record", "id name note entity ref"},
	{"limit", "max n count k topk maxresults numresults size"},
	{"path", "file filename note filepath"},
}

// LenientArguments returns the arguments of a call as they are meant, where that is certain: small models, and some hosts,
// write numbers and lists as texts, null for what they leave out, one item for a list of one, the object as a text, and a
// name as other tools have it. What is not certain stays, for an error that says what is wanted. Nothing is read of what is
// no object.
func LenientArguments(raw json.RawMessage, declared map[string]ArgumentKind) json.RawMessage {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" || string(raw) == `""` {
		return json.RawMessage("{}")
	}
	var whole string
	if raw[0] == '"' && json.Unmarshal(raw, &whole) == nil && strings.HasPrefix(strings.TrimSpace(whole), "{") && json.Valid([]byte(whole)) {
		raw = json.RawMessage(whole)
	}
	var given map[string]json.RawMessage
	dec := json.NewDecoder(bytes.NewReader(raw))
	if dec.Decode(&given) != nil || dec.More() || given == nil {
		return raw
	}
	changed := false
	maps.DeleteFunc(given, func(_ string, v json.RawMessage) bool {
		gone := string(v) == "null"
		changed = changed || gone
		return gone
	})
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, ok := declared[name]; ok {
			continue
		}
		if now := meant(name, declared, given); now != "" {
			given[now] = given[name]
			delete(given, name)
			changed = true
		}
	}
	for name, kind := range declared {
		value, ok := given[name]
		if !ok {
			continue
		}
		if fits, other := kind.read(value); other {
			given[name], changed = fits, true
		}
	}
	if !changed {
		return raw
	}
	out, err := json.Marshal(given)
	if err != nil {
		return raw
	}
	return out
}

// meant returns the argument that a name stands for, "" for none that is certain: it is written a little otherwise, or
// called as other tools call it, and was not given by its own name.
func meant(name string, declared map[string]ArgumentKind, given map[string]json.RawMessage) string {
	plain := plainName(name)
	free := func(own string) bool {
		_, is := declared[own]
		_, has := given[own]
		return is && !has
	}
	for own := range declared {
		if p := plainName(own); free(own) && (p == plain || p == plain+"s" || p+"s" == plain) {
			return own
		}
	}
	for _, a := range alike {
		if free(a.name) && slices.Contains(strings.Fields(a.others), plain) {
			return a.name
		}
	}
	return ""
}

func plainName(name string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(name))
}

// read returns a value as the kind has it, and whether that is another one.
func (k ArgumentKind) read(v json.RawMessage) (out json.RawMessage, other bool) {
	var s string
	isText := json.Unmarshal(v, &s) == nil
	text := strings.TrimSpace(s)
	switch k.Type {
	case "integer", "number":
		written := string(v)
		if isText {
			written = text
		}
		f, err := strconv.ParseFloat(written, 64)
		if err != nil || math.IsInf(f, 0) || math.IsNaN(f) || written == "" {
			return v, false
		}
		if k.Type == "integer" && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			out = json.RawMessage(strconv.FormatFloat(f, 'f', -1, 64))
		} else if out, err = json.Marshal(f); err != nil {
			return v, false
		}
		return out, string(out) != string(v)
	case "boolean":
		if lower := strings.ToLower(text); lower == "true" || lower == "false" {
			return json.RawMessage(lower), isText
		}
	case "array":
		var list []json.RawMessage
		switch {
		case isText && strings.HasPrefix(text, "[") && json.Unmarshal([]byte(text), &list) == nil:
			return json.RawMessage(text), true
		case isText && text != "" && k.Items == "string" && !strings.ContainsAny(text, ",\n[]{}"):
			out, _ = json.Marshal([]string{s}) // strings can be encoded
			return out, true
		}
	case "object":
		if isText && strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
			return json.RawMessage(text), true
		}
	case "string":
		var n json.Number
		var one []string
		switch {
		case isText:
		case json.Unmarshal(v, &n) == nil:
			out, _ = json.Marshal(n.String())
			return out, true
		case json.Unmarshal(v, &one) == nil && len(one) == 1:
			out, _ = json.Marshal(one[0])
			return out, true
		}
	}
	return v, false
}

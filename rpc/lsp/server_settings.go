package lsp

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// Settings are what the user has said in the editor, under the name ctxd. The tags hold
// what a value may be, the first being the default, and what it is for.
type Settings struct {
	Import     string `json:"import" values:"ask,always,never" about:"whether a vault of an open note or of a workspace folder is imported and followed when the daemon does not have it"`
	Links      string `json:"links" values:"title,path,alias" about:"how a completed link is written: by the title where that names one note, by the path, or by the path with the title shown"`
	Rename     string `json:"rename" values:"both,file,title" about:"what renaming a note changes: its file, its title or first heading where they equal the old name, or both"`
	InlayHints bool   `json:"inlayHints" values:"true,false" about:"show the title behind a link that does not say it, and the value of a computed field"`
	CodeLens   bool   `json:"codeLens" values:"true,false" about:"show above a note how many notes link to it"`
	Limit      int    `json:"limit" values:"20" about:"items of a completion at most, 1 to 100"`
}

// Setting is one setting, for the table of the README.
type Setting struct {
	Name, About string
	Values      []string // the first is the default
}

// AllSettings lists the settings.
func AllSettings() (list []Setting) {
	for f := range fields() {
		list = append(list, Setting{
			Name: "ctxd." + f.Tag.Get("json"), About: f.Tag.Get("about"), Values: strings.Split(f.Tag.Get("values"), ","),
		})
	}
	return list
}

func fields() func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		t := reflect.TypeFor[Settings]()
		for i := range t.NumField() {
			if !yield(t.Field(i)) {
				return
			}
		}
	}
}

// defaultSettings are those of a user who has said nothing.
func defaultSettings() (s Settings) {
	s.apply(map[string]json.RawMessage{})
	return s
}

// read takes settings over from what an editor sends: an object, alone or under the name
// ctxd. What is not a value of its setting is the default, and named in bad.
func readSettings(raw json.RawMessage) (s Settings, bad []string) {
	var given map[string]json.RawMessage
	if json.Unmarshal(raw, &given) != nil {
		given = nil
	}
	if inner, ok := given["ctxd"]; ok {
		given = nil
		if json.Unmarshal(inner, &given) != nil {
			given = nil
		}
	}
	bad = s.apply(given)
	return s, bad
}

// apply sets every setting, to its default where nothing fit is given.
func (s *Settings) apply(given map[string]json.RawMessage) (bad []string) {
	v := reflect.ValueOf(s).Elem()
	for f := range fields() {
		name, values := f.Tag.Get("json"), strings.Split(f.Tag.Get("values"), ",")
		to := v.FieldByIndex(f.Index)
		raw, ok := given[name]
		if !ok {
			raw, ok = given["ctxd."+name]
		}
		if ok && string(raw) != "null" && json.Unmarshal(raw, to.Addr().Interface()) == nil && fits(to, values) {
			continue
		}
		if ok && string(raw) != "null" {
			bad = append(bad, "ctxd."+name)
		}
		first := values[0]
		if to.Kind() == reflect.String {
			first = `"` + first + `"`
		}
		_ = json.Unmarshal([]byte(first), to.Addr().Interface()) // a tag of ours
	}
	return bad
}

// fits reports whether a value is one of those that a setting may have.
func fits(v reflect.Value, values []string) bool {
	switch v.Kind() {
	case reflect.String:
		return slices.Contains(values, v.String())
	case reflect.Int:
		return v.Int() >= 1 && v.Int() <= 100
	default:
		return true
	}
}

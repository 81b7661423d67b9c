package exchange

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/google/uuid"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/record"
)

// space is the namespace of the ids that are made of what another program says: the same text gets the same id,
// and is taken in once.
var space = uuid.MustParse("b7f6c1de-41a5-4d0e-9d0c-3a1e0f6a7c52")

// foreign returns a memory of another program. Its kind is what the program calls it, where there is such a kind.
func foreign(program, statement, category string, tags []string) *memory.Draft {
	d := &memory.Draft{
		ID:        uuid.NewSHA1(space, []byte(program+"\x00"+strings.ToLower(strings.Join(strings.Fields(statement), " ")))).String(),
		Statement: statement, Source: record.MemorySource{Kind: "import", Client: program},
	}
	category = strings.ToLower(strings.TrimSpace(category))
	switch {
	case category == record.MemoryTakeaway: // is not for the tier of what a person is like
		d.Kind, d.Tier = category, record.TierPatterns
	case slices.Contains(record.MemoryKinds, category):
		d.Kind = category
	case category != "":
		tags = append([]string{category}, tags...)
	}
	for _, t := range tags {
		if t = label(t); t != "" && len(d.Tags) < memory.MaxLabels {
			d.Tags = append(d.Tags, t)
		}
	}
	return d
}

// label makes a tag of what another program calls one; empty where nothing is left.
func label(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return '-'
		case r == '/' || r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r):
			return r
		}
		return -1
	}, strings.TrimSpace(s))
	parts := slices.DeleteFunc(strings.Split(s, "/"), func(part string) bool { return part == "" })
	s = strings.Join(parts, "/")
	if len([]rune(s)) > memory.MaxLabel || strings.Trim(s, "-_/") == "" {
		return ""
	}
	return s
}

// keep remembers a member that is not known here.
func keep(d *memory.Draft, name string, value any) {
	raw, err := json.Marshal(value)
	if err != nil {
		return // of values that were JSON, which cannot be
	}
	if d.Other == nil {
		d.Other = make(map[string]json.RawMessage)
	}
	d.Other[name] = bytes.ToValidUTF8(raw, []byte("\uFFFD")) // as in every other text: an export of it is read again
}

package vault

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

// maxValues is how many bytes the values of an entity may have.
const maxValues = 1 << 20

func (d *doctor) frontmatter() {
	bad := d.doc.FrontmatterErr
	if bad == nil {
		return
	}
	start, end := lineOf(d.note.Body, max(bad.Line, 1))
	d.add(Problem{
		Start: start, End: end, Code: CodeFrontmatter, Severity: SeverityError, Message: "the frontmatter is left out: " + fault.Message(bad),
	})
}

// values looks at the values of the fields, and returns the name of the type; "" for none.
func (d *doctor) values() string {
	types, _ := notes.InferTypes(d.doc)
	name, _ := notes.ChooseType(types, func(name string) bool {
		t := d.ents.TypesNamed(name).Own(d.where.Vault)
		return t != nil && !t.Inferred
	})
	t := d.ents.TypesNamed(name).Own(d.where.Vault)
	if name == "" || t == nil {
		return ""
	}
	if f, ok := d.doc.Frontmatter.Get("type"); ok && t.Inferred {
		start, end := lineOf(d.note.Body, f.Line)
		d.add(Problem{
			Start: start, End: end, Code: CodeInferred, Severity: SeverityHint, Type: t.Name,
			Message: "the type " + t.Name + " is inferred from what notes say; a declaration keeps its fields as they are",
		})
	}
	_, bad := entities.ParseValues(t, notes.InferValues(t, d.doc), maxValues)
	for _, err := range bad {
		var about *fault.Error
		if !errors.As(err, &about) {
			continue
		}
		field, _, _ := strings.Cut(strings.TrimPrefix(about.Field, "fields."), "[")
		d.value(t, field, about)
	}
	for _, f := range t.Fields {
		if f.Type.IsRef() && f.Type.Info().To == record.ToEntity {
			d.references(f)
		}
	}
	return t.Name
}

// value adds a value that does not fit its field.
func (d *doctor) value(t *entities.Type, name string, why *fault.Error) {
	f, _ := t.Field(name)
	said, ok := d.doc.Frontmatter.Get(name)
	if !ok { // it is required, and not there
		start, end := lineOf(d.note.Body, 1)
		d.add(Problem{Start: start, End: end, Code: CodeValue, Severity: SeverityWarning, Message: fault.Message(why), Type: t.Name})
		return
	}
	start, end := valuePlace(d.note.Body, said)
	p := Problem{Start: start, End: end, Code: CodeValue, Severity: SeverityWarning, Message: fault.Message(why), Type: t.Name}
	if why.Hint != "" {
		p.Message += " (try: " + why.Hint + ")"
	}
	for _, option := range fitting(f, said.Raw) {
		p.Fixes = append(p.Fixes, Fix{"Change to " + option, Edit{Start: start, End: end, New: option}})
	}
	d.add(p)
}

// fitting returns values that fit a field and are like what was written.
func fitting(f entities.Field, said string) []string {
	switch {
	case said == "":
		return nil
	case len(f.Options) > 0:
		if near := likest(f.Options, said); len(near) > 0 {
			return near
		}
		return f.Options[:min(len(f.Options), maxFixes)]
	case f.Type == record.Boolean:
		return []string{"true", "false"}
	case f.Type == record.Date:
		return dates(said)
	case f.Type == record.Number:
		return numbers(said)
	}
	return nil
}

// references adds names in a field that no entity has.
func (d *doctor) references(f entities.Field) {
	said, ok := d.doc.Frontmatter.Get(f.Name)
	if !ok {
		return
	}
	for _, name := range said.Texts() {
		if _, isLink := markdown.ParseLink(name); isLink || name == "" || len(d.ents.Named(name, nil)) > 0 || d.ents.Get(name) != nil {
			continue
		}
		start, end := valuePlace(d.note.Body, said)
		if i := strings.Index(d.note.Body[start:], name); i >= 0 {
			start, end = start+i, start+i+len(name)
		}
		p := Problem{
			Start: start, End: end, Code: CodeReference, Severity: SeverityWarning,
			Message: fmt.Sprintf("no entity is called %s", name),
		}
		var all []string
		if f.TargetType != "" {
			for _, e := range d.ents.OfType(f.TargetType) {
				all = append(all, e.Name)
			}
		}
		for _, near := range likest(all, name) {
			p.Fixes = append(p.Fixes, Fix{"Change to " + near, Edit{Start: start, End: end, New: near}})
		}
		d.add(didYouMean(p))
	}
}

// valuePlace returns where the value of a key stands on its line, without quotes; the key where it stands on others.
func valuePlace(text string, f markdown.FrontmatterField) (start, end int) {
	start, end = lineOf(text, f.Line)
	line := text[start:end]
	_, value, ok := strings.Cut(line, ":")
	value = strings.TrimSpace(value)
	if !ok || value == "" {
		return start, end
	}
	if i := strings.LastIndex(line, f.Raw); f.Raw != "" && i > 0 {
		return start + i, start + i + len(f.Raw)
	}
	i := strings.LastIndex(line, value)
	return start + i, start + i + len(value)
}

// queries looks at the fenced blocks that hold a query.
func (d *doctor) queries(check QueryCheck, typeName string) {
	s := d.note.Body
	for at := d.doc.BodyStart; at < len(s); {
		end, next := markdown.LineEnd(s, at)
		fence := strings.TrimLeft(s[at:end], " \t")
		mark := ""
		for _, m := range []string{"```", "~~~"} {
			if strings.HasPrefix(fence, m) {
				mark = fence[:len(fence)-len(strings.TrimLeft(fence, m[:1]))]
			}
		}
		if mark == "" {
			at = next
			continue
		}
		info := strings.Fields(fence[len(mark):] + " -")[0]
		start := next
		for at = next; at < len(s); at = next {
			end, next = markdown.LineEnd(s, at)
			if line := strings.TrimSpace(s[at:end]); strings.HasPrefix(line, mark) && strings.Trim(line, mark[:1]) == "" {
				break
			}
		}
		if text.Fold(info) == "wql" && strings.TrimSpace(s[start:at]) != "" {
			d.query(check, start, s[start:at], typeName)
		}
		at = next
		if next == len(s) {
			break
		}
	}
}

// query adds the errors of one query, which begins at a place.
func (d *doctor) query(check QueryCheck, at int, query, typeName string) {
	for _, found := range check(strings.TrimRight(query, "\r\n"), typeName) {
		start, end := QueryPlace(query, found)
		p := Problem{Start: at + start, End: at + end, Code: CodeQuery, Severity: found.Severity, Message: found.Message}
		if found.Hint != "" {
			p.Message += " (try: " + found.Hint + ")"
		}
		d.add(p)
	}
}

// QueryPlace returns where the word stands that a diagnostic of a query is about.
func QueryPlace(query string, d record.Diagnostic) (start, end int) {
	start, stop := lineOf(query, d.Line)
	units := 0
	for i, r := range query[start:stop] {
		if units >= d.Column-1 {
			start += i
			break
		}
		if units++; r > 0xFFFF {
			units++
		}
		if i+len(string(r)) == stop-start {
			start = stop
			break
		}
	}
	end = start
	for end < stop && strings.IndexByte(" \t,()=<>!'\"", query[end]) < 0 {
		end++
	}
	return start, max(end, min(start+1, stop))
}

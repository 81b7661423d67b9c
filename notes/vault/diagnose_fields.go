package vault

import (
	"cmp"
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

// head looks at the frontmatter.
func (d *doctor) head() {
	d.frontmatter()
	d.types()
	if d.note.Private {
		if doubt := d.store.WhyPrivate(d.note).Doubt; doubt != "" {
			start, end := lineOf(d.note.Body, 1)
			d.add(Problem{Start: start, End: end, Code: record.PrivateDoubt, Severity: SeverityWarning, Message: doubt})
		}
	}
	d.values()
}

func (d *doctor) frontmatter() {
	bad := d.doc().FrontmatterErr
	if bad == nil {
		return
	}
	start, end := lineOf(d.note.Body, max(bad.Line, 1))
	d.add(Problem{
		Start: start, End: end, Code: record.Frontmatter, Severity: SeverityError, Message: "the frontmatter is left out: " + fault.Message(bad),
	})
}

// types adds what of the types that the note names is not the type of its entity.
func (d *doctor) types() {
	for _, message := range typeWarnings(d.doc()) {
		start, end := lineOf(d.note.Body, 1)
		if f, ok := d.doc().Frontmatter.Get("type"); ok {
			start, end = lineOf(d.note.Body, f.Line)
		}
		d.add(Problem{Start: start, End: end, Code: record.TypeNames, Severity: SeverityInformation, Message: message})
	}
}

// typeOf returns the type of the entity of the note, nil for none.
func (d *doctor) typeOf() *entities.Type {
	own := func(name string) *entities.Type { return d.ents.TypesNamed(name).Own(d.vault) }
	types, _ := notes.InferTypes(d.doc())
	name, _ := notes.ChooseType(types, func(name string) bool {
		t := own(name)
		return t != nil && !t.Inferred
	})
	if name == "" {
		return nil
	}
	return own(name)
}

// values looks at the values of the fields.
func (d *doctor) values() {
	t := d.typeOf()
	if t == nil {
		return
	}
	if f, ok := d.doc().Frontmatter.Get("type"); ok && t.Inferred {
		start, end := lineOf(d.note.Body, f.Line)
		d.add(Problem{
			Start: start, End: end, Code: record.TypeInferred, Severity: SeverityHint, Type: t.Name,
			Message: "the type " + t.Name + " is inferred from what notes say; a declaration keeps its fields as they are",
		})
	}
	values, bad := entities.ParseValues(t, notes.InferValues(t, d.doc()), maxValues)
	for _, err := range bad {
		var about *fault.Error
		if !errors.As(err, &about) {
			continue
		}
		field, _, _ := strings.Cut(strings.TrimPrefix(about.Field, "fields."), "[")
		d.value(t, field, about)
	}
	for _, f := range t.Fields {
		if f.Type.IsRef() {
			d.references(f, (&entities.Entity{Fields: values}).Strings(f.Name))
		}
	}
}

// value adds a value that does not fit its field.
func (d *doctor) value(t *entities.Type, name string, why *fault.Error) {
	f, _ := t.Field(name)
	said, ok := notes.FieldSaid(d.doc(), d.doc().Fields(), f)
	if !ok { // it is required, and not there
		start, end := lineOf(d.note.Body, 1)
		d.add(Problem{Start: start, End: end, Code: record.FieldValue, Severity: SeverityWarning, Message: fault.Message(why), Type: t.Name})
		return
	}
	start, end := valuePlace(d.note.Body, said)
	p := Problem{Start: start, End: end, Code: record.FieldValue, Severity: SeverityWarning, Message: fault.Message(why), Type: t.Name}
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

// references adds names in a field that lead to no record. A link that leads nowhere is told as a link.
func (d *doctor) references(f entities.Field, refs []string) {
	said, ok := notes.FieldSaid(d.doc(), d.doc().Fields(), f)
	if !ok || !d.note.Live() { // nobody looks up what an archived record refers to
		return
	}
	for _, ref := range refs {
		inner, _ := record.LinkTarget(ref)
		target := markdown.ParseTarget(inner).Target
		if d.broken[target] || d.store.RefLeads(f, d.ents.ResolveRef(f, ref, d.note.ID), d.reader.Sees) {
			continue
		}
		start, end := valuePlace(d.note.Body, said)
		if i := strings.Index(d.note.Body[start:], inner); i >= 0 {
			start, end = start+i, start+i+len(inner)
		}
		isLink := strings.HasPrefix(d.note.Body[end:], "]]")
		d.reference(Problem{Start: start, End: end, Code: record.FieldReference, Severity: SeverityWarning}, f, target, isLink)
	}
}

// reference adds a name that leads to no record of the kind that its field takes.
func (d *doctor) reference(p Problem, f entities.Field, name string, isLink bool) {
	kind, several := "note", len(d.store.Resolve(name, d.note.ID, d.unseen()).Candidates)
	if f.Type.Info().To == record.ToEntity {
		kind = "entity"
		several = max(several, len(d.ents.Named(name, func(e *entities.Entity) bool {
			return d.reader.Sees != nil && e.Private || f.TargetType != "" && text.Fold(f.TargetType) != text.Fold(e.Type)
		})))
	}
	switch {
	case several > 1:
		p.Code = record.FieldAmbiguous
		p.Message = fmt.Sprintf("%d records are called %s, and none is nearer than the others", several, d.called(name))
	case isLink:
		p.Message = fmt.Sprintf("%s is no %s", d.called(name), cmp.Or(f.TargetType, kind))
	default:
		p.Message = fmt.Sprintf("no %s is called %s", kind, d.called(name))
	}
	if several > 1 || kind != "entity" || !d.mends(&p) {
		d.add(p)
		return
	}
	var all []string
	if f.TargetType != "" {
		for _, e := range d.ents.OfType(f.TargetType) {
			all = append(all, e.Name)
		}
	}
	for _, near := range likest(all, name) {
		p.Fixes = append(p.Fixes, Fix{"Change to " + near, Edit{Start: p.Start, End: p.End, New: near}})
	}
	d.add(didYouMean(p))
}

// unseen is what the reader does not see of the notes; nil for nothing.
func (d *doctor) unseen() notes.Skip {
	if d.reader.Sees == nil {
		return nil
	}
	return func(n *notes.Note) bool { return !d.reader.Sees(n) }
}

// valuePlace returns where the value of a key stands on its line, without quotes; the key where it stands on others.
func valuePlace(text string, f markdown.FrontmatterField) (start, end int) {
	start, end = lineOf(text, f.Line)
	line := text[start:end]
	_, value, ok := strings.Cut(line, ":")
	value = strings.TrimSpace(strings.TrimPrefix(value, ":")) // "::" of an inline field
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
func (d *doctor) queries() {
	s := d.note.Body
	if !strings.Contains(s, "```") && !strings.Contains(s, "~~~") {
		return
	}
	_, begin := markdown.SplitFrontmatter(s)
	for at := begin; at < len(s); {
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
			d.query(start, s[start:at])
		}
		at = next
		if next == len(s) {
			break
		}
	}
}

// query adds the errors of one query, which begins at a place.
func (d *doctor) query(at int, query string) {
	typeName := ""
	if t := d.typeOf(); t != nil {
		typeName = t.Name
	}
	for _, found := range d.check(strings.TrimRight(query, "\r\n"), typeName) {
		start, end := QueryPlace(query, found)
		p := Problem{Start: at + start, End: at + end, Code: record.QueryError, Severity: found.Severity, Message: found.Message}
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

package notes

import (
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/kv/disk"
	"github.com/ctxd/ctxd/notes/markdown"
)

// Sources say of texts that were taken out of a note, and have lost marks of
// references, what they refer to: of a title that was a heading, an alias or tag that
// was a link, a value with a label that the note defines, a name that was cut. It is
// in the form in which it is stored: most notes have none, and of the others it is
// asked for when a text is shown to somebody who may not see everything.
type Sources string

// Of returns what a text refers to that is among the sources. A name may have lost
// the blank that it was cut at. O(sources): of many names, ask ByName.
func (s Sources) Of(text string) (refs []markdown.Reference) {
	bare := strings.TrimSpace(text)
	s.each(func(name string, ref markdown.Reference) {
		if name == bare {
			refs = append(refs, ref)
		}
	})
	return within(refs, len(text))
}

// each visits the references by their names, without blanks around.
func (s Sources) each(visit func(name string, ref markdown.Reference)) {
	for r := (disk.RecordReader{Rest: string(s)}); r.Rest != "" && !r.Bad; {
		name, n := strings.TrimSpace(r.Text()), r.Int()
		for range n {
			ref := markdown.Reference{Kind: markdown.RefKind(r.Byte()), Start: r.Int()}
			ref.End = ref.Start + r.Int()
			ref.Target = r.Text()
			if r.Bad {
				return
			}
			visit(name, ref)
		}
	}
}

// SourcesByName are the sources of a record as they are found by name.
type SourcesByName struct {
	of     Sources
	byName map[string][]markdown.Reference
}

// ByName makes sources ready for many names. O(sources).
func (s Sources) ByName() *SourcesByName {
	x := &SourcesByName{of: s, byName: make(map[string][]markdown.Reference)}
	s.each(func(name string, ref markdown.Reference) { x.byName[name] = append(x.byName[name], ref) })
	return x
}

// Are reports whether they are these sources.
func (x *SourcesByName) Are(s Sources) bool { return x.of == s }

// Of is Sources.Of. O(1), and with what it returns.
func (x *SourcesByName) Of(text string) []markdown.Reference {
	return within(x.byName[strings.TrimSpace(text)], len(text))
}

// sourceList is Sources that more are added to.
type sourceList []byte

// add adds those of one more text.
func (s *sourceList) add(text string, refs []markdown.Reference) {
	if len(refs) == 0 {
		return
	}
	b := disk.AppendText(*s, text)
	b = disk.AppendUint(b, uint64(len(refs)))
	for _, r := range refs {
		b = append(b, byte(r.Kind))
		b = disk.AppendUint(b, uint64(r.Start))
		b = disk.AppendUint(b, uint64(r.End-r.Start))
		b = disk.AppendText(b, r.Target)
	}
	*s = b
}

// SourceOf returns what a text refers to that was taken out of the note, beyond what
// it says itself; nil for nothing.
func (n *Note) SourceOf(text string) []markdown.Reference { return n.Sources.Of(text) }

// SourceOf returns what a name or an alias of an entity refers to that was made from a
// note, beyond what it says itself; nil for nothing.
func SourceOf(e *entities.Entity, text string) []markdown.Reference {
	return Sources(e.Sources).Of(text)
}

// readSources sets the sources of the title, the aliases and the tags of a note. types are
// those that became tags.
func (n *Note) readSources(doc *reading, types []InferredType, maxName int) {
	var list sourceList
	title := strings.TrimSpace(doc.Title)
	for _, source := range doc.Sources {
		text := source.Text
		if text == title {
			text = cut(text, maxName)
		}
		list.add(text, within(source.References, len(text)))
	}
	for _, t := range types {
		if source := t.Source(); source != nil {
			list.add(source.Text, source.References)
		}
	}
	short := cut(title, maxName)
	if len(short) < len(title) {
		list.add(short, cutReferences(title, len(short)))
	}
	if doc.Frontmatter != nil {
		labels := labelled{labels: doc.labels, list: list}
		labels.add(title, len(short))
		for _, alias := range doc.Aliases {
			labels.add(alias, len(alias))
		}
		list = labels.list
	}
	n.Sources = Sources(list)
}

// within returns references as far as they lie in the first bytes of a text.
func within(refs []markdown.Reference, length int) []markdown.Reference {
	var out []markdown.Reference
	for _, r := range refs {
		r.End = min(r.End, length)
		if r.Start < r.End {
			out = append(out, r)
		}
	}
	return out
}

// cutReferences returns the references of a text of which only the first bytes are
// kept. A mention in them keeps the name that it may have had.
func cutReferences(text string, length int) []markdown.Reference {
	var refs []markdown.Reference
	for r := range markdown.References(text) {
		switch {
		case r.Open():
			r.Start = r.End - 1
			r.Target, r.End = text[r.End:r.Reach(text)], length
			r.Kind = markdown.CutMentionRef
		case r.Kind == markdown.DecodedMentionRef:
			r.End = length
			r.Kind = markdown.CutMentionRef
		}
		refs = append(refs, r)
	}
	return within(refs, length)
}

// readValueSources adds those of values that use labels which the note defines.
func (n *Note) readValueSources(values entities.Values, doc *reading) {
	labels := labelled{labels: doc.labels, list: sourceList(n.Sources)}
	for _, value := range values {
		switch v := value.(type) {
		case string:
			labels.add(v, len(v))
		case []string:
			for _, item := range v {
				labels.add(item, len(item))
			}
		}
	}
	n.Sources = Sources(labels.list)
}

// labelled finds what texts of the frontmatter refer to with labels that the note
// defines.
type labelled struct {
	labels markdown.Labels
	list   sourceList // that what is found is added to
}

// add adds what the first bytes of a text refer to.
func (l *labelled) add(text string, length int) {
	if l.labels == nil || strings.IndexByte(text, '[') < 0 {
		return
	}
	text = strings.TrimSpace(text)
	var refs []markdown.Reference
	for r := range l.labels.References(text) {
		if r.Kind == markdown.LabelRef {
			refs = append(refs, r)
		}
	}
	length = min(length, len(text))
	l.list.add(text[:length], within(refs, length))
}

// UpgradeSources adds the sources to the notes of a store whose records are of format 2
// or older, and to the entities made from them.
func UpgradeSources(tx *kv.Tx) error {
	for id, n := range Records.All(tx, "") {
		if !markdown.MayRefer(n.Body) {
			continue
		}
		text, sourced := read(n.Body), *n
		sourced.readSources(text, nil, entities.MaxName)
		e, err := entities.EntityRecords.Get(tx, n.EntityID)
		if err != nil {
			return err
		}
		if e != nil {
			sourced.readValueSources(e.Fields, text)
		}
		if sourced.Sources == "" {
			continue
		}
		if err := Records.Put(tx, id, &sourced); err != nil {
			return err
		}
		if e == nil {
			continue
		}
		made := *e
		made.Sources = string(sourced.Sources)
		if err := entities.EntityRecords.Put(tx, made.ID, &made); err != nil {
			return err
		}
	}
	return tx.Err()
}

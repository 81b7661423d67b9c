package audience

import (
	"cmp"
	"context"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

// withheld stands where a text names a private record.
const withheld = record.Withheld

// Body returns a note with the text that the reader may see: a link to a private
// record shows neither where it leads nor what it is called here. found are the
// marks of n.Body. The text is masked as a whole: it may be cut afterwards, never
// before, since what stands behind a place may say where it leads. That takes a time
// that depends on the text: no commit must wait for it (kv.Store.View). The error is
// that of a context that has ended.
func (v *View) Body(ctx context.Context, n *notes.Note, found Marks) (*notes.Note, error) {
	if !v.masks() {
		return n, nil
	}
	look := linkLook{v: v, ctx: ctx, from: n.ID}
	body := n.Body
	if found.any {
		ended := func() bool { return ctx.Err() != nil }
		if spans := look.spans(body, markdown.ReferencesUntil(body, ended)); len(spans) > 0 {
			body = markdown.Without(body, spans, withheld)
		}
	}
	body = v.properties(ctx, n.ID, body)
	if spans := v.maskedInline(ctx, n.ID, body); len(spans) > 0 {
		body = markdown.Without(body, spans, withheld)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if body == n.Body {
		return n, nil
	}
	out := *n
	out.Body = body
	return &out, nil
}

// properties returns a text without the keys and values of its frontmatter that name a
// private record: by being what it is called, or by a link that YAML writes in another way.
func (v *View) properties(ctx context.Context, from, body string) string {
	block, _ := markdown.SplitFrontmatter(body)
	if !block.Found {
		return body
	}
	yaml := body[block.Start:block.End]
	masked := v.maskedFields(ctx, from, yaml)
	if len(masked) == 0 {
		return body
	}
	var b strings.Builder
	at := 0
	for _, f := range masked {
		b.WriteString(yaml[at:f.Start])
		b.WriteString(f.key + ": " + withheld + "\n")
		at = f.End
	}
	b.WriteString(yaml[at:])
	return body[:block.Start] + b.String() + body[block.End:]
}

// maskedInline returns where the inline fields of a body name a private record as fields of frontmatter do: the keys and the
// values; not all when ctx has ended.
func (v *View) maskedInline(ctx context.Context, from, body string) (masked []markdown.Span) {
	markdown.InlineFields(body, func(f markdown.InlineField) {
		if ctx.Err() != nil {
			return
		}
		if v.namesPrivate(from, f.Key) {
			masked = append(masked, f.Name)
		}
		if v.namesPrivate(from, f.Value) || v.namesPrivate(from, f.Raw) {
			masked = append(masked, f.Place)
		}
	})
	return masked
}

// maskedField is a field of frontmatter of which the value is not shown: its whole lines.
type maskedField struct {
	markdown.Span
	key string
}

// maskedFields returns the fields of frontmatter that name a private record; not all
// when ctx has ended.
func (v *View) maskedFields(ctx context.Context, from, yaml string) []maskedField {
	front, err := markdown.ReadFrontmatter(yaml, 1)
	if err != nil {
		return nil
	}
	line, at := 1, 0
	to := func(next int) int { // moves to the begin of a line
		for ; line < next && at < len(yaml); line++ {
			_, at = markdown.LineEnd(yaml, at)
		}
		return at
	}
	var masked []maskedField
	for i, f := range front.Fields {
		if ctx.Err() != nil {
			return masked
		}
		start := to(f.Line)
		key := f.Key
		if v.namesPrivate(from, key) {
			key = withheld
		} else if !v.namesPrivate(from, f.Value) && !v.namesPrivate(from, f.Raw) {
			continue
		}
		end := strings.Count(yaml, "\n") + 2
		if i+1 < len(front.Fields) {
			end = front.Fields[i+1].Line
		}
		masked = append(masked, maskedField{markdown.Span{Start: start, End: to(end)}, key})
	}
	return masked
}

// namesPrivate reports whether there is a private record to be taken out of a value of
// frontmatter.
func (v *View) namesPrivate(from string, value any) bool {
	switch value := value.(type) {
	case string:
		return v.TextOf(from, value) != value
	case []any:
		return slices.ContainsFunc(value, func(item any) bool { return v.namesPrivate(from, item) })
	case map[string]any:
		for key, item := range value {
			if v.namesPrivate(from, key) || v.namesPrivate(from, item) {
				return true
			}
		}
	}
	return false
}

// Marks say whether a text may refer to records at all. They spare texts without any
// a search, and can be kept beside a text.
type Marks struct{ any bool }

// MarksOf looks for the marks of references in a text.
func MarksOf(text string) Marks { return Marks{markdown.MayRefer(text)} }

// linkLook looks up what the links of one text mean.
type linkLook struct {
	v     *View
	ctx   context.Context // of a long text; nil for a short one
	from  string          // id of the note that they stand in
	known map[string]bool // private targets, and those that are not
	files map[string]bool // the same of destinations of Markdown links
	asked int             // mentions that were looked up by name
}

// maxTargets is how many different links of one text are looked up, and how many
// of its mentions. Of a text with more the others are taken out.
const maxTargets = 10_000

// private reports whether a link leads to a private note, or to one of several
// that are all private; or to no note, and to entities that are all private.
func (l *linkLook) private(target string) bool {
	private, known := l.known[target]
	if known {
		return private
	}
	if len(l.known) >= maxTargets {
		return true
	}
	private, public := l.means(target)
	plain := spelling(target)
	if !private {
		private = l.v.hidesAddress(plain) || !public && l.v.hidesID(plain)
	}
	if !private && !public && plain != target {
		private, _ = l.means(plain)
	}
	if l.known == nil {
		l.known = make(map[string]bool)
	}
	l.known[target] = private
	return private
}

// means reports whether a link leads, or could lead, to a private record, or else to a
// public note. What is private now is looked at first, then what was.
func (l *linkLook) means(target string) (private, public bool) {
	ids := l.leadsTo(target)
	private, public = l.called(ids, target)
	if public && !l.v.fromFile(ids) && l.couldMeanPrivate(target) {
		return true, false
	}
	if private || public {
		return private, public
	}
	private = l.v.notes.CalledPrivate(target) || l.v.allPrivate(target)
	if base := withoutEnding(path.Base(target)); !private && base != target {
		private = l.v.allPrivate(base) // its note may be gone
	}
	return private || l.v.hidesHandle(target) || notes.IsFormerTarget(l.v.entities.Past(), target), false
}

// leadsTo returns the notes that a link leads to, or could lead to.
func (l *linkLook) leadsTo(target string) []string {
	res := l.v.notes.Resolve(target, l.from, nil)
	if res.ID != "" {
		return []string{res.ID}
	}
	return res.Candidates
}

// couldMeanPrivate reports whether a link that leads to a public note would lead to a
// private record if that were not there. Who may write can give a note any name: it must
// not show what a link says that meant a private record of that name.
func (l *linkLook) couldMeanPrivate(target string) bool {
	res := l.v.notes.Resolve(target, l.from, publicNote)
	if slices.ContainsFunc(append(res.Candidates, res.ID), l.v.HidesNote) {
		return true
	}
	return len(l.v.entities.Named(target, publicEntity)) > 0
}

// hidesAddress reports whether a target is the ctxd:// address of a record that the reader may not know of.
func (v *View) hidesAddress(target string) bool {
	a, ok := record.ParseAddress(target)
	if !ok {
		rest, is := strings.CutPrefix(target, record.Addresses)
		_, id, named := strings.Cut(rest, "/")
		return is && named && v.hidesID(id)
	}
	return a.Kind == record.NoteAddress && v.HidesNote(a.ID) || a.Kind == record.EntityAddress && v.HidesEntity(a.ID)
}

// hidesID reports whether an id is that of a record, of whatever kind, that the reader may not know of.
func (v *View) hidesID(id string) bool {
	return v.HidesNote(id) || v.HidesEntity(id) || v.HidesMemory(id) ||
		v.hidesHandledID(refs.ContextHandle, entities.PastContextID, id) ||
		v.hidesHandledID(refs.ConversationHandle, entities.PastConversationID, id)
}

// fromFile reports whether one of the notes is a public file of a vault, which no client
// can write: between its files and private ones the rules of links decide.
func (v *View) fromFile(ids []string) bool {
	return slices.ContainsFunc(ids, func(id string) bool {
		n := v.Note(id)
		return n != nil && n.VaultBacked
	})
}

// called says of notes that a name leads to whether the name is that of a public one,
// or else of private ones and of notes that went meanwhile. The title or alias that a
// public note has from a link is not its own name: it is that of what the link leads to.
func (l *linkLook) called(ids []string, name string) (private, public bool) {
	for _, id := range ids {
		n := l.v.notes.Get(id)
		switch {
		case n == nil || n.Private:
			private = true
		case ownName(name, n.Title, n.Aliases, l.v.noteSource(n), true):
			return false, true
		}
	}
	return private, false
}

// refsUnasked is how many references of a text are looked up between two looks at
// whether the call goes on.
const refsUnasked = 256

// spans returns the places of the references of a text that lead to private records;
// not all when the context has ended.
func (l *linkLook) spans(text string, refs iter.Seq[markdown.Reference]) []markdown.Span {
	var spans []markdown.Span
	read := 0
	for r := range refs {
		read++
		if l.ctx != nil && read%refsUnasked == 0 && l.ctx.Err() != nil {
			return spans
		}
		switch {
		case r.Open():
			if size, private := l.mention(text[r.End:]); private {
				spans = append(spans, markdown.Span{Start: r.Start, End: r.End + size})
			}
		case r.Kind == markdown.CutMentionRef:
			if size, private := l.mention(r.Target); private {
				spans = append(spans, markdown.Span{Start: r.Start, End: min(len(text), r.Start+len("@")+size)})
			}
		case r.Kind == markdown.DecodedMentionRef:
			if size, private := l.mention(r.Target); private {
				end := r.End + markdown.EncodedLen(text[r.End:], size)
				spans = append(spans, markdown.Span{Start: r.Start, End: end})
			}
		case r.Kind == markdown.MarkedIDRef:
			if l.v.hidesID(r.Target) {
				spans = append(spans, markdown.Span{Start: r.Start, End: r.End})
			}
		case r.Kind == markdown.MentionRef:
			if l.named(r.Target) {
				spans = append(spans, markdown.Span{Start: r.Start, End: r.End})
			}
		case l.private(r.Target) || l.privateFile(r):
			spans = append(spans, markdown.Span{Start: r.Start, End: r.End})
		}
	}
	return spans
}

// privateFile reports whether a reference leads to a private note if it is read as the
// destination of a Markdown link. A wikilink is read so where it names a Markdown file.
func (l *linkLook) privateFile(r markdown.Reference) bool {
	if r.Kind == markdown.WikilinkRef && withoutEnding(r.Target) == r.Target {
		return false
	}
	private, known := l.files[r.Target]
	if known {
		return private
	}
	if len(l.files) >= maxTargets {
		return true
	}
	private = l.v.HidesNote(l.v.notes.ResolveFile(r.Target, l.from))
	if l.files == nil {
		l.files = make(map[string]bool)
	}
	l.files[r.Target] = private
	return private
}

// mention reports whether what follows an @ is a name or handle of none but private
// records, and how long that is.
func (l *linkLook) mention(text string) (size int, private bool) {
	l.asked++
	if l.asked > maxTargets {
		return len(text), true
	}
	return l.privateName(text)
}

// named is mention for a name in brackets.
func (l *linkLook) named(name string) bool {
	l.asked++
	if l.asked > maxTargets || l.calledPrivate(name) {
		return true
	}
	name, id, _ := strings.Cut(name, "|") // @[Name|id]
	return id != "" && (l.calledPrivate(name) || l.v.HidesEntity(strings.TrimSpace(id)))
}

// Text returns a text of one line as the reader may see it. from is the id of the
// note that it stands in, "" for none. looked is true when what it shows depends on
// other records.
func (v *View) Text(from, text string) (shown string, looked bool) {
	if !v.masks() {
		return text, false
	}
	if v.calledPrivate(text) {
		return withheld, false
	}
	return v.withoutLinks(from, text)
}

// TextOf is Text for what is not kept.
func (v *View) TextOf(from, text string) string {
	shown, _ := v.Text(from, text)
	return shown
}

// Masked is TextOf of a text that stands in no note, with the places of it that are not shown: in order and apart.
// Withheld stands for each of them.
func (v *View) Masked(text string) (shown string, places []markdown.Span) {
	if !v.masks() {
		return text, nil
	}
	if v.calledPrivate(text) {
		return withheld, []markdown.Span{{Start: 0, End: len(text)}}
	}
	look := linkLook{v: v}
	places = apart(look.spans(text, markdown.References(text)))
	return markdown.Without(text, places, withheld), places
}

// apart returns spans in order, those that overlap as one, as markdown.Without takes them.
func apart(spans []markdown.Span) (out []markdown.Span) {
	slices.SortFunc(spans, func(a, b markdown.Span) int { return cmp.Compare(a.Start, b.Start) })
	for _, s := range spans {
		if n := len(out); n > 0 && s.Start < out[n-1].End {
			out[n-1].End = max(out[n-1].End, s.End)
			continue
		}
		out = append(out, s)
	}
	return out
}

// calledPrivate reports whether the whole of a text is what a private record is
// called.
func (v *View) calledPrivate(text string) bool {
	if text == "" || !mayBeName(text) {
		return false
	}
	return v.notes.CalledPrivate(text) || len(v.entities.Named(strings.TrimSpace(text), publicEntity)) > 0 ||
		v.hidesHandle(text) || v.wasCalled(text) && !v.calledPublic(text)
}

func publicEntity(e *entities.Entity) bool { return !e.Private }

func publicNote(n *notes.Note) bool { return !n.Private }

// withoutLinks is Text for a text that may be what a private record is called. What
// was taken out of a note, and has lost its marks, is masked by what stood there.
func (v *View) withoutLinks(from, text string) (shown string, looked bool) {
	if from != "" {
		if n := v.notes.Get(from); n != nil {
			return v.without(from, text, v.sourceOf(n.Sources, text))
		}
	}
	return v.without(from, text, nil)
}

// without is withoutLinks for a text with that source.
func (v *View) without(from, text string, source []markdown.Reference) (shown string, looked bool) {
	look := linkLook{v: v, from: from}
	spans := look.spans(text, slices.Values(source))
	spans = append(spans, look.spans(text, markdown.References(text))...)
	looked = look.known != nil || look.asked > 0
	if len(spans) == 0 {
		return text, looked
	}
	return markdown.Without(text, spans, withheld), looked
}

// Title returns the title of a note as the reader may see it; looked is that of
// Text.
func (v *View) Title(n *notes.Note) (shown string, looked bool) {
	if !v.masks() {
		return n.Title, false
	}
	if v.calledPrivate(n.Title) {
		return withheld, false
	}
	return v.titleWithoutLinks(n)
}

// titleWithoutLinks is Title for a title that may be what a private record is called.
func (v *View) titleWithoutLinks(n *notes.Note) (shown string, looked bool) {
	return v.without(n.ID, n.Title, v.sourceOf(n.Sources, n.Title))
}

// TitleOf is Title for what is not kept.
func (v *View) TitleOf(n *notes.Note) string {
	shown, _ := v.Title(n)
	return shown
}

// NameOf is Name for what is not kept.
func (v *View) NameOf(e *entities.Entity) string {
	shown, _ := v.Name(e)
	return shown
}

// Name is Title for the name of an entity, which may be the title of its note.
func (v *View) Name(e *entities.Entity) (shown string, looked bool) { return v.nameOf(e, e.Name) }

// nameOf is Name for any name of an entity. What the entity knows of the source of the
// name it knows without its note, which may be gone.
func (v *View) nameOf(e *entities.Entity, name string) (shown string, looked bool) {
	if !v.masks() {
		return name, false
	}
	if v.calledPrivate(name) {
		return withheld, false
	}
	return v.nameWithoutLinks(e, name)
}

// nameWithoutLinks is nameOf for a name that may be what a private record is called.
func (v *View) nameWithoutLinks(e *entities.Entity, name string) (shown string, looked bool) {
	source := v.sourceOf(notes.Sources(e.Sources), name)
	if source == nil {
		return v.withoutLinks(e.NoteID, name)
	}
	return v.without(e.NoteID, name, source)
}

// Withheld reports whether a link that stands in a field, and leads nowhere, can
// mean nothing but private records.
func (v *View) Withheld(link string) bool {
	if !v.hides {
		return false
	}
	target, ok := record.LinkTarget(link)
	if !ok {
		return false
	}
	return v.Withholds("", target)
}

// Withholds reports whether a wikilink of a note, of the id from, can mean nothing but private records.
func (v *View) Withholds(from, target string) bool {
	look := linkLook{v: v, from: from}
	if !v.masks() {
		return false
	}
	link := "[[" + target + "]]"
	return look.private(target) || len(look.spans(link, markdown.References(link))) > 0
}

// allPrivate reports whether there are private entities that are called so, and no
// public one whose own name that is.
func (v *View) allPrivate(name string) bool {
	return v.ownedByPrivate(v.entities.Named(name, nil), name)
}

// ownedByPrivate is allPrivate for the entities that a name or a handle leads to. A
// public one counts by its own name only, as linkLook.called says: a handle is as much
// an entity's own as the name that it is made from. Private ones count when they are archived, too,
// where they lie when their notes are gone, and those that were called so. Beside one of
// the name, a public one counts only if it is made from a file, as fromFile says.
func (v *View) ownedByPrivate(list []*entities.Entity, name string) bool {
	private, public := false, false
	for _, e := range list {
		if e.Private {
			private = true
			continue
		}
		source := v.entitySource(e)
		if !ownName(name, e.Name, e.Aliases, source, len(source(e.Name)) == 0) {
			continue
		}
		if e.VaultBacked {
			return false
		}
		public = true
	}
	if private || len(list) > 0 && len(v.entities.Named(name, publicEntity)) > 0 {
		return true
	}
	return !public && entities.IsFormerName(v.entities.Past(), name)
}

// ownName reports whether a record that a name leads to is called so by itself, not only
// by a title or an alias that was made from a link. other says it of a name that is
// neither its title nor an alias, such as its path.
func ownName(name, title string, aliases []string, source func(string) []markdown.Reference, other bool) bool {
	called := false
	key := text.Fold(name)
	for _, s := range append([]string{title}, aliases...) {
		if text.Fold(s) != key {
			continue
		}
		if len(source(s)) == 0 {
			return true
		}
		called = true
	}
	return !called && other
}

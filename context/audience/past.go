package audience

import (
	"path"
	"slices"

	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/names"
	"github.com/ctxd/ctxd/notes"
)

// Names that private records had (entities). They are looked up where no record of
// today answers to a name: what a public record is called now is shown.

// wasCalled reports whether the whole of a text is what a private record was called.
func (v *View) wasCalled(text string) bool {
	p := v.entities.Past()
	return notes.IsFormerName(p, text) || entities.IsFormerName(p, text)
}

// calledPublic reports whether a public record has a text for its own name.
func (v *View) calledPublic(text string) bool {
	for _, e := range v.entities.Named(text, privateEntity) {
		if ownName(text, e.Name, e.Aliases, v.entitySource(e), false) {
			return true
		}
	}
	res := v.notes.Resolve(text, "", privateNote)
	look := linkLook{v: v}
	_, public := look.called(append(res.Candidates, res.ID), text)
	return public
}

// mostEnds is at how many places behind an @ a name of the past may end. It bounds what one
// @ costs: what such names begin with is not known.
const mostEnds = 64

// wasMentioned returns the longest name or handle that a text behind an @ begins with and
// that a private record had, "" for none. It looks no further than such names go.
func wasMentioned(in *entities.PastNames, text string) string {
	longest := in.Longest()
	if longest == 0 {
		return ""
	}
	ends := 0
	name := LongestMatch(text, func(fold string) (whole, beginning bool) {
		ends++
		if len(fold) > longest || ends > mostEnds {
			return false, false
		}
		return notes.IsFormerTarget(in, fold) || entities.IsFormerName(in, fold) || in.Has(entities.PastContextName, nameKey(fold)), true
	})
	handle := names.HandleAt(text)
	if len(handle) > len(name) && entities.IsFormerHandle(in, handle) {
		return handle
	}
	return name
}

// meansPast reports whether what a record is called is what a private one was.
func (v *View) meansPast(name string) bool {
	p := v.entities.Past()
	return nameIsPast(p, name) || entities.IsFormerHandle(p, name) || name != "" && wasReferred(p, name) == len(name)
}

// pastPrivacy reports whether a commit gives or takes what a private record was called to
// or from another record: texts of it alone may be shown otherwise.
func (v *View) pastPrivacy(ch kv.Change) bool {
	if v.entities.Past().Len() == 0 || !renames(ch) && !v.renamesHandled(ch) {
		return false
	}
	before, after := v.calledBy(ch)
	return slices.ContainsFunc(before.names, v.meansPast) || slices.ContainsFunc(after.names, v.meansPast)
}

// namingPast returns the ids of the notes that name what private records were called. in
// are the names that are looked for. They are kept as hashes, which no index of words can
// look up, so it reads all texts. O(all texts).
func (v *View) namingPast(in *entities.PastNames) (ids []string) {
	for _, n := range slices.Collect(v.notes.All()) { // no text is read while All holds its lock
		if namesPast(n, in) {
			ids = append(ids, n.ID)
		}
	}
	return ids
}

// namesPast reports whether a note names what private records were called. in are the
// names that are looked for. O(text).
func namesPast(n *notes.Note, in *entities.PastNames) bool {
	look := pastLook{in: in}
	eachNamed(n, look.naming())
	return look.found
}

// pastLook looks for what private records were called among what texts name.
type pastLook struct {
	in    *entities.PastNames
	found bool
}

func (l *pastLook) naming() naming {
	return naming{
		name: func(name string) {
			l.found = l.found || nameIsPast(l.in, name) || nameIsPast(l.in, spelling(name))
		},
		mention: func(text string) {
			if l.found {
				return
			}
			_, behind := behindMarks(text)
			for _, text := range [...]string{text, behind} {
				l.found = l.found || wasMentioned(l.in, text) != "" || wasReferred(l.in, text) > 0
			}
		},
	}
}

// nameIsPast reports whether a name or a target is what private records were called.
func nameIsPast(in *entities.PastNames, name string) bool {
	if in.Len() == 0 {
		return false
	}
	if notes.IsFormerTarget(in, name) || entities.IsFormerName(in, name) ||
		in.Has(entities.PastHandle, refs.FoldHandle(name)) || in.Has(entities.PastContextName, nameKey(name)) {
		return true
	}
	base := withoutEnding(path.Base(name))
	return base != name && entities.IsFormerName(in, base)
}

package notes

import (
	"context"
	"errors"
	"strings"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes/markdown"
)

// reading is all that a write takes from a text in time that grows with it. Other writers
// wait for one whose turn it is, so texts are read before that.
type reading struct {
	*markdown.Document
	text   string
	places LinkPlaces
	many   *linkHashes     // of the links, where there are many
	labels markdown.Labels // that texts of the frontmatter may use
	why    Why             // what it says about being private
}

// onReading is called before a text is read, for the test of when that is.
var onReading = func() {}

func read(text string) *reading {
	onReading()
	r := &reading{Document: markdown.Parse(text), text: text}
	r.Tags = union(nil, r.Tags)
	r.places = NewLinkPlaces(linksInOrder(r.EachLink(), r.EachFileLink()))
	if len(r.places) > manyPlaces {
		r.many = newLinkHashes(r.places, text)
	}
	if r.usesLabels() {
		r.labels = markdown.LabelsOf(r.Body)
	}
	r.why = says(text, r.Document)
	return r
}

// usesLabels reports whether a text of the frontmatter or of an inline field, or the title beside it, may hold
// a bracket. A backslash may stand for one.
func (r *reading) usesLabels() bool {
	return r.Frontmatter != nil &&
		(strings.Contains(r.Body, "::") || strings.ContainsAny(r.text[:r.BodyStart], `[\`) || strings.IndexByte(r.Title, '[') >= 0)
}

// mostReadings is how often a text is read before its turn that others change meanwhile.
const mostReadings = 3

var errTextChanged = errors.New("the text was changed meanwhile")

// editText is edit for a change that needs the text of the note as it is. That is read
// before the change has its turn, and again when others have changed it by then.
func (s *Store) editText(
	ctx context.Context, id string, ifVersion *int, change func(tx *kv.Tx, old *Note, text *reading) error,
) error {
	for n := 1; ; n++ {
		var text *reading
		if now := s.Get(id); now != nil && (ifVersion == nil || *ifVersion == now.Version) {
			text = read(now.Body)
		}
		err := s.edit(ctx, id, ifVersion, func(tx *kv.Tx, old *Note) error {
			if text == nil || text.text != old.Body {
				if n < mostReadings {
					return errTextChanged
				}
				text = read(old.Body)
			}
			return change(tx, old, text)
		})
		if !errors.Is(err, errTextChanged) {
			return err
		}
	}
}

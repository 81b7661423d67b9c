package protocol

import (
	"reflect"

	"github.com/ctxd/ctxd/entities/record"
)

// PrivacyList are the parameters of privacy.list.
type PrivacyList struct {
	ID string `json:"id,omitempty" jsonschema:"only this note or entity, private or not"`
	Page
}

// PrivateRecords is the result of privacy.list.
type PrivateRecords struct {
	Notes      int                    `json:"notes" jsonschema:"private notes, archived ones included"`
	Entities   int                    `json:"entities" jsonschema:"private entities, those that are archived ones included"`
	Records    []record.PrivacyRecord `json:"records" jsonschema:"the private records by title; with an id only those with that id"`
	NextCursor string                 `json:"nextCursor,omitempty" jsonschema:"cursor of the next page; absent on the last"`
}

// PrivacyProse are the parameters of privacy.prose.
type PrivacyProse struct {
	ID string `json:"id,omitempty" jsonschema:"look for the names of this private record; for those of all when absent"`
	Page
}

// PrivateNames is the result of privacy.prose.
type PrivateNames struct {
	Places     []record.PrivacyPlace `json:"places" jsonschema:"the places, by title of the public record and line"`
	NextCursor string                `json:"nextCursor,omitempty" jsonschema:"cursor of the next page; absent on the last"`
}

var privacyMethods = []Method{
	wholeStore(describe[PrivacyList, PrivateRecords]("privacy.list", Read,
		"List the private records and the rule that makes each private.", "",
		Example{
			`{"limit":1}`,
			`{"notes":5,"entities":2,"records":[{"kind":"note","id":"3f1c","title":"Salary Bands","path":"Private/Salary Bands.md","rule":"text"}],"nextCursor":"bm90ZS8zZjFjAFNhbGFyeSBCYW5kcw"}`,
		}, CodeNotFound)),
	wholeStore(describe[PrivacyProse, PrivateNames]("privacy.prose", Read,
		"Find places where public records contain the name of a private one without a link or mention.",
		"Remote models see these words, since nothing marks them as a name. Case is ignored, and only the first 32 words of a name are compared. A name that a public record also has is not reported.",
		Example{
			`{"limit":1}`,
			`{"places":[{"kind":"note","id":"7a2e","title":"Weekly Sync","path":"Meetings/Weekly Sync.md","line":12,"text":"salary bands","names":{"kind":"note","id":"3f1c","title":"Salary Bands"}}],"nextCursor":"MS9ub3RlLzdhMmUAV2Vla2x5IFN5bmM"}`,
		}, CodeNotFound)),
}

// Sight says what a method shows to which reader.
type Sight string

// The sights.
const (
	SightAudience Sight = "audience" // reads what the audience of the call may see
	SightLocal    Sight = "local"    // is about all records or the daemon itself: refused for a remote connection
	SightWriter   Sight = "writer"   // changes records that the audience of the connection sees, and no other
	SightNone     Sight = "none"     // tells a remote connection nothing of records but public ids in events
)

// AudienceParams are params that name the audience of the call.
type AudienceParams interface{ AskedAudience() string }

// Sight returns what the method shows to which reader.
func (m *Method) Sight() Sight {
	names := reflect.PointerTo(m.Params).Implements(reflect.TypeFor[AudienceParams]())
	switch {
	case m.LocalOnly():
		return SightLocal
	case names:
		return SightAudience
	case (m.Mode == Mutation || m.Kind == JobChat) && m.Store == UsesStore:
		return SightWriter
	}
	return SightNone
}

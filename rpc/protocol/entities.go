package protocol

import (
	"time"

	"github.com/ctxd/ctxd/entities/record"
)

// EntityRecord are the members of an entity that a client may give. Those that
// the daemon keeps itself are accepted and left unused, so that a record can be
// read, changed and put back.
type EntityRecord struct {
	ID        string        `json:"id,omitempty" jsonschema:"id, 1 to 64 letters, digits, hyphens and underscores; a new UUID when absent"`
	Type      string        `json:"type" jsonschema:"name of a declared type"`
	Name      string        `json:"name" jsonschema:"name, at most 512 characters"`
	Aliases   []string      `json:"aliases,omitempty" jsonschema:"other names"`
	Fields    record.Values `json:"fields,omitempty" jsonschema:"values by field name: text, number, boolean or a list of texts; references are ids"`
	NoteID    string        `json:"noteId,omitempty" jsonschema:"the note that describes the entity"`
	Private   bool          `json:"private,omitempty" jsonschema:"keep it from remote models"`
	CreatedAt *time.Time    `json:"createdAt,omitempty" jsonschema:"time of creation; used only for a new record"`

	UpdatedAt   *time.Time `json:"updatedAt,omitempty" jsonschema:"set by the daemon, ignored here"`
	ArchivedAt  *time.Time `json:"archivedAt,omitempty" formerly:"trashedAt" jsonschema:"set by the daemon, ignored here"`
	VaultBacked bool       `json:"vaultBacked,omitempty" jsonschema:"set by the daemon, ignored here"`
	Version     int        `json:"version,omitempty" jsonschema:"set by the daemon, ignored here; see ifVersion"`
}

// EntityPut are the parameters of entities.put.
type EntityPut struct {
	EntityRecord
	IfVersion *int `json:"ifVersion,omitempty" min:"0" jsonschema:"the version to replace; 0: it must not exist yet"`
}

// EntityPatch are the parameters of entities.patch. Absent members stay as they
// are.
type EntityPatch struct {
	ID        string             `json:"id" jsonschema:"id of the entity"`
	Name      *string            `json:"name,omitempty" jsonschema:"name, at most 512 characters"`
	Aliases   Optional[[]string] `json:"aliases,omitzero" jsonschema:"other names; null for none"`
	Fields    record.Values      `json:"fields,omitempty" jsonschema:"the values to change by field name; a null empties the field"`
	NoteID    Optional[string]   `json:"noteId,omitzero" jsonschema:"the note that describes the entity; null for none"`
	Private   *bool              `json:"private,omitempty" jsonschema:"keep it from remote models"`
	IfVersion *int               `json:"ifVersion,omitempty" min:"0" jsonschema:"the version to change; another one is a conflict"`
}

// EntitySaved is the result of entities.put and entities.patch.
type EntitySaved struct {
	record.Entity
	Diagnostics []record.Diagnostic `json:"diagnostics,omitempty" jsonschema:"names in fields, where an id belongs, that lead to no record: at most 100; absent without any"`
	record.Waits
}

// EntityPutMany are the parameters of entities.putMany.
type EntityPutMany struct {
	Entities []EntityRecord `json:"entities" jsonschema:"at most 1,000; they may refer to each other"`
}

// EntityList is the result of entities.putMany.
type EntityList struct {
	Entities    []*record.Entity    `json:"entities" jsonschema:"the entities"`
	Diagnostics []record.Diagnostic `json:"diagnostics,omitempty" jsonschema:"names in fields, where an id belongs, that lead to no record: at most 100; absent without any"`
}

// EntityPage is the result of entities.list.
type EntityPage struct {
	Entities   []EntityHead `json:"entities" jsonschema:"the entities"`
	Total      int          `json:"total" jsonschema:"number of items on all pages"`
	NextCursor string       `json:"nextCursor,omitempty" jsonschema:"cursor of the next page; absent on the last"`
}

// EntityHead is an entity of a list, with the place of the note that it was made from.
type EntityHead struct {
	record.Entity
	Vault string `json:"vault,omitempty" jsonschema:"vault of the note that it was made from; absent when the reader sees one vault at most"`
	Path  string `json:"path,omitempty" jsonschema:"path of that note"`
}

// EntityGet are the parameters of entities.get.
type EntityGet struct {
	Ref     string `json:"ref" formerly:"id,name" jsonschema:"id, name, alias or handle of the entity, or the beginning of its id, of at least 8 characters; names are compared without case, and a live entity is found before an archived one"`
	Type    string `json:"type,omitempty" jsonschema:"only an entity of this type"`
	Resolve int    `json:"resolve,omitempty" min:"0" max:"4" default:"0" jsonschema:"how many levels of references and computed fields are returned as records"`
	Reads
}

// EntityFull is the result of entities.get: an entity, in which Fields holds the
// values as they are stored or, with resolve, what they lead to.
type EntityFull struct {
	record.Entity
	TypeVault string `json:"typeVault,omitempty" jsonschema:"the vault whose type it has; absent for a type of everybody"`

	Fields      map[string]any      `json:"fields" jsonschema:"values by field name; with resolve a reference is {id, name, type} with fields of its own, a computed field its rows or its value"`
	Diagnostics []record.Diagnostic `json:"diagnostics,omitempty" jsonschema:"names in fields, where an id belongs, that lead to no record: at most 100; absent without any"`
	record.Waits
}

// EntityFilter are the parameters of entities.list.
type EntityFilter struct {
	Type     string `json:"type,omitempty" jsonschema:"entities of this type only"`
	Archived bool   `json:"archived,omitempty" formerly:"trashed" jsonschema:"the archived ones instead"`
	Page
	Reads
}

// EntityComplete are the parameters of entities.complete.
type EntityComplete struct {
	Prefix string   `json:"prefix" jsonschema:"what was typed so far"`
	Types  []string `json:"types,omitempty" jsonschema:"entities of these types only"`
	Limit  int      `json:"limit,omitempty" min:"1" max:"100" default:"8" jsonschema:"items at most"`
	Reads
}

// EntityItem is one entity that a typed text may mean.
type EntityItem struct {
	ID     string   `json:"id" jsonschema:"id of the entity"`
	Name   string   `json:"name" jsonschema:"the name or alias that matched"`
	Type   string   `json:"type" jsonschema:"its type"`
	Insert string   `json:"insert,omitempty" jsonschema:"what to write behind an @ so that it means this entity alone; absent when no text does: then only the id names it"`
	Vault  string   `json:"vault,omitempty" jsonschema:"vault of the note that it was made from; absent when the reader sees one vault at most"`
	Path   string   `json:"path,omitempty" jsonschema:"path of that note"`
	Match  [][2]int `json:"match" jsonschema:"ranges of the name that matched: UTF-16 offsets, half-open"`
}

// EntityItems is the result of entities.complete.
type EntityItems struct {
	Items []EntityItem `json:"items" jsonschema:"best first: prefix, word prefix, substring, fuzzy"`
}

// TypePut are the parameters of types.put.
type TypePut struct {
	Name      string         `json:"name" jsonschema:"name of the type, compared without case"`
	Fields    []record.Field `json:"fields" jsonschema:"its fields, at most 200"`
	Version   int            `json:"version,omitempty" jsonschema:"set by the daemon, ignored here; see ifVersion"`
	Inferred  bool           `json:"inferred,omitempty" jsonschema:"set by the daemon, ignored here"`
	IfVersion *int           `json:"ifVersion,omitempty" min:"0" jsonschema:"the version to replace; 0: it must not exist yet"`
	Force     bool           `json:"force,omitempty" jsonschema:"change it even when that hides values of entities"`
}

// TypePutResult is the result of types.put.
type TypePutResult struct {
	record.Type
	Diagnostics []record.Diagnostic `json:"diagnostics" jsonschema:"what to look at, such as a target type that is not declared yet"`
}

// TypeGet are the parameters of types.get.
type TypeGet struct {
	Ref   string `json:"ref" formerly:"name" jsonschema:"name of the type"`
	Vault string `json:"vault,omitempty" jsonschema:"the vault whose type it is; without it the one of everybody, else the only one"`
	Reads
}

// TypeName is the result of types.delete.
type TypeName struct {
	Name  string `json:"name" jsonschema:"name of the type"`
	Vault string `json:"vault,omitempty" jsonschema:"the vault whose type it was"`
}

// TypeDelete are the parameters of types.delete.
type TypeDelete struct {
	Name  string `json:"name" jsonschema:"name of the type"`
	Vault string `json:"vault,omitempty" jsonschema:"the vault whose type it is; without it the one of everybody, else the only one"`
	Force bool   `json:"force,omitempty" jsonschema:"delete it even when entities of it exist; they are archived"`
}

// TypeCount is a type with the number of its live entities.
type TypeCount struct {
	record.Type
	Count int `json:"count" jsonschema:"entities of the type, without archived ones"`
}

// TypeList is the result of types.list.
type TypeList struct {
	Types []TypeCount `json:"types" jsonschema:"all types by name, of one name that of everybody first, then by vault"`
}

var typeMethods = []Method{
	wholeStore(describe[TypePut, TypePutResult]("types.put", Mutation,
		"Declare a type of entity, or change it.",
		"Unknown target types, and queries over types that are not declared yet, are reported as diagnostics, not as errors.",
		Example{
			`{"name":"Person","fields":[{"name":"role","type":"text"},{"name":"team","type":"entity_ref","targetType":"Team"}]}`,
			exampleType[:len(exampleType)-1] +
				`,"diagnostics":[{"field":"team","line":1,"column":1,"message":"target type Team is not declared yet","severity":"warning"}]}`,
		},
		CodeConflict, CodeQuery, CodeLimit, CodeUnavailable)),
	describe[TypeGet, record.Type]("types.get", Read,
		"Read a type.",
		"Each vault may have its own type of a name: an entity has that of its vault, else the one of everybody. "+
			"If several vaults have one and everybody has none, vault says which.",
		Example{`{"ref":"person"}`, exampleType}, CodeNotFound, CodeConflict),
	describe[ReadAll, TypeList]("types.list", Read,
		"List all types with their numbers of entities.", "",
		Example{`{}`, `{"types":[` + exampleType[:len(exampleType)-1] + `,"count":12}]}`}),
	wholeStore(describe[TypeDelete, TypeName]("types.delete", Mutation,
		"Remove a type. If it has entities this needs force, which archives them.", "",
		Example{`{"name":"Person","force":true}`, `{"name":"Person"}`},
		CodeNotFound, CodeConflict, CodeUnavailable)),
}

var entityMethods = []Method{
	describe[EntityPut, EntitySaved]("entities.put", Mutation,
		"Create or replace an entity; fields that are absent are cleared.",
		"An unknown id creates the entity with that id; a remote connection gives none to a new entity, and no noteId that it is not shown. "+
			"Values are checked against the type. A name where an id belongs leads to the record of that name; one that leads to none is kept, and reported as a diagnostic. "+
			"An entity that was made from a note keeps that note.",
		Example{`{"id":"alice","type":"Person","name":"Alice","fields":{"role":"Engineer","team":"core"},"ifVersion":0}`, exampleEntity},
		CodeNotFound, CodeConflict, CodeLimit, CodeUnavailable),
	describe[EntityPatch, EntitySaved]("entities.patch", Mutation,
		"Change only the given parts and field values of an entity.",
		"An entity that was made from a note keeps that note.",
		Example{`{"id":"alice","fields":{"role":"Engineer","manager":null}}`, exampleEntity},
		CodeNotFound, CodeConflict, CodeLimit, CodeUnavailable),
	describe[EntityPutMany, EntityList]("entities.putMany", Mutation,
		"Create or replace up to 1,000 entities in one transaction.",
		"They may refer to each other. A remote connection cannot choose the id of a new entity.",
		Example{`{"entities":[{"id":"alice","type":"Person","name":"Alice","fields":{"role":"Engineer","team":"core"}}]}`, `{"entities":[` + exampleEntity + `]}`},
		CodeNotFound, CodeConflict, CodeLimit, CodeUnavailable),
	describe[EntityGet, EntityFull]("entities.get", Read,
		"Read an entity; with resolve, also what its references and computed fields lead to.",
		"When several entities are meant, the error has them as candidates; when none is, those that may be meant. "+
			"With resolve, each entity has its fields only where it is first reached, so cycles end.",
		Example{`{"ref":"Alice","type":"Person"}`, exampleEntity}, CodeNotFound, CodeConflict, CodeDeadline),
	describe[EntityFilter, EntityPage]("entities.list", Read,
		"List entities by name.", "",
		Example{`{"type":"Person"}`, `{"entities":[` + exampleEntity + `],"total":1}`}, CodeNotFound),
	describe[ByID, Versioned]("entities.archive", Mutation,
		"Archive an entity; references to it show as deleted.", "",
		Example{`{"id":"alice"}`, `{"id":"alice","version":2}`},
		CodeNotFound, CodeConflict, CodeUnavailable),
	describe[ByID, Versioned]("entities.restore", Mutation,
		"Restore an entity from the archive.", "",
		Example{`{"id":"alice"}`, `{"id":"alice","version":3}`},
		CodeNotFound, CodeConflict, CodeUnavailable),
	describe[ByID, Versioned]("entities.delete", Mutation,
		"Delete an entity permanently.", "",
		Example{`{"id":"alice","ifVersion":3}`, `{"id":"alice","version":4}`},
		CodeNotFound, CodeConflict, CodeUnavailable),
	describe[EntityComplete, EntityItems]("entities.complete", Read,
		"Complete the name of an entity.", "",
		Example{
			`{"prefix":"al","types":["Person"]}`,
			`{"items":[{"id":"alice","name":"Alice","type":"Person","match":[[0,2]]}]}`,
		}),
}

const (
	exampleType   = `{"name":"Person","fields":[{"name":"role","type":"text"},{"name":"team","type":"entity_ref","targetType":"Team"}],"version":1}`
	exampleEntity = `{"id":"alice","type":"Person","name":"Alice","aliases":[],"fields":{"role":"Engineer","team":"core"},"private":false,"vaultBacked":false,"createdAt":"2026-01-31T09:30:00Z","updatedAt":"2026-01-31T09:30:00Z","version":1}`
)

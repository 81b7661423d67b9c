package record

// Kind is a kind of record that people know.
type Kind struct {
	Collection string    // of the store
	Noun       string    // what people call one
	View       StoreView // that admin.check compares; "" if it is read from the store at each call
}

// Kinds are all kinds of records that people know, in the order in which they are shown. Their collections
// are those without a hyphen in the name; the others hold what ctxd notes for itself, such as which file a
// note came from.
var Kinds = []Kind{
	{"note", "note", ViewNotes},
	{"entity", "entity", ViewEntities},
	{"type", "type", ViewTypes},
	{"memory", "memory", ViewMemories},
	{"context", "context", ViewMemories},
	{"conversation", "conversation", ViewChats},
	{"message", "message", ViewChats},
	{"book", "book", ViewBooks},
	{"personality", "personality", ""},
	{"vault", "vault", ""},
}

// StoreView names what a running daemon derives from the records of its store.
type StoreView string

// The views of a store.
const (
	ViewNotes    StoreView = "notes"
	ViewLinks    StoreView = "links"
	ViewTags     StoreView = "tags"
	ViewTypes    StoreView = "types"
	ViewEntities StoreView = "entities"
	ViewGraph    StoreView = "graph"
	ViewMemories StoreView = "memories"
	ViewChats    StoreView = "conversations"
	ViewCited    StoreView = "references"
	ViewConcepts StoreView = "concepts"
	ViewBooks    StoreView = "books"
	ViewVectors  StoreView = "vectors"
)

// StoreViews are all views of a store, in the order in which admin.check reports them.
var StoreViews = []StoreView{
	ViewNotes, ViewLinks, ViewTags, ViewTypes, ViewEntities, ViewGraph,
	ViewMemories, ViewChats, ViewCited, ViewConcepts, ViewBooks, ViewVectors,
}

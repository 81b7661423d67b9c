package record

// GraphSubgraph is a part of the graph: nodes in the order they were reached, and
// the edges that led to them or lie between them.
type GraphSubgraph struct {
	Nodes     []GraphVertex `json:"nodes" jsonschema:"the records, nearest first"`
	Edges     []GraphArc    `json:"edges" jsonschema:"the references and links between them"`
	Truncated bool          `json:"truncated,omitempty" jsonschema:"whether there is more than was looked at"`
	// Ways are the shortest ways of a Path that was asked for several, each a
	// list of positions in Nodes; MoreWays says that there are others.
	Ways     [][]int `json:"ways,omitempty" jsonschema:"the shortest ways, when asked for several: positions in nodes"`
	MoreWays bool    `json:"moreWays,omitempty" jsonschema:"whether there are more paths of that length"`
}

// GraphVertex is a node for people: what it is and how far from where the walk
// began.
type GraphVertex struct {
	ID    string `json:"id" jsonschema:"id of the record"`
	Kind  string `json:"kind" jsonschema:"note or entity"`
	Name  string `json:"name" jsonschema:"its name or title"`
	Type  string `json:"type,omitempty" jsonschema:"its type, of an entity"`
	Depth int    `json:"depth" jsonschema:"edges from where the search began"`
	// Fields are the first of its fields that have a value; see Describe.
	Fields []GraphFieldText `json:"fields,omitempty" jsonschema:"the first fields of an entity that have a value, when asked for"`
}

// GraphFieldText is a field of an entity in words.
type GraphFieldText struct {
	Name string `json:"name" jsonschema:"name of the field"`
	Text string `json:"text" jsonschema:"its value as text on one line, with names instead of ids"`
}

// GraphArc is an edge by ids. Field is the field of the entity that refers, "link"
// for a wikilink.
type GraphArc struct {
	From  string `json:"from" jsonschema:"id of the record that refers"`
	To    string `json:"to" jsonschema:"id of the record that is referred to"`
	Field string `json:"field" jsonschema:"the field that refers, or link for a wikilink"`
	// FromKind and ToKind are the kinds of the ends, where the GraphSubgraph has
	// both an entity and a note of that id; otherwise "".
	FromKind string `json:"fromKind,omitempty" jsonschema:"kind of the source, if an entity and a note have the same id"`
	ToKind   string `json:"toKind,omitempty" jsonschema:"kind of the target, if an entity and a note have the same id"`
}

// GraphStats counts the live nodes and the edges among them. A self reference adds
// two to the degree of its record, as any edge adds one at each end.
type GraphStats struct {
	Entities   int `json:"entities" jsonschema:"entities that are not archived"`
	Notes      int `json:"notes" jsonschema:"notes that are not archived"`
	References int `json:"references" jsonschema:"stored references between entities"`
	Links      int `json:"links" jsonschema:"wikilinks between notes, each pair once"`
	Dangling   int `json:"dangling" jsonschema:"references to records that are missing or archived"`
	Components int `json:"components" jsonschema:"parts that no edge connects"`
	Largest    int `json:"largest" jsonschema:"records of the largest part"`
	Orphans    int `json:"orphans" jsonschema:"records without any edge"`
	MaxDegree  int `json:"maxDegree" jsonschema:"most edges at one record"`
	// MeanDegree is edges at a record, in both directions, on average;
	// MedianDegree is what half of the records have at most.
	MeanDegree   float64       `json:"meanDegree" jsonschema:"edges at a record on average"`
	MedianDegree int           `json:"medianDegree" jsonschema:"median number of edges of a record"`
	Degrees      []GraphDegree `json:"degrees" jsonschema:"how many records have each number of edges"`
	Hubs         []GraphHub    `json:"hubs" jsonschema:"the records with the most edges"`
}

// GraphDegree counts the records with From to To edges. The ranges are 0, 1, 2 to 3,
// 4 to 7 and so on, up to the greatest degree.
type GraphDegree struct {
	From    int `json:"from" jsonschema:"edges at least"`
	To      int `json:"to" jsonschema:"edges at most"`
	Records int `json:"records" jsonschema:"records with so many edges"`
}

// GraphHub is a record with many edges.
type GraphHub struct {
	ID     string `json:"id" jsonschema:"id of the record"`
	Kind   string `json:"kind" jsonschema:"note or entity"`
	Name   string `json:"name" jsonschema:"its name or title"`
	Type   string `json:"type,omitempty" jsonschema:"its type, of an entity"`
	Degree int    `json:"degree" jsonschema:"its edges, in both directions"`
}

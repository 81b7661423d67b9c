package protocol

// JobKind is a kind of long call, with limits of its own: so that one kind keeps no
// place from another.
type JobKind struct {
	Name          string
	PerConnection int  // calls of it that a connection runs at a time; 0: what the limit jobs of the daemon says
	Total         int  // of all connections; 0: any number
	Interactive   bool // for a caller who waits: it ends with its connection, and a withdrawn call is answered at once
}

// The kinds of jobs.
var (
	JobImport  = JobKind{Name: "import", Total: 16}
	JobIndex   = JobKind{Name: "index", Total: 16}
	JobBackup  = JobKind{Name: "backup", Total: 8}
	JobChat    = JobKind{Name: "chat", PerConnection: 8, Total: 8, Interactive: true}
	JobBooks   = JobKind{Name: "books", Total: 4}
	JobReplace = JobKind{Name: "replace", Total: 8} // of the store: restore and check
)

// job gives a method of the mode Job its kind.
func job(kind JobKind, m Method) Method {
	m.Kind = kind
	return m
}

package protocol

import "time"

// SyncStatus is the result of sync.status.
type SyncStatus struct {
	Shared     bool          `json:"shared" jsonschema:"whether the store is shared with other machines; without it everything else is absent"`
	Machine    int           `json:"machine,omitempty" jsonschema:"number of this machine"`
	Connected  bool          `json:"connected,omitempty" jsonschema:"whether a server can be reached"`
	Server     string        `json:"server,omitempty" jsonschema:"name of the server that this machine is connected to"`
	Durability string        `json:"durability,omitempty" enum:"quorum-synced,quorum,single" jsonschema:"what an acknowledgement is worth: on the disks of most servers, on most servers, or on one server; absent when unknown"`
	Applied    int           `json:"applied,omitempty" jsonschema:"sequence up to which the shared log is applied here"`
	Newest     int           `json:"newest,omitempty" jsonschema:"sequence of the newest message on the servers; absent when they do not say"`
	Behind     int           `json:"behind,omitempty" jsonschema:"messages that are not applied here yet"`
	Reruns     int           `json:"reruns,omitempty" jsonschema:"groups of writes that ran again since the start, since another machine was first"`
	Foreign    int           `json:"foreign,omitempty" jsonschema:"transactions of other machines that were applied since the start"`
	Trouble    string        `json:"trouble,omitempty" jsonschema:"why the shared log cannot be read or written; absent when it can"`
	Hint       string        `json:"hint,omitempty" jsonschema:"what to do about the trouble"`
	Compacting bool          `json:"compacting,omitempty" jsonschema:"what was deleted is still on the servers, since they could not be used when admin.compact was called; it goes when they can"`
	Warnings   []string      `json:"warnings,omitempty" jsonschema:"what is wanting of the servers"`
	Machines   []SyncMachine `json:"machines,omitempty" jsonschema:"the machines that take part, by number"`
	Snapshot   *SyncSnapshot `json:"snapshot,omitempty" jsonschema:"the newest state on the servers, which machines that join take"`
}

// SyncMachine is a machine that takes part in a shared store.
type SyncMachine struct {
	Machine int       `json:"machine" jsonschema:"its number"`
	Name    string    `json:"name" jsonschema:"what its owner calls it"`
	Self    bool      `json:"self,omitempty" jsonschema:"it is this one"`
	Joined  time.Time `json:"joined" jsonschema:"when it joined, by its clock"`
	Seen    time.Time `json:"seen" jsonschema:"when it was there last, by its clock"`
	Applied int       `json:"applied" jsonschema:"sequence that it had applied then"`
}

// SyncSnapshot is a state of a shared store on the servers.
type SyncSnapshot struct {
	At      int       `json:"at" jsonschema:"sequence of the log at which it was made, or shortly before"`
	Bytes   int64     `json:"bytes" jsonschema:"its size before it was packed"`
	Machine int       `json:"machine" jsonschema:"the machine that made it"`
	Made    time.Time `json:"made" jsonschema:"when, by the clock of that machine"`
}

// SyncCompacted is what admin.compact has done beyond this machine.
type SyncCompacted struct {
	Done     bool                   `json:"done" jsonschema:"whether nothing is left on the servers of what was deleted; otherwise that is noted here, and done when they can be used"`
	Trouble  string                 `json:"trouble,omitempty" jsonschema:"why it is not done yet"`
	Hint     string                 `json:"hint,omitempty" jsonschema:"what to do about the trouble"`
	First    int                    `json:"first,omitempty" jsonschema:"sequence of the first message that is left on the servers"`
	Machines []SyncCompactedMachine `json:"machines,omitempty" jsonschema:"the other machines; a machine that is off does its part when it is back"`
}

// SyncCompactedMachine is how far another machine is with it.
type SyncCompactedMachine struct {
	Machine   int    `json:"machine" jsonschema:"its number"`
	Name      string `json:"name" jsonschema:"what its owner calls it"`
	Compacted bool   `json:"compacted" jsonschema:"whether its own files hold nothing of what was deleted; false until it has said so"`
	Copies    bool   `json:"copies" jsonschema:"whether it keeps a copy of what it had before it joined anew, which ctxd compact deletes there"`
}

// SyncRemove is the params of sync.remove.
type SyncRemove struct {
	Machine int `json:"machine" jsonschema:"number of the machine, as sync.status lists it"`
}

// SyncRemoved is the result of sync.remove.
type SyncRemoved struct {
	Words string `json:"words" jsonschema:"the new recovery words, which machines that join need from now on"`
}

// SyncLeft is the result of sync.leave.
type SyncLeft struct {
	Machine int    `json:"machine" jsonschema:"number that this machine had"`
	Untold  string `json:"untold,omitempty" jsonschema:"why the servers could not be told of it: the machine stays in the list of the others until one of them removes it"`
}

// SyncHealth is how a shared store stands, in admin.health.
type SyncHealth struct {
	Connected  bool   `json:"connected" jsonschema:"whether a server can be reached"`
	Durability string `json:"durability,omitempty" enum:"quorum-synced,quorum,single" jsonschema:"what an acknowledgement is worth: on the disks of most servers, on most servers, or on one server; absent until the servers have said it"`
}

var syncMethods = []Method{
	daemon(describe[Empty, SyncStatus]("sync.status", Read,
		"Tell how the store stands that this machine shares with others.",
		"Asks the servers; what they do not say is left out, and trouble says why. Times are those of the machines' own clocks.",
		Example{`{}`, `{"shared":true,"machine":1,"connected":true,"server":"server1","durability":"quorum-synced","applied":1200,"newest":1200,"machines":[{"machine":1,"name":"laptop","self":true,"joined":"2026-01-31T09:30:00Z","seen":"2026-01-31T10:30:00Z","applied":1200}],"snapshot":{"at":1000,"bytes":65536,"machine":1,"made":"2026-01-31T10:00:00Z"}}`})),
	daemon(describe[SyncRemove, SyncRemoved]("sync.remove", Mutation,
		"Take a machine out of the shared store.",
		"Another key begins, which the machine does not get: it keeps what it has and gets nothing new. The present recovery words are worth nothing from then on. The error unavailable, retryable, means that the servers did not answer.",
		//nolint:dupword // the words of a key of zeros
		Example{`{"machine":2}`, `{"words":"abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon art"}`},
		CodeNotFound, CodeConflict)),
	daemon(describe[Empty, SyncLeft]("sync.leave", Mutation,
		"Take this machine out of the shared store.",
		"It keeps the records. Its daemon goes on until it is stopped; the next start opens a store of this machine alone.",
		Example{`{}`, `{"machine":2}`},
		CodeConflict)),
}

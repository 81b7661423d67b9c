package protocol

import (
	"encoding/json"
	"time"

	"github.com/ctxd/ctxd/entities/record"
)

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
	Queue      *SyncQueue    `json:"queue,omitempty" jsonschema:"what was taken while the servers could not be reached; absent when nothing of it waits and nothing was refused"`
}

// SyncQueue counts what was taken while the servers of a shared store could not be reached.
type SyncQueue struct {
	Waiting      int          `json:"waiting" jsonschema:"calls that wait to be made again"`
	Oldest       *time.Time   `json:"oldest,omitempty" jsonschema:"when the first of them was taken; absent when none waits"`
	Refused      int          `json:"refused" jsonschema:"calls that could not be made again, see sync.conflicts"`
	LastConflict *SyncRefusal `json:"lastConflict,omitempty" jsonschema:"the last of those; absent for none"`
}

// SyncRefusal says which call could not be made again, and why.
type SyncRefusal struct {
	Number    int       `json:"number" jsonschema:"number of the call, for sync.settle"`
	Method    string    `json:"method" jsonschema:"its method"`
	At        time.Time `json:"at" jsonschema:"when it was taken"`
	RefusedAt time.Time `json:"refusedAt" jsonschema:"when it was refused"`
	Message   string    `json:"message" jsonschema:"why: one sentence"`
	Field     string    `json:"field,omitempty" jsonschema:"the parameter at fault"`
	Hint      string    `json:"hint,omitempty" jsonschema:"what to do about it"`
}

// SyncConflict is a call that could not be made again, with both sides.
type SyncConflict struct {
	SyncRefusal
	Audience string          `json:"audience" enum:"local,remote" jsonschema:"for whom it reads and writes"`
	Client   string          `json:"client,omitempty" jsonschema:"the program that made it"`
	Mine     json.RawMessage `json:"mine" jsonschema:"what it was to write: its params or, of chat.send, the message as text or the answer as content"`
	Theirs   *SyncTheirs     `json:"theirs,omitempty" jsonschema:"what is in the way, as it is now; absent when nothing is there"`
}

// SyncTheirs is what is there in the place of a call that was refused. One member is set.
type SyncTheirs struct {
	Note         *record.Note         `json:"note,omitempty" jsonschema:"a note"`
	Entity       *record.Entity       `json:"entity,omitempty" jsonschema:"an entity"`
	Memory       *record.Memory       `json:"memory,omitempty" jsonschema:"a memory"`
	Conversation *record.Conversation `json:"conversation,omitempty" jsonschema:"a conversation"`
}

// SyncConflictsOf are the parameters of sync.conflicts.
type SyncConflictsOf struct {
	Page
}

// SyncConflicts is the result of sync.conflicts.
type SyncConflicts struct {
	Conflicts  []SyncConflict `json:"conflicts" jsonschema:"the first taken first"`
	Total      int            `json:"total" jsonschema:"how many there are in all"`
	NextCursor string         `json:"nextCursor,omitempty" jsonschema:"cursor of the next page; absent on the last"`
}

// What becomes of a call that was refused.
const (
	KeepTheirs = "theirs"
	KeepAgain  = "again"
)

// SyncSettle are the parameters of sync.settle.
type SyncSettle struct {
	Number int    `json:"number" min:"1" jsonschema:"number of the call, as sync.conflicts lists it"`
	Keep   string `json:"keep" enum:"theirs,again" jsonschema:"theirs: what is there stays, and the call is forgotten; again: the call is made once more"`
}

// SyncSettled is the result of sync.settle.
type SyncSettled struct {
	Number int    `json:"number" jsonschema:"number of the call"`
	Keep   string `json:"keep" enum:"theirs,again" jsonschema:"what becomes of it"`
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
	Waiting    int    `json:"waiting,omitempty" jsonschema:"calls that were taken while no server could be reached, and wait; absent for none, and for a remote reader"`
	Refused    int    `json:"refused,omitempty" jsonschema:"calls of those that could not be made again, see sync.conflicts; absent for none, and for a remote reader"`
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
	daemon(describe[SyncConflictsOf, SyncConflicts]("sync.conflicts", Read,
		"List the calls that waited for the other machines and could not be made again.",
		"With the setting store.sync.offline: queue, memory.add, chat.append, chat.send, and notes.put and entities.put of new ids are taken while the servers cannot be reached, and made again when they can. What cannot be made again is kept here, with both sides, until sync.settle ends it.",
		Example{`{}`, `{"conflicts":[{"number":3,"method":"notes.put","at":"2026-01-31T09:30:00Z","refusedAt":"2026-01-31T10:30:00Z","message":"note \"plan\" has version 1, not 0","hint":"read it again and decide whether to overwrite it","audience":"local","client":"notes","mine":{"id":"plan","body":"Ours"},"theirs":{"note":` + exampleNote + `}}],"total":1}`})),
	daemon(describe[SyncSettle, SyncSettled]("sync.settle", Mutation,
		"End a conflict of sync.conflicts: leave what is there, or make the call once more.",
		"Nothing ends one by itself. A call that is made once more goes behind those that wait, and gets a new number; when it is refused again, it is listed again.",
		Example{`{"number":3,"keep":"theirs"}`, `{"number":3,"keep":"theirs"}`},
		CodeNotFound, CodeConflict)),
}

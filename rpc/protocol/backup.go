package protocol

import (
	"github.com/ctxd/ctxd/entities/record"
)

// Backup are the parameters of admin.backup.
type Backup struct {
	Path      string `json:"path" jsonschema:"absolute path of the file to write, outside the daemon's data folder"`
	Overwrite bool   `json:"overwrite,omitempty" jsonschema:"replace a file that is there"`
}

// Restore are the parameters of admin.restore.
type Restore struct {
	Path     string `json:"path" jsonschema:"absolute path of a file that admin.backup wrote"`
	DryRun   bool   `json:"dryRun,omitempty" jsonschema:"read and check the file and count, change nothing"`
	Checksum string `json:"checksum,omitempty" jsonschema:"the checksum that the file must have; admin.backup returns it"`
}

// Restored is the result of admin.restore: the manifest of the backup, and what
// became of it.
type Restored struct {
	record.StoreManifest
	DryRun   bool   `json:"dryRun" jsonschema:"whether it was a dry run"`
	Restored bool   `json:"restored" jsonschema:"whether the store was replaced"`
	Previous string `json:"previous,omitempty" jsonschema:"backup of the state that was replaced, in the data folder; the next restore replaces it"`
	Current  Counts `json:"current" jsonschema:"what was in the store before; in a dry run, what is in it"`
}

// Counts say how much is in a store.
type Counts struct {
	Seq      uint64 `json:"seq" jsonschema:"number of the last transaction"`
	Records  int    `json:"records" jsonschema:"records in the store"`
	Notes    int    `json:"notes" jsonschema:"notes, archived ones included"`
	Entities int    `json:"entities" jsonschema:"entities, those that are archived ones included"`
	Types    int    `json:"types" jsonschema:"declared types"`
	Vaults   int    `json:"vaults" jsonschema:"known vaults"`
}

// Checked is the result of admin.check.
type Checked struct {
	OK       bool                        `json:"ok" jsonschema:"whether nothing was wrong"`
	Files    []record.StoreInspectedFile `json:"files" jsonschema:"the files of the store"`
	Problems []string                    `json:"problems" jsonschema:"what is wrong with the files, and which records don't fit together and could not be mended, one sentence for each finding"`
	Hint     string                      `json:"hint,omitempty" jsonschema:"what to do about records that could not be mended"`
	Mended   []string                    `json:"mended" jsonschema:"which records did not fit together and do now, one sentence for each finding"`
	Compared bool                        `json:"compared" jsonschema:"whether everything was rebuilt from the records and compared; false with a damaged file"`
	Drift    []Drift                     `json:"drift" jsonschema:"what differed from the records and was rebuilt"`
	Records  int                         `json:"records" jsonschema:"records in the store"`
	MS       int64                       `json:"ms" jsonschema:"milliseconds that it took"`
}

// Drift is a derived view that differed from the records that it is made of.
type Drift struct {
	View     record.StoreView `json:"view" jsonschema:"the view"`
	Found    int              `json:"found" jsonschema:"how many of its records were different, missing or superfluous"`
	IDs      []string         `json:"ids" jsonschema:"up to ten of them: ids of records, names of types or tags"`
	Repaired bool             `json:"repaired" jsonschema:"whether it is right now"`
}

var (
	backupMethod = job(JobBackup, wholeStore(describe[Backup, record.StoreManifest]("admin.backup", Job,
		"Back up all records to one file, for admin.restore.",
		"The file holds the state after one transaction. It appears only when it is complete, other calls do not wait for it, and only this user can read it.",
		Example{`{"path":"/home/me/notes.ctxdbackup"}`, exampleManifest + `}`},
		CodeNotFound, CodeConflict)))
	restoreMethod = job(JobReplace, replacesStore(wholeStore(describe[Restore, Restored]("admin.restore", Job,
		"Replace the whole store with a backup.",
		"The file is read to its end and checked first; on any error nothing is changed. Then new calls wait, those under way finish, and jobs end with Unavailable, until the backup is in place. "+
			"Subscribers get events of the kind many. The replaced state is kept as a backup in the data folder, only the last one.",
		Example{
			`{"path":"/home/me/notes.ctxdbackup","dryRun":true}`,
			exampleManifest +
				`,"dryRun":true,"restored":false,"current":{"seq":57,"records":180,"notes":61,"entities":40,"types":6,"vaults":1}}`,
		},
		CodeNotFound, CodeConflict))))
	checkMethod = job(JobReplace, replacesStore(wholeStore(describe[Empty, Checked]("admin.check", Job,
		"Check the files of the store and everything derived from its records, and repair what is wrong.",
		"Every file is read to its end. Then calls wait, as during admin.restore, while the store is closed, opened anew and compared with what was served before: a few seconds with 100,000 notes. "+
			"If a file is damaged the store stays open, since memory may hold what the file has lost: make a backup then.",
		Example{`{}`, `{"ok":true,"files":[{"name":"journal-0000000000000029-1f2e3d4c5b6a7988","kind":"journal","bytes":8192,"first":41,"last":42,"intact":2,"condition":"whole"}],"problems":[],"mended":[],"compared":true,"drift":[],"records":120,"ms":60}`},
		CodeConflict))))
)

var reindexMethod = job(JobIndex, wholeStore(describe[Reindex, Reindexed]("admin.reindex", Job,
	"Rebuild the index of words or of vectors.",
	"Answers when everything of the kind is in it. Words are found as they are read in, and results say so meanwhile; the vectors that were there serve until the new ones are complete. "+
		"If the call is cancelled or the disk is full, the vectors stay as they were; the index of words is completed all the same.",
	Example{`{"what":"vectors"}`, `{"what":"vectors","notes":60,"vectors":180,"refused":0,"others":12,"ms":140}`},
	CodeConflict)))

// Compacted is the result of admin.compact.
type Compacted struct {
	Freed  int64          `json:"freed" jsonschema:"bytes by which the data folder became smaller"`
	Shared *SyncCompacted `json:"shared,omitempty" jsonschema:"what became of it on the servers and on other machines; absent where the store is this machine's alone"`
}

var compactMethod = job(JobBackup, wholeStore(describe[Empty, Compacted]("admin.compact", Job,
	"Leave nothing of what was deleted in the files of the store.",
	"The store writes its present state anew, and removes older states of it, the journals that lead from them to the present, and what restores have kept: they cannot be undone any more. Backups elsewhere stay as they are. "+
		"Where the store is shared with other machines, the servers get the present state and lose all that was before, and the other machines compact their own files when they read that it was asked for. "+
		"Machines that are on get a minute to read what goes; one that was off and has not read all of it has to join anew. Without the servers it is done here, noted, and done there when they are back.",
	Example{`{}`, `{"freed":1048576,"shared":{"done":true,"first":1201,"machines":[{"machine":2,"name":"desktop","compacted":false,"copies":false}]}}`})))

const exampleManifest = `{"path":"/home/me/notes.ctxdbackup","format":2,"seq":42,"created":"2026-01-31T09:30:00Z","program":"ctxd 0.1.0","records":120,"collections":{"entity":40,"note":62},"bytes":65536,"checksum":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`

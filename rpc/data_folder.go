package rpc

import "time"

// What a daemon does with its data folder, for the command line, which does the
// same with one that no daemon has.

// DiskRoom returns the free and the whole size in bytes of the disk that a
// folder lies on, zeros when unknown.
func DiskRoom(dir string) (free, total uint64) { return diskRoom(dir) }

// ReplacedFile returns where in a data folder a restore keeps the state that it
// replaces.
func ReplacedFile(dataDir string, now time.Time) string {
	return (&Server{dataDir: dataDir}).replacedFile(now)
}

// RemoveReplaced removes from a data folder what earlier restores have kept.
func RemoveReplaced(dataDir, except string) { (&Server{dataDir: dataDir}).removeReplaced(except) }

package kv

import "github.com/ctxd/ctxd/entities/kv/disk"

// FS is the seam to the file system, see disk.FS.
type FS = disk.FS

// File is an open file of an FS.
type File = disk.File

// ErrLocked is what FS.Lock returns for a lock that somebody else holds.
var ErrLocked = disk.ErrLocked

// OS returns the operating system's file system, the one used when Options.FS is nil.
func OS() FS { return disk.OS() }

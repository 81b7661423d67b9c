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

func orOS(fsys FS) FS {
	if fsys == nil {
		return disk.OS()
	}
	return fsys
}

// Exists reports whether there is a store in a folder, see disk.Exists. fsys may be nil.
func Exists(fsys FS, dir string) (bool, error) { return disk.Exists(orOS(fsys), dir) }

// Files returns the names of the files of a store in a folder, see disk.Files. fsys may be nil.
func Files(fsys FS, dir string) (files, others []string, err error) {
	return disk.Files(orOS(fsys), dir)
}

// Remove deletes the files of the store in a folder, see disk.Remove. fsys may be nil.
func Remove(fsys FS, dir string) error { return disk.Remove(orOS(fsys), dir) }

// Package host is about the daemon and its machine: the room on a disk, the memory that the process has in use,
// the files that a restore keeps in the data folder and how they are removed, and where calls may have files
// written. The daemon and the commands that work without one ask it. It keeps nothing, and is safe for
// concurrent use.
package host

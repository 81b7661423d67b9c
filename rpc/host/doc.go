// Package host tells what the daemon finds on its machine: the room on a disk, the memory that the process
// has in use, and the files that a restore keeps in the data folder. The daemon and the commands that work
// without one ask it. It keeps nothing, and is safe for concurrent use.
package host

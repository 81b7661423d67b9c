// Package learn opens the rooms of learning over one store, and joins what other rooms ask of all of them: to forget what
// is deleted, to check their records, and to mend them. README.md names the promises; each room below says what it costs.
//
// It is opened behind the memories, by who opens the rooms. Nothing has to be closed; [Stores.Flush] writes what is not
// written yet. All methods may be called concurrently.
package learn

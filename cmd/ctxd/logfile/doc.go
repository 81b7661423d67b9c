// Package logfile writes the log of a daemon and reads it.
//
// A daemon logs to standard error and to a file, unless it was told not to (daemon_log.go, file.go). The file is
// always JSON, whatever the form on standard error, so that ctxd inspect log (reader.go, record.go) can read it. It is
// opened when the daemon has its data, and not before: a second daemon that is about to be refused must not rotate the
// first one's log. The trace of a crash lies beside it. A log holds counts, names of methods and states, and nothing
// that a user wrote.
//
// A Log may be used concurrently and lives as long as its daemon. A Reader and a Printer are used by one goroutine;
// the file may be rotated under a Reader.
//
// Wall: subject: the log of the daemon, for who writes it and who reads it.
package logfile

// Package syncs is ctxd sync: one store on several machines. init begins a shared store on
// NATS servers, and join takes part in one; both talk to the servers themselves, with the
// settings store.sync.*, and need the daemon of the data folder to be stopped (join) or started
// again afterwards (init). status, machines, remove, leave, conflicts and resolve
// ask the daemon.
//
// The commands are used by one goroutine. Recovery words are read from a file or from standard
// input, never from the command line, where other programs could see them; init and remove
// print them once. Only main calls the package; its errors are those of the daemon and of
// package shared.
package syncs

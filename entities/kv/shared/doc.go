// Package shared joins a record store and the log that it shares with other machines: what of
// the log lies in the data folder, what a machine does beside serving, and how it comes in and
// goes out.
//
// In the folder "sync" of the data folder lie the key of the machine (package stream describes
// it), and for a while a state that goes to the servers or comes from there. All files have
// mode 0600, the folder 0700.
//
// Replica belongs to one daemon. Open makes it and needs no servers; Prepare gives the options
// of the store its log; Serve begins to follow the others when the rooms above the store are
// open. It says every announceEvery that this machine is there, asks what the servers are, and
// writes a snapshot when the log has grown by snapshotEvery messages. Close comes after the
// store's own Close. A join takes the newest snapshot in pieces, keeps what it has when it is
// interrupted, and changes the store in one step at the end.
//
// Errors are *fault.Error, those of package stream among them. Sizes are in bytes, sequences
// count messages of the log. All methods may be called concurrently, but for Open, Prepare,
// Serve and Close, which one goroutine calls in this order. Status costs one round trip to the
// servers and one more for each machine; Health asks nobody.
package shared

// Package shared joins a record store and the log that it shares with other machines: what of
// the log lies in the data folder, what a machine does beside serving, and how it comes in and
// goes out. commitlog_log.go of entities/kv/outbox has a picture of the whole, and the words.
//
// In the folder "sync" of the data folder lie the key of the machine (entities/kv/nats describes
// it), and for a while a state that goes to the servers or comes from there. All files have
// mode 0600, the folder 0700.
//
// Replica belongs to one daemon. Open makes it and needs no servers; Prepare gives the options
// of the store its log; Serve begins to follow the others when what stands on the store is
// open. From then on it says twice a minute that this machine is there, asks what the servers are,
// and writes a snapshot when the log has grown by 10,000 messages. Close comes after the store's
// own Close. A join takes the newest snapshot in pieces, keeps what it has when it is interrupted,
// and changes the store in one step at the end.
//
// # Compaction
//
// What was deleted stays in the log until that is purged, in older snapshots, and in the files
// of every machine. Compact leaves nothing of it:
//
//  1. It notes in a file of the folder that the servers are to be compacted.
//  2. It writes a numbered record to the store. Every machine reads it behind the deletions.
//  3. It has the files of this machine compacted.
//  4. It puts a snapshot of the present state on the servers. For that it waits for the lease.
//  5. It gives the machines that are on a minute to read the log up to the record.
//  6. It purges log and snapshots up to there, and deletes the file of step 1.
//
// Whatever ends in between, and a call without servers, is done again when they can be used: the
// file of step 1 says so. A machine that reads the record compacts its own files and says so in its
// entry in the list of machines. One that is off does so when it is back. If it had not read as
// far as the purge, it has to join anew: its hint says so, and what it has can be read meanwhile.
// A copy of what a machine had before it joined anew may hold what no other has. So it stays until
// somebody compacts that very machine, and the others are told that it is there. The servers purge
// messages and objects in their files; what their disks keep of deleted blocks is encrypted.
//
// Errors are *fault.Error, those of entities/kv/nats among them. Sizes are in bytes, sequences
// count messages of the log. All methods may be called concurrently, but for Open, Prepare,
// Serve and Close, which one goroutine calls in this order. Status costs one round trip to the
// servers and one more for each machine; Health asks nobody.
//
// Wall: promise: only here do the store and NATS meet; the store alone brings in no client of it.
package shared

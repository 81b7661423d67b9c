// Package waiting has calls wait that only add, while the other machines of a shared store cannot be reached: the half
// of the setting store.sync.offline that stands above the records. Package kv keeps what waits, shows it to this machine
// and hands it over again; here is what a call is that can be made again.
//
// A Call is made by Begin for each call of a method that may wait, and is nil where none may: then everything is as
// without it. It gives ids to what the call makes, and takes down what the call has found by a name that may lead
// elsewhere later. When the call is made again, by the same handler and for the same reader, it gives the same ids and
// finds the same. So a call writes once, whatever happens in between, and never more than its caller could.
//
// What follows the write of a call on its own (the outcome that an answer waits for, its title, the facts in a message)
// is left out while the call waits, and done when it is made again: README.md says what of each call.
//
// A Queue may be used concurrently, a Call by one goroutine. Errors are *fault.Error. Pending costs nothing while
// nothing waits, and O(what waits) otherwise.
package waiting

// Package loading has the lock of a view of a store that opens before all of it is
// loaded: what nearly every call needs is there at once, the rest is built behind the
// start or when somebody asks for it first. The rooms that keep such views over
// entities/kv have one Lock each; it imports nothing of ours and may be used by any
// number of goroutines.
package loading

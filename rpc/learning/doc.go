// Package learning has the handlers of what is learned from use. Package rpc lists them in its table of methods, and calls
// them with the Reader of the call. A handler turns params into a call of one room below context/learn, and its answer into
// the result. It keeps nothing, and may be called concurrently; its errors are those of the rooms.
package learning

// Package owner keeps who has which handle: memories and contexts share one namespace, and
// keep in it the handles that they had before. What becomes of a handle is decided inside a
// transaction, where two that are under way must not choose the same.
//
// The rooms of memories and of contexts call it: it stands below both, since each has to see
// what the other has taken. It knows neither, only their kinds and ids. Callers bring the
// transaction, and nothing here is kept between two calls.
//
// The records are of the collection memory-handle: an owner by the fold of a handle, former
// ones too.
package owner

// Package naming finds the entities that a text names without any mark: those that a memory is about when
// nobody says which. It looks through a View, holds nothing, and may be called concurrently.
package naming

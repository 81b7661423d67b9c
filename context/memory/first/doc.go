// Package first keeps the first elements of what is added to it in an order, so that a page of a long list needs no
// sorting of it all. A [List] is for one goroutine; adding costs O(1) mostly, and O(Most log Most) each Most elements.
package first

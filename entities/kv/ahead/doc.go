// Package ahead keeps what views of a store work out of change sets before these are applied,
// several at a time and in any order, until the change set comes whose sequence number it was
// put under. An Ahead lives as long as its view and is safe for concurrent use; Put is O(1),
// Take and Len O(change sets under way). There are no errors: what is missing is the zero value.
package ahead

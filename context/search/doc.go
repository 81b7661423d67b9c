// Package search placeholder.
package search

//go:build !unix

package shared_test

// ranAsChild: the campaign that starts processes stops them with signals, which only Unix has.
func ranAsChild() bool { return false }

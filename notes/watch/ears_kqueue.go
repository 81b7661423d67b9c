//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package watch

// eventful says whether the system tells of changes at a reasonable price: kqueue
// takes a descriptor for each file.
const eventful = false

func exhausted(error) bool { return false }

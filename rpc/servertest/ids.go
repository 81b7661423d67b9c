package servertest

import (
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
)

// CountedIDs makes ids that are the same in every run: the prefix and a number. It may be called concurrently.
func CountedIDs(prefix string) func() string {
	var made atomic.Int64
	return func() string {
		if rehearses() {
			return prefix + "0"
		}
		return fmt.Sprint(prefix, made.Add(1))
	}
}

// rehearses reports whether it is called in the first run of a transaction that runs twice, with the tag twice. Nothing
// of that run is written.
func rehearses() bool {
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
	for {
		frame, more := frames.Next()
		if strings.HasSuffix(frame.Function, "kv.(*Store).rehearse") {
			return true
		}
		if !more {
			return false
		}
	}
}

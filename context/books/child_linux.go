package books

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// memoryInUse is what this process takes, in bytes: memory of its own, without the files that it maps. Code that wazero has compiled is
// none of the runtime's.
func memoryInUse() int64 {
	n, ok := statusOf("RssAnon:")
	if !ok {
		return heldByGo()
	}
	return n
}

// statusOf is a line of the status of this process in bytes.
func statusOf(name string) (int64, bool) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, false
	}
	_, rest, ok := bytes.Cut(status, []byte("\n"+name))
	fields := bytes.Fields(rest[:min(len(rest), 64)])
	if !ok || len(fields) == 0 {
		return 0, false
	}
	n, err := strconv.ParseInt(string(fields[0]), 10, 64)
	return n << 10, err == nil
}

// limitMemory has the kernel refuse more memory of its own than a process has now and so many bytes: for what is faster than a
// look at it.
func limitMemory(more int64) {
	mapped, ok := statusOf("VmData:")
	if !ok {
		return
	}
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_DATA, &limit) == nil {
		limit.Cur = min(uint64(mapped+more), limit.Max)
		_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &limit) // the watch is left
	}
}

// niceness is that of a process which nobody waits for.
const niceness = 10

// yieldToOthers has others run first. On Linux each thread has a niceness of its own, and gives it to those that it starts.
func yieldToOthers() {
	list, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return
	}
	for _, e := range list {
		if id, err := strconv.Atoi(e.Name()); err == nil {
			_ = syscall.Setpriority(syscall.PRIO_PROCESS, id, niceness) // it runs as others do otherwise
		}
	}
}

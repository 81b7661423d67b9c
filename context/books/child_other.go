//go:build !linux

package books

// memoryInUse is what this process takes, in bytes, as the runtime counts it.
func memoryInUse() int64 { return heldByGo() }

// limitMemory does nothing where the operating system has no bound that Go lives with: the watch is left.
func limitMemory(int64) {}

// yieldToOthers does nothing where a process can't say it of itself.
func yieldToOthers() {}

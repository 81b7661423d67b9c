package rpc

import (
	"bytes"
	"os"
	"strconv"
)

// residentBytes returns the memory that the process has in use, 0 when unknown.
func residentBytes() uint64 {
	data, err := os.ReadFile("/proc/self/statm")
	fields := bytes.Fields(data)
	if err != nil || len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseUint(string(fields[1]), 10, 64)
	return pages * uint64(os.Getpagesize())
}

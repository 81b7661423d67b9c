package disk

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// adviseHuge asks for memory in large pages, before it is written to for the first
// time: to get it 4 KiB at a time takes longer than to read the file into it. What
// the system makes of that is all the same to the caller.
func adviseHuge(b []byte) {
	page := uintptr(os.Getpagesize())
	from := -uintptr(unsafe.Pointer(unsafe.SliceData(b))) & (page - 1) //nolint:gosec // only to find whole pages
	if n := uintptr(len(b)); from < n {
		_ = unix.Madvise(b[from:n-(n-from)&(page-1)], unix.MADV_HUGEPAGE)
	}
}

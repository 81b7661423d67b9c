package library

import (
	"fmt"
	"syscall"
)

func open(path string) (uintptr, error) {
	h, err := syscall.LoadLibrary(path)
	if err != nil {
		return 0, fmt.Errorf("the native library %s can't be loaded: %w", path, err)
	}
	return uintptr(h), nil
}

func symbol(name string) (uintptr, error) {
	return syscall.GetProcAddress(syscall.Handle(handle), name)
}

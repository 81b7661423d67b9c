//go:build unix

package library

import (
	"fmt"

	"github.com/ebitengine/purego"
)

func open(path string) (uintptr, error) {
	h, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return 0, fmt.Errorf("the native library cannot be loaded: %w", err)
	}
	return h, nil
}

func symbol(name string) (uintptr, error) { return purego.Dlsym(handle, name) }

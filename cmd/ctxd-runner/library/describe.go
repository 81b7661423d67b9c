package library

import (
	"errors"

	"github.com/ebitengine/purego"
)

// Describe gives what the library knows of the model that was loaded last, as
// JSON: name, kind, device, layers, offloadedLayers, contextLength, maxTokens,
// threads. It fails with a library that is not built from native/shim.cpp: any
// other ends the process on a text of more than 512 tokens.
func Describe() ([]byte, error) {
	address, err := symbol("ctxd_describe")
	if err != nil {
		return nil, errors.New("the native library was not built by task runner")
	}
	var describe func(out *byte, size uint32) int32
	purego.RegisterFunc(&describe, address)
	out := make([]byte, 4<<10)
	n := describe(&out[0], uint32(len(out)))
	if n < 0 {
		return nil, errors.New("the native library does not describe its model")
	}
	return out[:n], nil
}

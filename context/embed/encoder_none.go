//go:build !amd64 && !arm64

package embed

// kernelsHere lists none: what the encoder wants is not written for this processor.
func kernelsHere() []*kernels { return nil }

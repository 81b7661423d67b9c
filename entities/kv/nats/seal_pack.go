package nats

import (
	"errors"
	"sync"

	"github.com/klauspost/compress/zstd"
)

const (
	packs  = 128     // bytes from which compressing is tried
	window = 1 << 20 // bytes that the compression looks back
)

// Both are safe for concurrent use in the way that they are used here.
var (
	encoder = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window))
		if err != nil { // only of options that exclude each other
			panic(err)
		}
		return e
	})
	decoders sync.Map // of limits to *zstd.Decoder
)

// PackEntry compresses an entry if that makes it smaller, and reports whether it did.
func PackEntry(entry []byte) (packed []byte, smaller bool) {
	if len(entry) < packs {
		return entry, false
	}
	packed = encoder().EncodeAll(entry, make([]byte, 0, len(entry)/2))
	if len(packed) >= len(entry) {
		return entry, false
	}
	return packed, true
}

// UnpackEntry is the way back of what Pack has made smaller. It refuses what would become larger
// than limit bytes.
func UnpackEntry(packed []byte, limit int) ([]byte, error) {
	kept, ok := decoders.Load(limit)
	if !ok {
		d, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(uint64(max(limit, window))), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		kept, _ = decoders.LoadOrStore(limit, d)
	}
	entry, err := kept.(*zstd.Decoder).DecodeAll(packed, nil)
	switch {
	case errors.Is(err, zstd.ErrDecoderSizeExceeded), errors.Is(err, zstd.ErrWindowSizeExceeded), err == nil && len(entry) > limit:
		return nil, refuseMessage(ReasonTooLarge)
	case err != nil:
		return nil, refuseMessage(ReasonMalformed)
	}
	return entry, nil
}

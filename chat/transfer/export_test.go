package transfer

import (
	"context"
	"io"
)

// ReadWithin is Read with lower limits.
func ReadWithin(ctx context.Context, r io.ReaderAt, size int64, yield func(ForeignConversation) error,
	conversation, messages int,
) (ReadReport, error) {
	l := standard
	l.conversation, l.messages = conversation, messages
	return readForeign(ctx, r, size, yield, nil, l)
}

// The limits that tests reach.
const (
	MaxDepth    = maxDepth
	MaxProblems = maxProblems
	WindowSize  = windowSize
)

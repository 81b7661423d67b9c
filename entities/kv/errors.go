package kv

import (
	"log/slog"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/disk"
)

const (
	hintRetry   = disk.HintRetry
	hintRestart = "check the disk, then restart the daemon: it reads back what is safely stored"
)

func unavailable(err error, msg string) *fault.Error { return disk.Unavailable(err, msg) }

// ExplainDiskError puts what a user can mend into words, see disk.ExplainError.
func ExplainDiskError(err error) string { return disk.ExplainError(err) }

func unreadable(err error) error { return disk.Unreadable(err) }

func errClosed() error { return fault.New(fault.Unavailable, "the store is closed") }

// logger returns l, or one that writes nothing.
func logger(l *slog.Logger) *slog.Logger {
	if l == nil {
		return slog.New(slog.DiscardHandler)
	}
	return l
}

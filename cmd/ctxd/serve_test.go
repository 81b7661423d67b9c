package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestSRCH35_FormerNamesAreDroppedEveryHour from the start of the daemon to its end, also after
// it failed once.
func TestSRCH35_FormerNamesAreDroppedEveryHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var log bytes.Buffer
		var mu sync.Mutex // guards at
		var at []time.Duration
		started, ended := time.Now(), make(chan struct{})
		drop := func(context.Context) error {
			mu.Lock()
			defer mu.Unlock()
			at = append(at, time.Since(started))
			if len(at) == 2 {
				return errors.New("the disk is full")
			}
			return nil
		}
		go func() {
			defer close(ended)
			dropFormerNames(ctx, drop, slog.New(slog.NewTextHandler(&log, nil)))
		}()
		for _, want := range [][]time.Duration{{0}, {0, time.Hour}, {0, time.Hour, 2 * time.Hour}} {
			synctest.Wait()
			mu.Lock()
			got := slices.Clone(at)
			mu.Unlock()
			if !slices.Equal(got, want) {
				t.Fatalf("dropped after %v, want %v", got, want)
			}
			<-time.After(time.Hour) // by the clock of the bubble
		}
		synctest.Wait()
		cancel()
		<-ended
		if n := strings.Count(log.String(), "cannot drop the former names of notes"); n != 1 {
			t.Errorf("%d warnings in\n%s", n, log.String())
		}
	})
}

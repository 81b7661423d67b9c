//go:build !windows

package vault

import "github.com/fsnotify/fsnotify"

// osWatcher reports changes in folders, each of which is added.
type osWatcher = fsnotify.Watcher

func newOSWatcher(string) (*osWatcher, error) { return fsnotify.NewBufferedWatcher(4096) }

package vault

import (
	"errors"
	"path/filepath"
	"sync"
	"unsafe"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/windows"
)

// eventsSupported says whether folders are watched on this system.
const eventsSupported = true

// outOfWatches reports whether the system gives no more watches, of which one a vault is needed here.
func outOfWatches(error) bool { return false }

// osWatcher reports changes in a folder and in all folders below it. fsnotify opens each folder for itself; while it has
// them open nobody can rename a folder above, and events of a folder that moved name its old path.
type osWatcher struct {
	Events chan fsnotify.Event
	Errors chan error
	root   string

	mu     sync.Mutex // guards what follows
	reader *changeReader
	closed bool
}

func newOSWatcher(root string) (*osWatcher, error) {
	return &osWatcher{Events: make(chan fsnotify.Event, 4096), Errors: make(chan error), root: root}, nil
}

// Add watches dir. Whatever is not the root is watched with it.
func (w *osWatcher) Add(dir string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if dir != w.root || w.reader != nil || w.closed {
		return nil
	}
	r, err := newChangeReader(w)
	if err != nil {
		return err
	}
	w.reader = r
	return nil
}

// Remove ends watching the root, which may be another folder by now. Others are watched as long as they are in it.
func (w *osWatcher) Remove(dir string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if dir == w.root {
		w.end()
	}
	return nil
}

// Close ends the watcher and closes its channels.
func (w *osWatcher) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.end()
	if !w.closed {
		w.closed = true
		close(w.Events)
		close(w.Errors)
	}
	return nil
}

// end stops the reader and waits for it. mu is held.
func (w *osWatcher) end() {
	if w.reader != nil {
		w.reader.stop()
		w.reader = nil
	}
}

// changeReader reads what changes below one open folder, in a goroutine that ends with stop.
type changeReader struct {
	w        *osWatcher
	folder   windows.Handle
	stopping windows.Handle // an event, which ends a wait for changes
	quit     chan struct{}  // ends a wait for the receiver of events
	done     chan struct{}
	overlap  windows.Overlapped
	buf      [64 << 10 / 4]uint32 // the system writes aligned records; shared folders allow no more than 64 KiB
}

const reported = windows.FILE_NOTIFY_CHANGE_FILE_NAME | windows.FILE_NOTIFY_CHANGE_DIR_NAME |
	windows.FILE_NOTIFY_CHANGE_LAST_WRITE | windows.FILE_NOTIFY_CHANGE_SIZE

func newChangeReader(w *osWatcher) (*changeReader, error) {
	name, err := windows.UTF16PtrFromString(w.root)
	if err != nil {
		return nil, err
	}
	r := &changeReader{w: w, quit: make(chan struct{}), done: make(chan struct{})}
	r.folder, err = windows.CreateFile(name, windows.FILE_LIST_DIRECTORY,
		windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, nil,
		windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OVERLAPPED, 0)
	if err != nil {
		return nil, err
	}
	for _, event := range []*windows.Handle{&r.stopping, &r.overlap.HEvent} {
		*event, err = windows.CreateEvent(nil, 1, 0, nil)
		if err != nil {
			r.closeHandles()
			return nil, err
		}
	}
	if err := r.ask(); err != nil {
		r.closeHandles()
		return nil, err
	}
	go r.run()
	return r, nil
}

func (r *changeReader) closeHandles() {
	for _, h := range []windows.Handle{r.folder, r.stopping, r.overlap.HEvent} {
		if h != 0 {
			_ = windows.CloseHandle(h) // there is nothing to do about one that can't be closed
		}
	}
}

// ask has the system collect changes from now on. Those between two calls are kept for the second.
func (r *changeReader) ask() error {
	to := (*byte)(unsafe.Pointer(&r.buf)) //nolint:gosec // buf is kept until the system has written
	return windows.ReadDirectoryChanges(r.folder, to, uint32(unsafe.Sizeof(r.buf)), true, reported, nil, &r.overlap, 0)
}

func (r *changeReader) stop() {
	close(r.quit)
	_ = windows.SetEvent(r.stopping) // of a handle that is open
	<-r.done
}

func (r *changeReader) run() {
	defer close(r.done)
	defer r.closeHandles()
	for {
		which, err := windows.WaitForMultipleObjects([]windows.Handle{r.stopping, r.overlap.HEvent}, false, windows.INFINITE)
		stopped := err != nil || which == windows.WAIT_OBJECT_0
		if stopped {
			_ = windows.CancelIoEx(r.folder, &r.overlap) // what is over can't be cancelled
		}
		var n uint32
		err = windows.GetOverlappedResult(r.folder, &r.overlap, &n, true) // until here buf belongs to the system
		if stopped {
			return
		}
		switch {
		case err == nil && n > 0:
			r.pass(n)
		case err == nil, errors.Is(err, windows.ERROR_NOTIFY_ENUM_DIR):
			r.tell(nil, fsnotify.ErrEventOverflow)
		}
		if err == nil || errors.Is(err, windows.ERROR_NOTIFY_ENUM_DIR) {
			err = r.ask()
		}
		if err != nil { // the folder was removed, or its disk was
			r.tell(&fsnotify.Event{Name: r.w.root, Op: fsnotify.Remove}, nil)
			<-r.quit
			return
		}
	}
}

// pass sends the changes in the first n bytes of buf.
func (r *changeReader) pass(n uint32) {
	at := uint32(0)
	for {
		info := (*windows.FileNotifyInformation)(unsafe.Add(unsafe.Pointer(&r.buf), at)) //nolint:gosec // at is where the system says
		end := at + uint32(unsafe.Offsetof(info.FileName)) + info.FileNameLength
		if end > n {
			r.tell(nil, fsnotify.ErrEventOverflow)
			return
		}
		name := windows.UTF16ToString(unsafe.Slice(&info.FileName, info.FileNameLength/2)) //nolint:gosec // it ends before n
		r.tell(&fsnotify.Event{Name: filepath.Join(r.w.root, name), Op: operation(info.Action)}, nil)
		if info.NextEntryOffset == 0 {
			return
		}
		at += info.NextEntryOffset
	}
}

func operation(action uint32) fsnotify.Op {
	switch action {
	case windows.FILE_ACTION_ADDED, windows.FILE_ACTION_RENAMED_NEW_NAME:
		return fsnotify.Create
	case windows.FILE_ACTION_REMOVED:
		return fsnotify.Remove
	case windows.FILE_ACTION_RENAMED_OLD_NAME:
		return fsnotify.Rename
	}
	return fsnotify.Write
}

// tell sends an event or an error, unless the reader is to stop.
func (r *changeReader) tell(ev *fsnotify.Event, err error) {
	if ev != nil {
		select {
		case r.w.Events <- *ev:
		case <-r.quit:
		}
		return
	}
	select {
	case r.w.Errors <- err:
	case <-r.quit:
	}
}

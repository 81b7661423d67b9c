package books

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/notes"
)

// Which attachments of vaults are read.
const (
	AttachmentsAuto  = "auto"  // those of a vault that has no more than AttachedBytes of them
	AttachmentsRead  = "read"  // all
	AttachmentsNames = "names" // none: they are known by name
)

// AttachedBytes is how large the attachments of a vault are together at most that are read with AttachmentsAuto.
const AttachedBytes = 200 << 20

// VaultFiles are the files of vaults: vault.Importer.
type VaultFiles interface {
	// Followed returns the names of the vaults that are followed.
	Followed(ctx context.Context) ([]string, error)
	// ReadableFiles returns the attachments of a vault that Store.Reads says yes to, by path.
	ReadableFiles(ctx context.Context, vault string) (map[string]notes.Attachment, error)
	// OpenFile opens one. The error is Unavailable while the folder is away, NotFound for a file that is gone.
	OpenFile(ctx context.Context, vault, p string) (*os.File, error)
}

// FollowerOptions say which attachments become books.
type FollowerOptions struct {
	Files     VaultFiles
	IsPrivate func(vault, path string) bool // whether a place is private
	Which     string                        // AttachmentsAuto and others; "": AttachmentsAuto
	Bytes     int64                         // 0: AttachedBytes
	Now       func() time.Time              // nil: time.Now
}

// Host is what a Follower needs from the server that owns the store.
type Host struct {
	// Enter runs work while the store may be used. The context that work gets may end earlier than the one given.
	Enter    func(ctx context.Context, work func(context.Context) error) error
	Progress func(vault, stage string, done, total int)
	Changed  func()          // Warnings may return something else
	Failed   func(err error) // nothing can be read now; not the error of a file
}

// StageAttachments is what the progress of a Follower is called.
const StageAttachments = "attachments"

// Follower keeps a book for each attachment of the vaults that are followed. It looks at nothing until Wake is called.
type Follower struct {
	store *Store
	opts  FollowerOptions
	wake  chan struct{}

	mu      sync.Mutex // guards what follows
	started bool
	timer   *time.Timer      // until a file is old enough to be read
	left    map[string]int64 // bytes of the attachments of vaults of which some are not read
}

// Follow returns a Follower. It does nothing until Start.
func (s *Store) Follow(opts FollowerOptions) *Follower {
	opts.Which, opts.Bytes = cmp.Or(opts.Which, AttachmentsAuto), cmp.Or(opts.Bytes, AttachedBytes)
	if opts.Now == nil {
		opts.Now = time.Now
	}
	return &Follower{store: s, opts: opts, wake: make(chan struct{}, 1), left: make(map[string]int64)}
}

// Hide has the books of attachments be as private as their places are, which the configuration may say otherwise than when they
// were read. Call it before anybody reads.
func (f *Follower) Hide(ctx context.Context) error {
	vaults, err := f.opts.Files.Followed(ctx)
	for _, vault := range vaults {
		var known map[string]attachment
		if err == nil {
			known, err = f.store.attached(ctx, vault)
		}
		if err == nil {
			err = f.store.hideAttached(ctx, vault, known, f.opts.IsPrivate)
		}
	}
	return err
}

// Start reads what there is to read, and from then on what Wake tells of, until the store is closed.
func (f *Follower) Start(host Host) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.started {
		return
	}
	f.started = true
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	f.store.db.OnClose(func(bool) {
		cancel()
		<-done
	})
	go func() {
		defer close(done)
		for {
			select {
			case <-ctx.Done():
				return
			case <-f.wake:
				f.look(ctx, host)
			}
		}
	}()
	f.Wake()
}

// Wake has the Follower look for files that have come, changed or gone. It returns at once.
func (f *Follower) Wake() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// Warnings says which vaults have attachments that are not read, and how to go on.
func (f *Follower) Warnings() (list []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, vault := range slices.Sorted(maps.Keys(f.left)) {
		list = append(list, fmt.Sprintf("the attachments of vault %s have %s, more than the %s that are read unasked: those that were not read are known by name; "+
			"to search them, set vault.attachments: read (names ends this notice)", vault, megabytes(f.left[vault]), megabytes(f.opts.Bytes)))
	}
	return list
}

// look looks at all vaults once, or until Wake is called: what is to be forgotten does not wait for what is to be read.
func (f *Follower) look(ctx context.Context, host Host) {
	var plans []*plan
	err := host.Enter(ctx, func(ctx context.Context) (err error) {
		plans, err = f.plans(ctx)
		return err
	})
	if err == nil {
		f.note(plans, host)
	}
	for _, p := range plans {
		if err == nil {
			err = f.follow(ctx, host, p)
		}
	}
	if err != nil && ctx.Err() == nil {
		host.Failed(err)
	}
}

// plans says what is to be done in all vaults.
func (f *Follower) plans(ctx context.Context) (list []*plan, err error) {
	vaults, err := f.opts.Files.Followed(ctx)
	for _, vault := range vaults {
		if err != nil {
			return nil, err
		}
		var p *plan
		if p, err = f.plan(ctx, vault); err == nil {
			list = append(list, p)
		}
	}
	return list, err
}

// note notes of which vaults attachments are not read.
func (f *Follower) note(plans []*plan, host Host) {
	left := make(map[string]int64)
	for _, p := range plans {
		if p.left > 0 {
			left[p.vault] = p.left
		}
	}
	f.mu.Lock()
	same := maps.Equal(left, f.left)
	f.left = left
	f.mu.Unlock()
	if !same {
		host.Changed()
	}
}

// follow does what is to be done in one vault. A folder that is away is no error: it is looked at again when it is back.
func (f *Follower) follow(ctx context.Context, host Host, p *plan) error {
	for _, one := range p.steps {
		if len(f.wake) > 0 {
			return nil
		}
		err := host.Enter(ctx, func(ctx context.Context) error { return f.step(ctx, p.vault, one) })
		switch kind := fault.KindOf(err); {
		case err == nil:
		case ctx.Err() != nil:
			return ctx.Err()
		case kind == fault.Unavailable && !f.isThere(ctx, p.vault):
			return nil
		case kind != fault.Cancelled && kind != fault.NotFound: // of these two is told what went meanwhile
			return err
		}
		if one.read {
			p.done++
			host.Progress(p.vault, StageAttachments, p.done, p.total)
		}
	}
	return nil
}

// isThere reports whether a folder can be opened: any file of it will do.
func (f *Follower) isThere(ctx context.Context, vault string) bool {
	file, err := f.opts.Files.OpenFile(ctx, vault, ".")
	if err == nil {
		_ = file.Close()
	}
	return fault.KindOf(err) != fault.Unavailable
}

// plan is what is to be done about the attachments of a vault.
type plan struct {
	vault       string
	steps       []step
	done, total int   // attachments that are read, and that are to be
	left        int64 // bytes of all attachments, when some are not read for that
}

// step is what is to be done about one attachment: it is read, or its book goes.
type step struct {
	file  notes.Attachment
	read  bool
	moved []string // paths of attachments that are gone and may be this one
}

// grain is the coarsest step of the times of files. A younger file may be written to once more and keep its time, so it is read
// when it is older.
const grain = 2 * time.Second

// plan compares the attachments of a vault with what was read of them, whose books it has be as private as they are.
func (f *Follower) plan(ctx context.Context, vault string) (*plan, error) {
	files, err := f.opts.Files.ReadableFiles(ctx, vault)
	if err != nil {
		return nil, err
	}
	known, err := f.store.attached(ctx, vault)
	if err == nil {
		err = f.store.hideAttached(ctx, vault, known, f.opts.IsPrivate)
	}
	if err != nil {
		return nil, err
	}
	if f.opts.Which == AttachmentsNames {
		clear(files)
	}
	bytes, p := int64(0), &plan{vault: vault}
	for _, a := range files {
		bytes += a.Size
	}
	full := f.opts.Which == AttachmentsAuto && bytes > f.opts.Bytes
	removed, gone := f.gone(vault, files, known)
	var moved, fresh []step
	for _, a := range files {
		was, there := known[a.Path]
		switch {
		case there && f.isRead(was, vault, a):
			p.done++
		case f.isYoung(a):
		case there:
			fresh = append(fresh, step{file: a, read: true})
		case gone[a.Size] != nil:
			moved = append(moved, step{file: a, read: true, moved: gone[a.Size]})
		case full:
			p.left = bytes
		default:
			fresh = append(fresh, step{file: a, read: true})
		}
	}
	slices.SortFunc(moved, byPath)
	slices.SortFunc(fresh, newestFirst)
	p.steps = slices.Concat(moved, removed, fresh) // what moved keeps its book, so it is looked at before that goes
	p.total = p.done + len(moved) + len(fresh)
	return p, nil
}

// gone returns the steps for what was read of a vault and is not there any more, and the paths of these by the sizes of the files.
func (f *Follower) gone(vault string, files map[string]notes.Attachment, known map[string]attachment) ([]step, map[int64][]string) {
	var steps []step
	bySize := make(map[int64][]string)
	for _, at := range slices.Sorted(maps.Keys(known)) {
		if _, there := files[at]; there {
			continue
		}
		steps = append(steps, step{file: notes.Attachment{Path: at}})
		if b := f.store.attachedBook(known[at], vault, at); b != nil {
			bySize[b.Bytes] = append(bySize[b.Bytes], at)
		}
	}
	return steps, bySize
}

func byPath(a, b step) int { return strings.Compare(a.file.Path, b.file.Path) }

func newestFirst(a, b step) int {
	return cmp.Or(cmp.Compare(b.file.Modified, a.file.Modified), byPath(a, b))
}

// isRead reports whether the book of an attachment is made of it as it is.
func (f *Follower) isRead(was attachment, vault string, a notes.Attachment) bool {
	b := f.store.attachedBook(was, vault, a.Path)
	return b != nil && b.Hash != "" && was.Size == a.Size && was.Modified == a.Modified
}

// isYoung reports whether a file is too young to be read, and has the Follower wake when it is not.
func (f *Follower) isYoung(a notes.Attachment) bool {
	age := f.opts.Now().Sub(time.Unix(0, a.Modified))
	if age < 0 || age >= grain {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.timer != nil {
		f.timer.Stop()
	}
	f.timer = time.AfterFunc(grain-age, f.Wake)
	return true
}

// step does what is to be done about one attachment.
func (f *Follower) step(ctx context.Context, vault string, one step) error {
	if !one.read {
		return f.store.forget(ctx, vault, one.file.Path)
	}
	file := attachedFile{Attachment: one.file, vault: vault, moved: one.moved, private: f.opts.IsPrivate(vault, one.file.Path)}
	opened, err := f.opts.Files.OpenFile(ctx, vault, one.file.Path)
	if err == nil {
		defer func() { _ = opened.Close() }()
		if !isAs(opened, one.file) {
			return nil // it is written now: whoever follows the vault tells of it
		}
		err = f.store.take(&file, opened)
	}
	if file.a != nil {
		defer file.a.drop()
	}
	if kind := fault.KindOf(err); kind == fault.Invalid || kind == fault.Limit {
		file.reason, err = fault.Message(err), nil
	}
	if err != nil || file.reason == "" && !isAs(opened, one.file) {
		return err
	}
	return f.store.putAttached(ctx, &file)
}

// isAs reports whether a file is as it was seen.
func isAs(file *os.File, a notes.Attachment) bool {
	info, err := file.Stat()
	return err == nil && info.Size() == a.Size && info.ModTime().UnixNano() == a.Modified
}

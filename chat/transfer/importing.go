package transfer

// An import of a file stores the conversations of data exports of other chat services (CHAT-36): what [ReadForeign]
// yields becomes conversations of package chat. An export of this program goes to [ImportJSON].
//
// Each message gets a client id made of its service, its conversation and its own id there. A message that is there is
// not stored again: a later export of a conversation that went on adds what is new at its end. What was deleted comes
// back.
//
// Messages are stored in groups of about a MiB, each in one transaction. Beside a group, and what ReadForeign holds, a
// dry run keeps 8 bytes of each message, to count one that stands in the file twice only once.
//
// What is stored is a beginning of the file: an import that was cancelled, or failed, is completed by the next one.

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/fault"
)

// FileImportOptions say how to import. The zero value works.
type FileImportOptions struct {
	DryRun   bool                    // count and store nothing
	Private  bool                    // make new conversations private
	Progress func(done, total int64) // bytes of conversations; nil: nobody asks
	// IsPrivate reports whether a file is private by its path, or by the beginning of its text, and so is what is imported from
	// it, also of conversations that are there; nil: none is.
	IsPrivate func(ctx context.Context, path, head string) (bool, error)

	hidden bool // the file is private
}

// look finds out whether a file is private.
func (o *FileImportOptions) look(ctx context.Context, path string, r io.ReaderAt) (err error) {
	if o.IsPrivate == nil {
		return nil
	}
	head := make([]byte, headBytes)
	n, err := r.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return unreadableFile(err, path)
	}
	o.hidden, err = o.IsPrivate(ctx, path, string(head[:n]))
	return err
}

// headBytes is how much of a file is looked at for what it says of itself.
const headBytes = 64 << 10

// ImportReport says what an import did, or would do.
type ImportReport struct {
	Read          ReadReport `json:"read"`          // what the file holds
	Conversations int        `json:"conversations"` // new ones
	Continued     int        `json:"continued"`     // that were there and have new messages
	Unchanged     int        `json:"unchanged"`     // that were there with all their messages
	Messages      int        `json:"messages"`      // stored
	Known         int        `json:"known"`         // messages that were there
	TooLarge      int        `json:"tooLarge"`      // messages that are too large to be stored
	Full          int        `json:"full"`          // messages for which their conversation has no room
	Own           *OwnImport `json:"own,omitempty"` // of an export of this program
}

// OwnImport says what has become of the conversation of an export of this program.
type OwnImport struct {
	ConversationID string `json:"conversationId"`
	HandleTaken    bool   `json:"handleTaken"` // it has another handle than in the file
}

// ImportFile imports what lies at a path: a data export of ChatGPT, Claude or Gemini, the .zip that has it, a session of a
// coding agent, or a folder of them. The report is true whatever the error is.
//
// The errors are those of Read, and NotFound or Unavailable where the file can't be read.
func ImportFile(ctx context.Context, store *chat.Store, v *audience.View, path string, o FileImportOptions) (*ImportReport, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return importFolder(ctx, store, v, path, o)
	}
	f, err := os.Open(path)
	if err != nil {
		return new(ImportReport), unreadableFile(err, path)
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return new(ImportReport), unreadableFile(err, path)
	}
	if !info.Mode().IsRegular() {
		return new(ImportReport), fault.Field("path", "the path is not one of a file or a folder").WithRef(path).
			WithHint("give a data export of ChatGPT, Claude or Gemini, or the sessions of a coding agent")
	}
	if err := o.look(ctx, path, f); err != nil {
		return new(ImportReport), err
	}
	return ImportReader(ctx, store, v, f, info.Size(), o)
}

func unreadableFile(err error, path string) error {
	if errors.Is(err, fs.ErrNotExist) {
		e := fault.New(fault.NotFound, "there is no such file").WithRef(path).
			WithHint("give the path of a conversations.json, or of the .zip with it")
		e.Field = "path"
		return e
	}
	e := fault.Wrap(fault.Unavailable, err, "the file can't be read").WithRef(path)
	e.Field = "path"
	return e
}

// ImportReader is File for what is not a file.
//
// The errors are those of ReadForeign and of chat.Store.AppendMany. After any of them, and when ctx is
// done, the next import of the file completes what this one has begun.
func ImportReader(ctx context.Context, store *chat.Store, v *audience.View, r io.ReaderAt, size int64, o FileImportOptions,
) (*ImportReport, error) {
	if own, err := isOwn(r, size); err != nil || own {
		return readOwn(ctx, store, v, r, size, o, err)
	}
	x := newFileImporter(ctx, store, v, o)
	read, err := ReadForeign(ctx, r, size, x.take, o.Progress)
	x.report.Read = read
	if x.failed || ctx.Err() != nil {
		return &x.report, err
	}
	// What is whole of a damaged file is kept.
	if _, failed := x.flush(); failed != nil {
		return &x.report, failed
	}
	return &x.report, err
}

func newFileImporter(ctx context.Context, store *chat.Store, v *audience.View, o FileImportOptions) *fileImporter {
	x := &fileImporter{FileImportOptions: o, ctx: ctx, store: store, view: v, in: make(map[string]bool)}
	if o.DryRun {
		x.counted = newCounted()
	}
	return x
}

// importFolder imports the logs in a folder. A file that is none is passed over.
func importFolder(ctx context.Context, store *chat.Store, v *audience.View, path string, o FileImportOptions) (*ImportReport, error) {
	x := newFileImporter(ctx, store, v, o)
	x.report.Read.Problems = []ReadProblem{}
	root, err := os.OpenRoot(path)
	if err != nil {
		return &x.report, unreadableFile(err, path)
	}
	defer func() { _ = root.Close() }() // it was only read
	files, err := logsIn(root)
	if err != nil {
		return &x.report, err
	}
	var done, total int64
	for _, f := range files {
		total += f.size
	}
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return &x.report, err
		}
		in, closer, err := f.open()
		if err != nil {
			continue // it went meanwhile
		}
		size := f.size
		if whole, ok := in.(*bytes.Reader); ok {
			size = whole.Size()
		}
		if err := x.look(ctx, filepath.Join(path, filepath.FromSlash(f.name)), in); err != nil {
			_ = closer.Close() // it was only read
			return &x.report, err
		}
		read, err := ReadForeign(ctx, in, size, x.take, nil)
		_ = closer.Close() // it was only read
		if read.Conversations > 0 || err == nil {
			x.report.Read.add(f.name, read)
		}
		if x.failed || ctx.Err() != nil {
			return &x.report, err
		}
		if done += f.size; o.Progress != nil {
			o.Progress(done, total)
		}
	}
	if _, err := x.flush(); err != nil {
		return &x.report, err
	}
	if x.report.Read.Conversations == 0 {
		return &x.report, neither()
	}
	return &x.report, nil
}

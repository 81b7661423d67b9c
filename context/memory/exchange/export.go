package exchange

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/tempfile"
)

// ExportOptions say how to export.
type ExportOptions struct {
	Format   string                  // JSONL when empty
	Force    bool                    // replace a file that is there
	Progress func(done, total int64) // in memories; may be nil
}

// Export writes all memories to a file, which appears under its name when it is whole and durable, with mode 0600.
// Its errors are Invalid for a format that there is not, Conflict for a file that is there already, NotFound without
// its folder, and Unavailable when it can't be written, and for a reader who does not see everything.
func Export(ctx context.Context, from *memory.Store, v *audience.View, path string, o ExportOptions) (*record.MemoryExported, error) {
	if o.Format == "" {
		o.Format = JSONL
	}
	if !slices.Contains(Written, o.Format) {
		return nil, fault.Field("format", "format is none of its values").WithHint("give one of %s", strings.Join(Written, ", "))
	}
	if err := freePlace(path, o.Force); err != nil {
		return nil, err
	}
	out := &record.MemoryExported{Path: path, Format: o.Format}
	err := atomically(path, o.Force, func(w io.Writer) error {
		buf := &counter{w: bufio.NewWriterSize(w, 1<<16)}
		each := func(r memory.Row, done, total int) {
			count(out, &r)
			if o.Progress != nil && r.Memory != nil {
				o.Progress(int64(done), int64(max(total, done)))
			}
		}
		var err error
		if o.Format == JSONL {
			err = writeJSONL(ctx, buf, from, v, each)
		} else {
			err = writeReadable(ctx, buf, from, v, each)
		}
		out.Bytes = buf.n
		if err != nil {
			return err
		}
		return buf.w.Flush()
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func count(out *record.MemoryExported, r *memory.Row) {
	switch {
	case r.Memory != nil:
		out.Memories++
	case r.Context != nil:
		out.Contexts++
	case r.Version != nil:
		out.Versions++
	case r.Synonyms != nil:
		out.Synonyms++
	}
}

// counter counts what is written.
type counter struct {
	w *bufio.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

func writeJSONL(ctx context.Context, w io.Writer, from *memory.Store, v *audience.View, each func(memory.Row, int, int)) error {
	last, err := from.LastNumber(ctx)
	if err != nil {
		return err
	}
	var buf bytes.Buffer
	lines := 0
	put := func(line any, other map[string]json.RawMessage) error {
		buf.Reset()
		if err := appendLine(&buf, line, other); err != nil {
			return err
		}
		lines++
		_, err := w.Write(buf.Bytes())
		return err
	}
	if err := put(&header{typeHeader, formatName, formatVersion, last}, nil); err != nil {
		return err
	}
	err = from.Rows(ctx, v, func(r memory.Row, done, total int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		each(r, done, total)
		return put(lineOf(&r))
	})
	if err != nil {
		return err
	}
	return put(&endLine{typeEnd, lines}, nil)
}

// freePlace refuses a path that nothing can be written to.
func freePlace(path string, force bool) error {
	if dir, err := os.Stat(filepath.Dir(path)); err != nil || !dir.IsDir() {
		e := fault.New(fault.NotFound, "the folder of the file is not there").WithHint("make it first")
		e.Field = "path"
		return e
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return unwritable(err)
	case !info.Mode().IsRegular():
		return fault.Field("path", "path is there, and is no regular file").WithHint("choose another name")
	case !force:
		return exists()
	}
	return nil
}

func exists() error {
	e := fault.Clash(fault.Exists, "the file is there already").WithHint("choose another name, or give force to replace it")
	e.Field = "path"
	return e
}

func unwritable(err error) error {
	var known *fault.Error
	if errors.As(err, &known) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	e := fault.Wrap(fault.Unavailable, err, "the file cannot be written").
		WithHint("check the free space and the permissions of the folder")
	e.Field = "path"
	return e
}

// atomically has a file appear under its name once it is whole and durable.
func atomically(path string, force bool, fill func(io.Writer) error) (err error) {
	f, err := tempfile.Create(path)
	if err != nil {
		return unwritable(err)
	}
	defer func() {
		_ = f.Close()           // again, when all went well
		_ = os.Remove(f.Name()) // it has another name then
	}()
	if err := fill(f); err != nil {
		return unwritable(err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return unwritable(err)
	}
	if force {
		err = os.Rename(f.Name(), path)
	} else {
		err = os.Link(f.Name(), path)                   // which replaces nothing
		if err != nil && !errors.Is(err, fs.ErrExist) { // a file system without links
			if err := freePlace(path, false); err != nil {
				return err
			}
			err = os.Rename(f.Name(), path)
		}
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return exists()
	case err != nil:
		return unwritable(err)
	}
	syncDir(filepath.Dir(path))
	return nil
}

// syncDir makes the name of a file durable, where the system lets us.
func syncDir(dir string) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	_ = d.Sync() // not every system can
	_ = d.Close()
}

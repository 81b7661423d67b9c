package exchange

import (
	"context"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// ImportOptions say how to import.
type ImportOptions struct {
	Format   string                                // what the file is; found out when empty
	DryRun   bool                                  // only tell what would be done
	Progress func(stage string, done, total int64) // in bytes; may be nil
	// IsPrivate reports whether a file is private by its path, or by the beginning of its text; nil: none is.
	IsPrivate func(ctx context.Context, path, head string) (bool, error)
}

// Import reads memories from a file, or a folder of files of basic-memory. Numbers and handles are kept where they
// are free, and what a file has that does not fit is listed as conflicts. A file that cannot be read as a whole is
// refused before anything is written.
//
// The errors are Invalid for a file that is not what it is said to be, NotFound without one, Conflict when it changes
// meanwhile, Limit for a size over its limit, and Unavailable for a reader who does not see everything.
func Import(ctx context.Context, to *memory.Store, v *audience.View, path string, o ImportOptions) (*record.MemoryImported, error) {
	if o.Format != "" && !slices.Contains(Read, o.Format) {
		return nil, fault.Field("format", "format is none of its values").WithHint("give one of %s", strings.Join(Read, ", "))
	}
	if _, err := to.NewIntake(v, 0); err != nil { // before any file is looked at
		return nil, err
	}
	src, err := openSource(path, o.Format)
	if err != nil {
		return nil, err
	}
	src.isPrivate = o.IsPrivate
	last := int64(0)
	if src.format == JSONL {
		if last, err = src.last(); err != nil {
			return nil, err
		}
	}
	intake, err := to.NewIntake(v, last)
	if err != nil {
		return nil, err
	}
	if err := src.inGroups(ctx, o.stage("check"), intake.Plan); err != nil {
		return nil, err
	}
	out, err := intake.Planned()
	if err == nil && !o.DryRun {
		if err = src.inGroups(ctx, o.stage("import"), intake.Write); err == nil {
			out, err = intake.Finish(ctx)
		}
	}
	if err != nil {
		return nil, err
	}
	out.Format, out.DryRun = src.format, o.DryRun
	if out.Conflicts == nil {
		out.Conflicts = []record.MemoryConflict{}
	}
	return &out, nil
}

func (o *ImportOptions) stage(name string) func(done, total int64) {
	return func(done, total int64) {
		if o.Progress != nil {
			o.Progress(name, done, total)
		}
	}
}

// last reads the last number that was given from the first line.
func (src *source) last() (last int64, err error) {
	f := src.files[0]
	err = f.read(context.Background(), func(r *reader, _ func(memory.Row) error) error {
		last, err = readHeader(r)
		return err
	}, nil, nil)
	return last, err
}

// A group of rows has at most so many, about so many bytes of the file, and so many numbers.
const (
	groupRows    = 200
	groupBytes   = 1 << 20
	groupNumbers = 10 * usedAtOnce
)

// inGroups gives the rows of a source to fn in groups.
func (src *source) inGroups(ctx context.Context, progress func(done, total int64),
	fn func(context.Context, []memory.Row) error,
) error {
	var group []memory.Row
	var begun, at int64
	used := 0
	flush := func() error {
		if len(group) == 0 {
			return nil
		}
		if err := fn(ctx, group); err != nil {
			return err
		}
		group, begun, used = group[:0], at, 0
		progress(at, src.size)
		return nil
	}
	err := src.read(ctx, func(r memory.Row, done int64) error {
		group, at = append(group, r), done
		if r.Used != nil {
			used += usedAtOnce
		}
		if len(group) >= groupRows || at-begun >= groupBytes || used >= groupNumbers {
			return flush()
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return flush()
}

package vault

import (
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/entities/yield"
)

// fileProblems returns what the last scan of a vault could not take in, but for what the texts of notes say: the ids of those
// notes are in heads. A reader who does not see all is told of files only whose notes are shown, as StatusFor says.
func (im *Importer) fileProblems(ctx context.Context, name string, r Reader) (list []ProblemListed, heads map[string]bool, err error) {
	heads = make(map[string]bool)
	err = im.db.View(ctx, func(tx *kv.Tx) error {
		v, err := vaults.Get(tx, name)
		if err != nil || v == nil {
			return err
		}
		for _, e := range v.Skipped {
			f, err := files.Get(tx, name+"/"+e.Path)
			if err != nil {
				return err
			}
			if r.Sees != nil {
				if f == nil {
					continue
				}
				if n := im.notes.Get(f.NoteID); n == nil || !r.Sees(n) {
					continue
				}
			}
			if f != nil && slices.Contains(f.faults(), e.Reason) {
				heads[f.NoteID] = true
				continue
			}
			list = append(list, ProblemListed{
				ProblemPlace: ProblemPlace{Kind: skipKind(e), Path: e.Path}, what: e.Reason, copyOf: e.CopyOf,
			})
		}
		return tx.Err()
	})
	if im.opts.Library != nil && r.Sees == nil { // nobody knows what such a file says
		for _, e := range im.opts.Library.Unread(name) {
			list = append(list, ProblemListed{ProblemPlace: ProblemPlace{Kind: record.AttachmentText, Path: e.Path}, what: e.Reason})
		}
	}
	return list, heads, err
}

// skipKind returns the kind of problem that a file is which was not taken in.
func skipKind(e ImportSkip) record.ProblemKind {
	switch {
	case e.CopyOf != "":
		return record.FileCopy
	case strings.HasPrefix(e.Reason, excludedBy):
		return record.FileExcluded
	case path.Dir(e.Path) == typeFolder:
		return record.TypeDeclaration
	}
	return record.FileSkipped
}

// What of the difference between a copy and its note is told.
const (
	diffLines   = 20 // lines of the diff
	diffsOfPage = 100
)

// compareCopies adds to copies how they differ from their notes. At most diffsOfPage are read, and none while the folder is
// away.
func (l *ProblemList) compareCopies(ctx context.Context, list []ProblemListed, out []record.VaultProblem) error {
	var copies []int
	for i := range list {
		if list[i].copyOf != "" && len(copies) < diffsOfPage {
			copies = append(copies, i)
		}
	}
	if len(copies) == 0 {
		return ctx.Err()
	}
	root, err := os.OpenRoot(l.Folder)
	if err != nil {
		return ctx.Err()
	}
	defer root.Close()
	for _, i := range copies {
		if err := yield.Point(ctx); err != nil {
			return err
		}
		compareCopy(place{Root: root}, &out[i], list[i].copyOf)
	}
	return ctx.Err()
}

// compareCopy adds to the problem of a copy how it differs from its note.
func compareCopy(in place, out *record.VaultProblem, of string) {
	read := func(p string) (string, bool) {
		data, _, err := in.readFile(p, maxCopy)
		return strings.ToValidUTF8(strings.ReplaceAll(string(data), "\r\n", "\n"), "\ufffd"), err == nil
	}
	note, ok := read(of)
	copied, also := read(out.Path)
	if !ok || !also {
		out.What += " (one of the two cannot be read now)"
		return
	}
	diff := text.UnifiedDiff(of, note, copied)
	if diff == "" {
		out.What += "; they say the same"
		out.Fix = "delete the copy"
		return
	}
	lines := strings.SplitAfter(diff, "\n")
	added, removed := 0, 0
	for _, line := range lines[2:] { // behind the names
		switch {
		case strings.HasPrefix(line, "+"):
			added++
		case strings.HasPrefix(line, "-"):
			removed++
		}
	}
	out.What += fmt.Sprintf("; lines that only the copy has: %d, that only the note has: %d", added, removed)
	out.Diff = strings.Join(lines[:min(len(lines), diffLines)], "")
	if len(lines) > diffLines {
		out.Diff += "…\n"
	}
}

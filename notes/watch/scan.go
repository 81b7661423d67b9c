package watch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/notes"
)

const (
	ignoreFile = ".ctxdignore"
	ownFolder  = ".ctxd"
	typeFolder = ownFolder + "/types"
)

// scan is what a walk over a vault found.
type scan struct {
	notes   []string // paths of Markdown files, in byte order
	types   []string // paths of type declarations
	skipped []Skip
	// unread are the folders and files that could not be looked at: what the
	// store knows of them stays.
	unread []string
}

// couldNotRead reports whether a path lies in what could not be looked at.
func (s *scan) couldNotRead(p string) bool {
	for _, u := range s.unread {
		if p == u || strings.HasPrefix(p, u+"/") {
			return true
		}
	}
	return false
}

func isFolder(p string) bool {
	info, err := os.Stat(p)
	return err == nil && info.IsDir()
}

func isMarkdown(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".md" || ext == ".markdown"
}

// walk lists the files of a vault.
func walk(ctx context.Context, root *os.Root) (*scan, error) {
	s := &scan{}
	var ignored []gitignore.Pattern
	err := fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			if p == "." {
				return unreadable(err)
			}
			s.skip(p, "can't be read")
			s.unread = append(s.unread, p)
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if p == "." {
			if ignored, err = patterns(root, p, ignored); errors.Is(err, errClosedFolder) {
				return unreadable(err)
			}
			return err
		}
		if d.IsDir() && p == ownFolder || p == typeFolder {
			return nil
		}
		inOwn := strings.HasPrefix(p, ownFolder+"/")
		if !inOwn && strings.HasPrefix(d.Name(), ".") || inOwn && !strings.HasPrefix(p, typeFolder+"/") {
			return skipDir(d)
		}
		if gitignore.NewMatcher(ignored).Match(strings.Split(p, "/"), d.IsDir()) {
			s.skip(p, "excluded by "+ignoreFile)
			return skipDir(d)
		}
		if d.IsDir() {
			with, err := patterns(root, p, ignored)
			if errors.Is(err, errClosedFolder) {
				s.skip(p, "can't be read")
				s.unread = append(s.unread, p)
				return fs.SkipDir
			}
			ignored = with
			return err
		}
		s.file(p, d)
		return nil
	})
	slices.Sort(s.notes)
	return s, err
}

func unreadable(err error) error {
	return &fault.Error{Kind: fault.Unavailable, Field: "path", Msg: "the folder can't be read", Hint: "check its permissions", Err: err}
}

func skipDir(d fs.DirEntry) error {
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

func (s *scan) skip(p, reason string) { s.skipped = append(s.skipped, Skip{p, reason}) }

// file sorts one entry that is no folder.
func (s *scan) file(p string, d fs.DirEntry) {
	inTypes := strings.HasPrefix(p, typeFolder+"/")
	ext := strings.ToLower(path.Ext(p))
	wanted := isMarkdown(p) && !inTypes || inTypes && (ext == ".yaml" || ext == ".yml")
	switch kind := d.Type(); {
	case kind&fs.ModeSymlink != 0:
		// Out of the vault it may not lead, and what lies within is read where
		// it lies, or excluded there.
		s.skip(p, "a link to another place")
		return
	case !kind.IsRegular():
		s.skip(p, "not a regular file")
		return
	}
	switch {
	case !wanted:
	case inTypes:
		s.types = append(s.types, p)
	default:
		s.notes = append(s.notes, p)
	}
}

// maxIgnoreFile bounds a .ctxdignore.
const maxIgnoreFile = 1 << 20

// patterns appends the patterns of the .ctxdignore of a folder. One that is
// there and can't be read fails the scan: what it keeps out must stay out.
func patterns(root *os.Root, folder string, list []gitignore.Pattern) ([]gitignore.Pattern, error) {
	p := path.Join(folder, ignoreFile)
	if _, err := root.Lstat(p); errors.Is(err, fs.ErrNotExist) {
		return list, nil
	} else if err != nil {
		return nil, errClosedFolder
	}
	data, err := readFile(root, p, maxIgnoreFile)
	if err != nil {
		return nil, &fault.Error{
			Kind: fault.Unavailable, Msg: "a " + ignoreFile + " of the vault can't be read, so what it excludes is not known",
			Hint: "make it a readable file of at most 1 MiB, or remove it", Err: err,
		}
	}
	var domain []string
	if folder != "." {
		domain = strings.Split(folder, "/")
	}
	for line := range strings.Lines(strings.TrimPrefix(string(data), "\ufeff")) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			list = append(list, gitignore.ParsePattern(line, domain))
		}
	}
	return list, nil
}

var (
	errTooLarge     = errors.New("too large")
	errClosedFolder = errors.New("a folder that can't be entered")
)

// readFile reads a file of the vault of at most max bytes.
func readFile(root *os.Root, p string, max int64) ([]byte, error) {
	// Opening a pipe would wait for somebody to write into it.
	if info, err := root.Lstat(p); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := root.Open(p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	case info.Size() > max:
		return nil, errTooLarge
	}
	data, err := io.ReadAll(io.LimitReader(f, max+1))
	if err == nil && int64(len(data)) > max {
		return nil, errTooLarge
	}
	return data, err
}

// document is one Markdown file that was read.
type document struct {
	path    string
	hash    string
	draft   notes.Draft
	skip    string // why it can't be taken in; "" when it can
	warning string // what of it could not be understood
}

// readNote reads and parses one Markdown file of at most maxBody bytes. It uses
// nothing shared, so many run at once.
func readNote(root *os.Root, p string, maxBody int) document {
	doc := document{path: p}
	data, err := readFile(root, p, int64(maxBody))
	switch {
	case errors.Is(err, errTooLarge):
		doc.skip = "larger than " + inBytes(maxBody)
		return doc
	case err != nil:
		doc.skip = "can't be read"
		return doc
	case bytes.IndexByte(data, 0) >= 0:
		doc.skip = "binary, not text"
		return doc
	case !utf8.Valid(data):
		doc.skip = "not UTF-8 text"
		return doc
	case len(p) > notes.MaxPath || !utf8.ValidString(p):
		doc.skip = "its path is too long or not UTF-8"
		return doc
	}
	sum := sha256.Sum256(data)
	doc.hash = hex.EncodeToString(sum[:])
	doc.draft = notes.Draft{Body: string(data), Path: p, ModifiedAt: modified(root, p)}
	if broken := doc.draft.Read().FrontmatterErr; broken != nil {
		doc.warning = "frontmatter left out: " + fault.Message(broken)
		if broken.Line > 0 {
			doc.warning += fmt.Sprintf(" (line %d)", broken.Line)
		}
	}
	return doc
}

// inBytes returns a size as people write it.
func inBytes(n int) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}

func modified(root *os.Root, p string) time.Time {
	info, err := root.Stat(p)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

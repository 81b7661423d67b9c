package term

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/tempfile"
)

// WriteDocument writes a file that a command was asked for: only its owner can
// read it, it appears under its name when it is whole, and it takes the place
// of another file only when replace is set.
func WriteDocument(file string, replace bool, doc string) error {
	path, err := filepath.Abs(file)
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "cannot determine the working directory").
			WithHint("give the absolute path of the file")
	}
	if err := checkDocument(file, path, replace); err != nil {
		return err
	}
	return explainDocument(file, placeDocument(path, replace, doc))
}

// FreeForDocument refuses a file that WriteDocument would refuse, before there is work to lose.
func FreeForDocument(file string, replace bool) error {
	path, err := filepath.Abs(file)
	if err != nil {
		return explainDocument(file, err)
	}
	return checkDocument(file, path, replace)
}

// checkDocument refuses what can't be written to, before there is work to lose.
func checkDocument(file, path string, replace bool) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir(), os.IsPathSeparator(file[len(file)-1]):
		return fault.New(fault.Invalid, "%q is a folder", file).WithHint("give the name of a file in it")
	case err == nil && !info.Mode().IsRegular():
		return fault.New(fault.Invalid, "%q is no regular file", file).
			WithHint("leave out --output to write to standard output")
	case err == nil && !replace:
		return fault.Wrap(fault.Conflict, fs.ErrExist, "%q already exists", file).WithReason(fault.Exists).
			WithHint("choose another name, or replace it with --force")
	}
	return nil
}

// placeDocument writes a file beside the path and then gives it that name.
func placeDocument(path string, replace bool, doc string) error {
	temp, err := tempfile.Create(path)
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) //nolint:errcheck // it is gone when all went well
	_, err = temp.WriteString(doc)
	err = errors.Join(err, temp.Sync(), temp.Close())
	if err != nil {
		return err
	}
	if !replace {
		// Unlike a rename, a link does not take the place of a file that came meanwhile.
		err = os.Link(temp.Name(), path)
		if err == nil || errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return os.Rename(temp.Name(), path) // also where there are no links
}

func explainDocument(file string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrExist):
		return fault.Wrap(fault.Conflict, err, "%q already exists", file).WithReason(fault.Exists).
			WithHint("choose another name, or replace it with --force")
	case errors.Is(err, fs.ErrNotExist):
		return NotFound("folder", filepath.Dir(file)).
			WithHint("make it first: mkdir -p %s", ShellQuoted(filepath.Dir(file)))
	case errors.Is(err, fs.ErrPermission):
		return fault.Wrap(fault.Unavailable, err, "no permission to write to %q", filepath.Dir(file)).
			WithHint("choose another folder")
	case errors.Is(err, syscall.ENOSPC):
		return fault.Wrap(fault.Unavailable, err, "there is no room for %q", file).
			WithHint("free some space, or choose another disk; no part of the file was kept")
	}
	return fault.Wrap(fault.Unavailable, err, "cannot write %q", file).WithHint("choose another name or folder")
}

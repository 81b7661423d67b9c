package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
)

// Folder returns the absolute path of a folder that must exist.
func Folder(path string) (string, error) {
	if path == "" { // not the current one: a script's variable may be empty
		return "", fault.New(fault.Invalid, "the name of the folder is empty").
			WithHint("give the folder, or . for this one")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", term.NotFound("folder", path).
			WithHint("check the path; a shell expands ~ only at the start of a word")
	case err != nil:
		return "", fault.Wrap(fault.Unavailable, err, "cannot read the folder %q", path).
			WithHint("check its permissions")
	case !info.IsDir():
		return "", fault.New(fault.Invalid, "%q is a file", path).WithHint("give the folder that contains it")
	}
	return abs, nil
}

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/adrg/xdg"

	"github.com/ctxd/ctxd/entities/fault"
)

// envData is the environment variable that names the data folder.
const envData = "CTXD_DATA"

// dataDir returns the folder of the store: the flag, else $CTXD_DATA, else
// ctxd in the user's folder for data.
func dataDir(flag string) (string, error) {
	dir := firstOf(flag, os.Getenv(envData))
	if dir == "" {
		dir = filepath.Join(xdg.DataHome, "ctxd")
	}
	return filepath.Abs(dir)
}

// folder returns the absolute path of a folder that must exist.
func folder(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", notFound("folder", path).WithHint("check the path; a shell expands ~ only at the start of a word")
	case err != nil:
		return "", fault.Wrap(fault.Unavailable, err, "the folder %q can't be read", path).WithHint("check its permissions")
	case !info.IsDir():
		return "", fault.New(fault.Invalid, "%q is a file", path).WithHint("give the folder that it lies in")
	}
	return abs, nil
}

package words

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	// FileName is the file in the folder of an index.
	FileName = "words"
	// tempSuffix is added to the name of a file that is being written.
	tempSuffix = ".tmp"
)

// replaceFile writes the file in a folder, which it makes when absent. The file takes the place
// of the one before when it is there as a whole.
func replaceFile(dir string, write func(*os.File) error) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // a folder
		return err
	}
	if err := removeTemps(dir); err != nil {
		return err
	}
	name := filepath.Join(dir, FileName)
	temp := name + tempSuffix
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(temp) //nolint:errcheck // gone when all went well
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err != nil {
		return err
	}
	return os.Rename(temp, name)
}

// removeTemps removes what a writer left that did not come to its end.
func removeTemps(dir string) error {
	err := os.Remove(filepath.Join(dir, FileName+tempSuffix))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

package write

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
)

// Step is called before each step of a write; an error ends the write there. Tests have the disk full, other programs write,
// and the process die in it.
var Step = func(string) error { return nil }

// The steps of a write.
const (
	stepCreate   = "create"   // the temporary file
	stepWrite    = "write"    // the text into it
	stepFlush    = "flush"    // it to the disk
	stepExchange = "exchange" // it and the file
	stepCompare  = "compare"  // what came out
	stepRemove   = "remove"   // what came out
)

// TempName returns the name of the temporary file of a write that an id tells from all others: hidden, so that neither ctxd
// nor an editor takes it for a note.
func TempName(id string) string { return ".ctxd-" + id + ".tmp" }

// Read returns what a file holds. It must be a regular file of at most max bytes with one name.
func Read(root *os.Root, p string, max int64) ([]byte, error) {
	f, _, err := open(root, filepath.FromSlash(p))
	if err != nil {
		return nil, failed(p, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, max+1))
	switch {
	case err != nil:
		return nil, failed(p, err)
	case int64(len(data)) > max:
		return nil, fault.TooLarge("body", len(data), int(max), "bytes")
	}
	return data, nil
}

// open opens a file that may be replaced: a regular one, which can be written and has one name.
func open(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	info, err := root.Lstat(name)
	switch {
	case err != nil:
		return nil, nil, err
	case !info.Mode().IsRegular(): // opening a pipe or a device may do something
		return nil, nil, fault.Clash(fault.State, "%s is no regular file", filepath.ToSlash(name)).WithHint("choose another name")
	case info.Mode().Perm()&0o222 == 0: // a file is replaced by renaming, which would not ask
		return nil, nil, fs.ErrPermission
	}
	f, err := root.OpenFile(name, openFlags, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err = f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fault.Clash(fault.State, "%s is no regular file", filepath.ToSlash(name)).WithHint("choose another name")
	}
	if n := names(f, info); err == nil && n > 1 {
		err = fault.Clash(fault.State, "the file %s has %d names (hard links), and a new text would part it from the others",
			filepath.ToSlash(name), n).
			WithHint("change it with an editor that writes into the file, or make it a file of its own: cp it, and mv the copy over it")
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// renameIfFree is renameNew where the system has no such thing: a file that comes there in between is lost.
func renameIfFree(root *os.Root, from, to string) error {
	_, err := root.Lstat(filepath.FromSlash(to))
	if err == nil {
		return fs.ErrExist
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return root.Rename(filepath.FromSlash(from), filepath.FromSlash(to))
}

// in opens the folder of a file.
func in(root *os.Root, p string) (dir *os.Root, name string, err error) {
	at, name := path.Split(p)
	dir, err = root.OpenRoot(filepath.FromSlash(path.Clean("./" + at)))
	return dir, name, err
}

// Replace puts a text in the place of what a file holds, which must be before: Changed says what it holds else. The mode,
// the owner and the extended attributes of the file stay. temp is a TempName.
func Replace(root *os.Root, p, temp string, before, after []byte) error {
	dir, name, err := in(root, p)
	if err != nil {
		return failed(p, err)
	}
	defer dir.Close()
	f, info, err := open(dir, name)
	if errors.Is(err, fs.ErrNotExist) {
		return &Changed{Path: p}
	}
	if err != nil {
		return failed(p, err)
	}
	err = fill(dir, temp, after, func(t *os.File) error {
		err := keepAttributes(t, f)
		if err != nil {
			return err
		}
		return keepOwner(t, info)
	})
	err = errors.Join(err, f.Close()) // before anybody waits for those who write
	if err != nil {
		return failed(p, err)
	}
	return failed(p, exchange(dir, p, name, temp, before, after))
}

// fill makes the temporary file.
func fill(dir *os.Root, temp string, text []byte, like func(*os.File) error) (err error) {
	if err := Step(stepCreate); err != nil {
		return err
	}
	t, err := dir.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, t.Close())
		if err != nil {
			temporary(dir, temp)
		}
	}()
	if err := like(t); err != nil {
		return err
	}
	// In two parts, so that a process that is killed between them has written half.
	half := len(text) / 2
	if _, err := t.Write(text[:half]); err != nil {
		return err
	}
	if err := Step(stepWrite); err != nil {
		return err
	}
	if _, err := t.Write(text[half:]); err != nil {
		return err
	}
	if err := Step(stepFlush); err != nil {
		return err
	}
	return t.Sync()
}

// rounds is how often a text is put back that others remove and write meanwhile.
const rounds = 16

// exchange puts the temporary file in the place of a file, if that holds before.
func exchange(dir *os.Root, p, name, temp string, before, after []byte) error {
	exchanges := false
	err := Step(stepExchange)
	var now []byte
	if err == nil {
		now, err = content(dir, name)
		if err != nil || !bytes.Equal(now, before) {
			err = changed(p, now, err)
		}
	}
	if err == nil {
		exchanges, err = swap(dir, temp, name)
	}
	if err != nil {
		temporary(dir, temp)
		return err
	}
	if !exchanges { // what was there is gone
		return flushFolder(dir)
	}
	// Whoever has opened the file before the exchange writes into what came out, and nobody else can open that any more.
	err = Step(stepCompare)
	if err == nil && !waitForWriters(dir, temp) {
		err = errBusy
	}
	if err == nil {
		err = flushFolder(dir)
	}
	if err == nil {
		now, err = content(dir, temp)
	}
	if err == nil && bytes.Equal(now, before) {
		_ = Step(stepRemove) // it is written
		temporary(dir, temp)
		return nil
	}
	if _, kept := putBack(dir, name, temp, before, after); err != nil || kept != nil {
		return errors.Join(err, kept)
	}
	now, err = content(dir, name)
	return changed(p, now, err)
}

// patience is how long a program may have a file open for writing.
const patience = 500 * time.Millisecond

// waitForWriters waits until nobody has a file open for writing, and reports whether that came. Where the system can't tell,
// it does not wait.
func waitForWriters(dir *os.Root, name string) bool {
	for end := time.Now().Add(patience); isOpenForWriting(dir, name); time.Sleep(patience / 100) { //nolint:forbidigo // no system tells when a file is closed
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// putBack gives a file back what came out of it, because the write failed or somebody has written there in the last moment.
// When somebody has saved over the new text meanwhile, that stays, and what came out is kept as a conflicting copy, whose
// name is returned.
func putBack(dir *os.Root, name, temp string, before, after []byte) (kept string, err error) {
	exchanges := true
	for range rounds {
		exchanges, err = swap(dir, temp, name)
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err = renameNew(dir, temp, name); !errors.Is(err, fs.ErrExist) { // somebody has just removed it
			return "", err
		}
	}
	if err != nil || !exchanges {
		return "", err
	}
	if known, err := removeIf(dir, temp, func(text []byte) bool { return bytes.Equal(text, after) }); known || err != nil {
		return "", err
	}
	if _, err := swap(dir, temp, name); err != nil && !errors.Is(err, fs.ErrNotExist) { // gone: the copy has what they saved
		return "", err
	}
	known, err := removeIf(dir, temp, func(text []byte) bool { return bytes.Equal(text, before) || bytes.Equal(text, after) })
	if known || err != nil {
		return "", err
	}
	return keepCopy(dir, name, temp)
}

// keepCopy gives a temporary file the name of a conflicting copy.
func keepCopy(dir *os.Root, name, temp string) (kept string, err error) {
	ext := path.Ext(name)
	kept = name[:len(name)-len(ext)] + " (conflicted copy " + temp[len(".ctxd-"):len(temp)-len(".tmp")] + ")" + ext
	return kept, renameNew(dir, temp, kept)
}

// removeIf removes a temporary file if its text is known, and nobody is about to write another.
func removeIf(dir *os.Root, temp string, known func([]byte) bool) (removed bool, err error) {
	if !waitForWriters(dir, temp) {
		return false, nil
	}
	data, err := content(dir, temp)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil || !known(data): // what can't be read is not ours
		return false, nil
	}
	return true, dir.Remove(temp)
}

// changed is the error for a file that holds something else than it should.
func changed(p string, now []byte, err error) error {
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return &Changed{Path: p, Now: now}
}

// content reads a file whole.
func content(dir *os.Root, name string) ([]byte, error) {
	f, _, err := open(dir, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if data == nil && err == nil {
		data = []byte{}
	}
	return data, err
}

// Create makes a file, and the folders that it lies in. It is a Conflict when there is one already.
func Create(root *os.Root, p, temp string, text []byte) (err error) {
	made, err := makeFolders(root, path.Dir(p))
	defer func() {
		if err != nil {
			for _, dir := range made { // the innermost first; not those that somebody uses by now
				_ = root.Remove(filepath.FromSlash(dir))
			}
		}
	}()
	if err != nil {
		return failed(p, err)
	}
	dir, name, err := in(root, p)
	if err != nil {
		return failed(p, err)
	}
	defer dir.Close()
	if err := fill(dir, temp, text, func(t *os.File) error { return t.Chmod(newMode(root)) }); err != nil {
		return failed(p, err)
	}
	err = Step(stepExchange)
	if err == nil {
		err = renameNew(dir, temp, name)
	}
	if err != nil {
		temporary(dir, temp)
		return failed(p, err)
	}
	return failed(p, flushFolder(dir))
}

// newMode is the mode of new files: that of the folder of the vault, without the right to execute.
func newMode(root *os.Root) fs.FileMode {
	info, err := root.Stat(".")
	if err != nil {
		return 0o600
	}
	return info.Mode().Perm()&0o666 | 0o600
}

// makeFolders makes a folder and those that it lies in, and returns the ones that were not there, the innermost first.
func makeFolders(root *os.Root, dir string) (made []string, err error) {
	info, err := root.Lstat(filepath.FromSlash(dir))
	switch {
	case err == nil && !info.IsDir():
		return nil, fault.Clash(fault.Exists, "%s is no folder", dir).WithRef(dir).WithHint("choose another path")
	case err == nil || !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	made, err = makeFolders(root, path.Dir(dir))
	if err != nil {
		return made, err
	}
	err = root.Mkdir(filepath.FromSlash(dir), newMode(root)|newMode(root)>>2&0o111)
	if errors.Is(err, fs.ErrExist) {
		return made, nil
	}
	if err == nil {
		made = append([]string{dir}, made...)
	}
	return made, err
}

// Move gives a file another path, and makes the folders that it is to lie in. What it holds must be text: Changed says what
// it holds else. It is a Conflict when there is a file at the new path.
func Move(root *os.Root, from, to string, text []byte) error {
	made, err := makeFolders(root, path.Dir(to))
	if err == nil {
		err = move(root, from, to, text)
	}
	if err != nil {
		for _, dir := range made {
			_ = root.Remove(filepath.FromSlash(dir))
		}
	}
	return failed(from, err)
}

func move(root *os.Root, from, to string, text []byte) error {
	source, name := filepath.FromSlash(from), filepath.FromSlash(to)
	if err := Step(stepExchange); err != nil {
		return err
	}
	now, err := content(root, source)
	if err != nil || !bytes.Equal(now, text) {
		return changed(from, now, err)
	}
	if err := renameNew(root, from, to); err != nil {
		return err
	}
	now, err = content(root, name)
	if failed := Step(stepCompare); failed != nil || err != nil || !bytes.Equal(now, text) {
		if back := renameNew(root, to, from); failed != nil || back != nil {
			return errors.Join(failed, back)
		}
		return changed(from, now, err)
	}
	for _, p := range []string{to, from} {
		dir, _, err := in(root, p)
		if err != nil {
			return err
		}
		err = errors.Join(flushFolder(dir), dir.Close())
		if err != nil {
			return err
		}
	}
	return nil
}

// Discard ends a write of a killed process: it removes the temporary file, if that holds what the file held before or the
// beginning of the new text. Something else is what another program wrote in the last moment: it goes back into the file, or
// is kept as a conflicting copy where somebody has changed that since.
func Discard(root *os.Root, p, temp string, before, after []byte) (kept string, err error) {
	dir, name, err := in(root, p)
	if err != nil {
		return "", failed(p, err)
	}
	defer dir.Close()
	known, err := removeIf(dir, temp, func(text []byte) bool { return bytes.Equal(text, before) || bytes.HasPrefix(after, text) })
	if known || err != nil {
		return "", failed(p, err)
	}
	end := keepCopy
	if now, err := content(dir, name); err == nil && bytes.Equal(now, after) {
		end = func(dir *os.Root, name, temp string) (string, error) { return putBack(dir, name, temp, before, after) }
	}
	kept, err = end(dir, name, temp)
	if kept != "" {
		kept = path.Join(path.Dir(p), kept)
	}
	return kept, failed(p, err)
}

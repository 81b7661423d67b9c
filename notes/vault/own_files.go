package vault

import (
	"context"
	"os"
	"path"
	"path/filepath"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

// NeverWritten is why files of the daemon and vaults are kept apart.
const NeverWritten = "only notes are ever written into a vault"

// FindHoldingVault returns the name of the vault in whose folder a file lies, or would lie when it
// were made; "" for none.
func FindHoldingVault(ctx context.Context, db *kv.Store, file string) (name string, err error) {
	err = db.View(ctx, func(tx *kv.Tx) error {
		for _, v := range vaults.All(tx, "") {
			if LiesWithin(file, v.Path) {
				name = v.Name
				return nil
			}
		}
		return tx.Err()
	})
	return name, err
}

// CheckOutsideVaults returns an error when a file that is to be written lies in the folder of a
// vault.
func CheckOutsideVaults(ctx context.Context, db *kv.Store, file string) error {
	name, err := FindHoldingVault(ctx, db, file)
	if err != nil || name == "" {
		return err
	}
	return fault.New(fault.Invalid, "%q is inside the folder of vault %q, and %s", file, name, NeverWritten).
		WithRef(name).
		WithHint("choose another folder")
}

// checkOwnFiles returns an error when a folder that is to be a vault holds files that the
// daemon writes, or lies in a folder of such files.
func (im *Importer) checkOwnFiles(place string) error {
	for _, own := range im.opts.Writes {
		if own == "" || !LiesWithin(own, place) && !LiesWithin(place, own) {
			continue
		}
		return fault.Field("path", "the daemon keeps its own files there (%q), and %s", own, NeverWritten).
			WithHint("import only the folders that hold notes, or keep the daemon's files elsewhere with --data and --log-file")
	}
	return nil
}

// LiesWithin reports whether a file or folder lies in a folder, or is that folder, however their
// paths are written: links, letter case and forms of Unicode are those of the file system.
// What is not there would lie where the folders do that are. Of a link both count, where it
// lies and where it leads.
func LiesWithin(at, dir string) bool {
	top, err := os.Stat(dir)
	if err != nil {
		return false
	}
	return lies(at, top) || lies(filepath.Dir(at), top)
}

// maxLinks is how many links are followed to what is not there.
const maxLinks = 40

// lies reports whether a path leads into a folder, or to it.
func lies(at string, top os.FileInfo) bool {
	real, err := filepath.EvalSymlinks(at)
	for links := 0; err != nil; {
		up := filepath.Dir(at)
		if up == at {
			return false
		}
		to, notLink := os.Readlink(at)
		switch {
		case notLink != nil || links == maxLinks:
			at = up
		case filepath.IsAbs(to):
			at = to
			links++
		default: // it leads to what is not there yet
			at = filepath.Join(up, to)
			links++
		}
		real, err = filepath.EvalSymlinks(at)
	}
	_, ok := below(real, top)
	return ok
}

// below returns the path of a file or folder below a folder above it, with slashes: "" for
// that folder itself, false for one that does not lie there. at has no links in it.
func below(at string, top os.FileInfo) (inner string, ok bool) {
	for {
		if info, err := os.Stat(at); err == nil && os.SameFile(info, top) {
			return inner, true
		}
		up := filepath.Dir(at)
		if up == at {
			return "", false
		}
		inner, at = path.Join(filepath.Base(at), inner), up
	}
}

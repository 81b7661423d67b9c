package disk

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Inventory is what lies in a store's directory.
type Inventory struct {
	Snapshots []ID // oldest first
	Segments  []ID // oldest first
	Temps     []string
	All       []string // of the store, in any of these lists or in none
	Others    []string // of somebody else
}

// TakeInventory reads the names in a store's directory, and tells its own from others.
func TakeInventory(fsys FS, dir string) (inv Inventory, err error) {
	names, err := fsys.ReadDir(dir)
	if err != nil {
		return inv, err
	}
	for _, name := range names {
		own := true
		if id, ok := ParseName(SnapshotPrefix, name); ok {
			inv.Snapshots = append(inv.Snapshots, id)
		} else if id, ok := ParseName(JournalPrefix, name); ok {
			inv.Segments = append(inv.Segments, id)
		} else if ownTemp(name) {
			inv.Temps = append(inv.Temps, name)
		} else {
			own = name == LockName || name == OwnerName || isNote(name) || IsAside(name) ||
				strings.HasSuffix(name, BackupSuffix) && isBackup(fsys, filepath.Join(dir, name))
		}
		if own {
			inv.All = append(inv.All, name)
		} else {
			inv.Others = append(inv.Others, name)
		}
	}
	order := func(a, b ID) int { return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Salt, b.Salt)) }
	slices.SortFunc(inv.Snapshots, order)
	slices.SortFunc(inv.Segments, order)
	return inv, nil
}

// Store reports whether there is anything that records can be read from.
func (inv *Inventory) Store() bool {
	return len(inv.Snapshots) > 0 || len(inv.Segments) > 0 || slices.ContainsFunc(inv.All, IsAside)
}

// isNote reports whether a file is a small one that a store replaces as a whole.
func isNote(name string) bool {
	return name == CleanName || name == LossName || name == UnmendedName || name == UnfinishedName
}

// ownTemp reports whether a file is one that a store was writing.
func ownTemp(name string) bool {
	base, ok := strings.CutSuffix(name, TempSuffix)
	if !ok {
		return false
	}
	if _, snapshot := ParseName(SnapshotPrefix, base); snapshot || isNote(base) {
		return true
	}
	base, ok = strings.CutSuffix(base, BackupSuffix) // see BackupTemp
	if !ok || len(base) < 17 || base[len(base)-17] != '.' {
		return false
	}
	_, err := strconv.ParseUint(base[len(base)-16:], 16, 64)
	return err == nil
}

// isBackup reports whether a file begins as backups do: people name their own files as they like.
func isBackup(fsys FS, name string) bool {
	head, err := headOf(fsys, name)
	return err == nil && strings.HasPrefix(string(head), BackupMagic)
}

// Ours reports whether the folder was a store's before. Backups alone do not make
// it one: people keep them anywhere.
func (inv *Inventory) Ours() bool {
	return inv.Store() || slices.Contains(inv.All, CleanName) || slices.Contains(inv.All, OwnerName)
}

// IsAside reports whether a file is one that was set aside as damaged.
func IsAside(name string) bool {
	base, ok := strings.CutPrefix(name, DamagedPrefix)
	_, snapshot := ParseName(SnapshotPrefix, base)
	_, journal := ParseName(JournalPrefix, base)
	return ok && (snapshot || journal)
}

// IsCopy reports whether a file of an Inventory holds a former state of the store.
func IsCopy(name string) bool { return IsAside(name) || strings.HasSuffix(name, BackupSuffix) }

// Copies returns the paths of the files that hold a former state of the store in dir.
func Copies(fsys FS, dir string) (files []string, err error) {
	inv, err := TakeInventory(fsys, dir)
	if err != nil {
		return nil, err
	}
	for _, name := range inv.All {
		if IsCopy(name) {
			files = append(files, filepath.Join(dir, name))
		}
	}
	return files, nil
}

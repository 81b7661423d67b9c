package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ctxd/ctxd/cmd/ctxd/daemon"
	"github.com/ctxd/ctxd/entities/kv"
)

// damageFiles is "damage PATTERN WORD": in each file of that name it changes a bit
// of the last place where the word stands.
func damageFiles(ts *testscript.TestScript, _ bool, args []string) {
	list := matching(ts, args[0])
	for _, path := range list {
		data, err := os.ReadFile(path)
		ts.Check(err)
		at := bytes.LastIndex(data, []byte(args[1]))
		if at < 0 {
			ts.Fatalf("%s does not hold %q", path, args[1])
		}
		data[at] ^= 1
		ts.Check(os.WriteFile(path, data, 0o600))
	}
	if len(list) == 0 {
		ts.Fatalf("there is no %s", args[0])
	}
}

// cutFile is "cut PATTERN N": it takes that many bytes off the end of a file.
func cutFile(ts *testscript.TestScript, _ bool, args []string) {
	path := onlyFile(ts, args[0])
	info, err := os.Stat(path)
	ts.Check(err)
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(path, info.Size()-n))
}

// deleteFiles is "delete PATTERN…".
func deleteFiles(ts *testscript.TestScript, _ bool, args []string) {
	for _, pattern := range args {
		for _, path := range matching(ts, pattern) {
			ts.Check(os.Remove(path))
		}
	}
}

// hasMode is "mode OCTAL PATTERN…": that is the mode of the files.
func hasMode(ts *testscript.TestScript, _ bool, args []string) {
	for _, pattern := range args[1:] {
		list := matching(ts, pattern)
		if len(list) == 0 {
			ts.Fatalf("there is no %s", pattern)
		}
		for _, path := range list {
			info, err := os.Stat(path)
			ts.Check(err)
			if have := fmt.Sprintf("%o", info.Mode().Perm()); have != args[0] {
				ts.Fatalf("%s has mode %s, want %s", path, have, args[0])
			}
		}
	}
}

// hasFiles is "files N PATTERN": so many files are called so.
func hasFiles(ts *testscript.TestScript, _ bool, args []string) {
	if have := strconv.Itoa(len(matching(ts, args[1]))); have != args[0] {
		ts.Fatalf("%s files match %s, want %s", have, args[1], args[0])
	}
}

func matching(ts *testscript.TestScript, pattern string) []string {
	list, err := filepath.Glob(ts.MkAbs(pattern))
	ts.Check(err)
	return list
}

func onlyFile(ts *testscript.TestScript, pattern string) string {
	list := matching(ts, pattern)
	if len(list) != 1 {
		ts.Fatalf("%d files match %s, want one", len(list), pattern)
	}
	return list[0]
}

// killDaemon is "killdaemon": the daemon that has $CTXD_DATA ends at once, as in
// a crash.
func killDaemon(ts *testscript.TestScript, _ bool, _ []string) {
	o, err := daemon.ReadSignature(ts.Getenv("CTXD_DATA"))
	ts.Check(err)
	p, err := os.FindProcess(o.PID)
	ts.Check(err)
	ts.Check(p.Kill())
}

// copyFolder is "copydir FROM TO": it makes a copy of a folder.
func copyFolder(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(os.CopyFS(ts.MkAbs(args[1]), os.DirFS(ts.MkAbs(args[0]))))
}

// makeNewer is "newer DIR FILE": it makes a store of a later version of ctxd, and a
// backup of it.
func makeNewer(ts *testscript.TestScript, _ bool, args []string) {
	db, err := kv.Open(ts.MkAbs(args[0]), kv.Options{Format: daemon.StoreFormat + 1})
	ts.Check(err)
	records := kv.NewCollection[string]("note")
	ts.Check(db.Update(context.Background(), func(tx *kv.Tx) error {
		text := "of a later version"
		return records.Put(tx, "n1", &text)
	}))
	_, err = db.Backup(context.Background(), ts.MkAbs(args[1]), kv.BackupOptions{})
	ts.Check(errors.Join(err, db.Close()))
}

// storeCommands are the commands of scripts that are about files of the store.
var storeCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"damage": damageFiles, "cut": cutFile, "delete": deleteFiles, "mode": hasMode, "files": hasFiles, "killdaemon": killDaemon, "copydir": copyFolder, "newer": makeNewer,
}

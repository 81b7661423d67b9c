package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/fixtures/nobody"
)

// TestSEC1_WhatNobodyMayUse starts daemons as a user who may not use what they need: each
// one ends at once, with what it may not use, why, and what to do.
func TestSEC1_WhatNobodyMayUse(t *testing.T) {
	program, err := exec.LookPath("ctxd")
	if err != nil {
		t.Fatal(err)
	}
	home := nobody.Home(t)
	in := func(name string) string { return filepath.Join(home, name) }
	mode := func(name string, uid int, mode os.FileMode) {
		t.Helper()
		err := os.MkdirAll(in(name), 0o700)
		if err = errors.Join(err, os.Chmod(in(name), mode), os.Chown(in(name), uid, uid)); err != nil {
			t.Fatal(err)
		}
	}
	mode("closed", nobody.ID, 0o500)
	mode("roots", 0, 0o755)
	mode("open", 0, 0o777)
	mode("private", 0, 0o700)
	mode("config", nobody.ID, 0o700)
	mode("none", nobody.ID, 0)
	if err := os.WriteFile(in("config/roots.yaml"), []byte("limits: {batch: 3}"), 0o600); err != nil {
		t.Fatal(err)
	}
	mode("disk", nobody.ID, 0o700)
	readOnly := syscall.Mount("tmpfs", in("disk"), "tmpfs", syscall.MS_RDONLY, "size=64k,mode=0700,uid=65534,gid=65534") == nil
	if readOnly {
		t.Cleanup(func() { _ = syscall.Unmount(in("disk"), syscall.MNT_DETACH) })
	}
	for _, c := range []struct{ what, flag, path, says, hint string }{
		{"data in a folder that can't be written", "--data", "closed/data", "can't be made: its folder or file may not be used by this user", "another folder"},
		{"data in a folder of another user", "--data", "roots", "can't be made private: its folder or file may not be used by this user", "another folder"},
		{"data in a folder of another user that all can write", "--data", "open", "can't be made private: its folder or file may not be used by this user", "another folder"},
		{"data in a private folder of another user", "--data", "private", "can't be read: its folder or file may not be used by this user", "are yours to read"},
		{"data below one", "--data", "private/data", "can't be made: its folder or file may not be used by this user", "another folder"},
		{"data on a read-only disk", "--data", "disk/data", "can't be made: the disk is read-only", "another folder"},
		{"a socket in a folder that can't be written", "--socket", "closed/run/s", "the directory of the socket can't be made: permission denied", "--socket"},
		{"a socket in a closed folder", "--socket", "closed/s", "the lock file of the socket can't be opened: permission denied", "--socket"},
		{"a socket in a folder of another user", "--socket", "open/s", "belongs to user 0, not to you", "--socket"},
		{"a socket in a private one", "--socket", "private/s", "belongs to user 0, not to you", "--socket"},
		{"a socket below one", "--socket", "private/run/s", "the directory of the socket can't be made: permission denied", "--socket"},
		{"a socket on a read-only disk", "--socket", "disk/s", "the lock file of the socket can't be opened: read-only file system", "--socket"},
		{"a configuration of another user", "--config", "config/roots.yaml", "roots.yaml: cannot read the file: permission denied", "permissions"},
		{"a configuration in a closed folder", "--config", "none/config.yaml", "config.yaml: cannot read the file: permission denied", "permissions"},
		{"a log in a folder of another user", "--log-file", "roots/ctxd.log", "cannot write the log file", "--log-file"},
	} {
		if strings.HasPrefix(c.path, "disk/") && !readOnly {
			continue // none can be mounted here
		}
		cmd := nobody.Command(t, home, program, "serve", c.flag, in(c.path))
		cmd.Dir = "/"
		cmd.Env = append(cmd.Env, "CTXD_DATA="+in("data"), "CTXD_SOCKET="+in("run/s"))
		out, err := cmd.CombinedOutput()
		text := string(out)
		_, said, _ := strings.Cut(text, "Error: ")
		said, hint, _ := strings.Cut(said, "\nTry: ")
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != term.ExitError || !strings.Contains(said, c.says) || !strings.Contains(hint, c.hint) {
			t.Errorf("%s: %v\n%s", c.what, err, text)
		}
	}
	if readOnly {
		if _, err := os.Stat(in("disk/data")); err == nil {
			t.Error("the disk is not read-only")
		}
	}
}

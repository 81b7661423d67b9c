//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ctxd/ctxd/fixtures"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// wantPrivate checks that nothing below a folder is open to others, the folder
// itself included, and returns how many files and folders there are.
func wantPrivate(t *testing.T, after, dir string) (n int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it was replaced just now
		}
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // likewise
		}
		n++
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if got := info.Mode().Perm(); got != want {
			name, _ := filepath.Rel(dir, path)
			t.Errorf("after %s, %s has mode %04o, want %04o", after, name, got, want)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return n
}

// TestCampaignSEC1_PrivateFiles looks at the modes of everything that a daemon
// under the widest umask writes, after everything that makes it write.
func TestCampaignSEC1_PrivateFiles(t *testing.T) {
	vault := filepath.Join(shortHome(t), "vault") // a person's own, with modes of their own
	if err := fixtures.CopyVault(vault); err != nil {
		t.Fatal(err)
	}
	opts := launchOptions{
		home: shortHome(t), wrapper: []string{"sh", "-c", `umask 0 && exec "$0" "$@"`},
		env: []string{"CTXD_LOG_SIZE=64KiB", "CTXD_LOG_KEEP=2"},
	}
	p := serve(t, opts)
	seen := wantPrivate(t, "the start", p.home)
	c := p.client()
	ask[map[string]any](t, c, "vault.import", protocol.VaultImport{Path: vault})
	seen = max(seen, wantPrivate(t, "an import", p.home))
	fill(t, c, 100, 2000)
	for range figure(2, 20) {
		fill(t, c, 100, 40_000) // each is written anew
	}
	wantPrivate(t, "writes", p.home)
	for range 2000 {
		ask[protocol.Health](t, c, "admin.health", nil) // each is a line of the log
	}
	p.settles("the log is rotated", func() bool {
		list, err := filepath.Glob(filepath.Join(p.data, "log", "*.log*"))
		return err == nil && len(list) > 1
	})
	seen = max(seen, wantPrivate(t, "the rotation of the log", p.home))
	p.kill()
	wantPrivate(t, "a kill", p.home)
	p = serve(t, opts)
	wantPrivate(t, "the start after a kill", p.home)
	fill(t, p.client(), 100, 2000)
	snapshot := ask[protocol.Health](t, p.client(), "admin.health", nil).Store.SnapshotSeq
	p.stop()
	seen = max(seen, wantPrivate(t, "a stop", p.home))
	t.Logf("up to %d files and folders, all of one user; the last snapshot is %d", seen, snapshot)
}

// TestCampaignSEC1_AnotherUser runs the program as another user against the
// socket of this one, with the modes of the folder out of the way: neither side
// speaks to the other.
func TestCampaignSEC1_AnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can run a program as another user")
	}
	p := serve(t, launchOptions{})
	program := copyProgram(t)
	as := func(args ...string) (string, error) {
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env = "/", []string{"HOME=/nonexistent", "CTXD_SOCKET=" + p.socket}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := as("call", "admin.health"); err == nil || !strings.Contains(out, "belongs to another user") {
		t.Errorf("behind a private folder: %v\n%s", err, out)
	}
	for _, dir := range []string{p.home, filepath.Dir(p.socket)} {
		if err := os.Chmod(dir, 0o711); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(p.socket, 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := as("call", "admin.health"); err == nil || !strings.Contains(out, "runs as user 0, not as you") {
		t.Errorf("with an open folder: %v\n%s", err, out)
	}
	if out, err := as("serve", "--data", "/nonexistent/data"); err == nil || !strings.Contains(out, "belongs to user 0, not to you") {
		t.Errorf("a daemon in the folder of another: %v\n%s", err, out)
	}
	p.await()
}

// copyProgram puts the program where every user can run it.
func copyProgram(t *testing.T) (path string) {
	t.Helper()
	dir := shortHome(t)
	path = filepath.Join(dir, "ctxd")
	from, err := exec.LookPath("ctxd")
	if err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = io.Copy(out, in)
		err = errors.Join(err, out.Close(), os.Chmod(path, 0o755), os.Chmod(dir, 0o755))
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// The canaries stand for what must never leave the daemon but by an answer to
// its owner.
const (
	canary      = "canary-7d31-of-a-note"
	canaryPath  = "canary-7d31-of-a-path"
	canaryOther = "canary-7d31"
)

// TestCampaignSEC2_NoCanaryInLogs gives every text of every method a canary, by
// calls that succeed, fail and are no calls at all. Neither the log at its most
// talkative, nor what the daemon tells others about itself, nor the dump of a
// crash has it.
func TestCampaignSEC2_NoCanaryInLogs(t *testing.T) {
	p := serve(t, launchOptions{})
	w := p.greet()
	for _, line := range canaryLines(t, p) {
		w.send(line + "\n")
		w.reply()
	}
	cut := p.greet()
	cut.send(strings.Repeat(`{"`+canary+`":`, 200) + "\n")
	cut.reply()
	cut = p.dial()
	cut.send("Content-Length: " + canary + "\r\n\r\n")
	cut.frame(true)

	other := p.client()
	for _, method := range []string{"admin.stats", "admin.health", "admin.connections", "rpc.discover", "vault.list"} {
		var said json.RawMessage
		err := other.Call(t.Context(), method, nil, &said)
		var e *client.Error
		if errors.As(err, &e) && e.Code == protocol.CodeMethodNotFound {
			continue
		}
		if method != "vault.list" { // it is there to name the vaults
			wantNone(t, method, string(said)+fmt.Sprint(err))
		}
	}
	var e *client.Error
	if err := other.Call(t.Context(), "notes.get", protocol.NoteGet{Ref: "no-such"}, nil); !errors.As(err, &e) {
		t.Errorf("%v", err)
	} else {
		wantNone(t, "an error of another client", fmt.Sprintf("%+v", e))
	}
	if err := p.cmd.Process.Signal(syscall.SIGQUIT); err != nil { // it dumps its stacks
		t.Fatal(err)
	}
	<-p.exited
	if !strings.Contains(p.log(), "goroutine 1") {
		t.Error("there is no dump, so the test shows nothing of it")
	}
	wantNone(t, "standard error", p.log())
	files, err := filepath.Glob(filepath.Join(p.data, "log", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
		}
		wantNone(t, filepath.Base(file), string(text))
	}
	if !t.Failed() {
		t.Logf("0 hits in %d bytes of standard error and %d log files", len(p.log()), len(files))
	}
}

func wantNone(t *testing.T, where, text string) {
	t.Helper()
	if at := strings.Index(text, canaryOther); at >= 0 {
		t.Errorf("%s tells: %s", where, text[max(0, at-200):min(len(text), at+100)])
	}
}

// canaryLines are messages with a canary in every place.
func canaryLines(t *testing.T, p *process) (lines []string) {
	t.Helper()
	vault := filepath.Join(p.home, canaryPath)
	for name, text := range map[string]string{
		canaryPath + ".md": "# " + canary + "\n\n[[" + canary + "]]\n", "broken.md": "---\n" + canary + ": [\n---\n", "bad.md": canary + "\xff",
		filepath.Join(".ctxd", "types", "Bad.yaml"): "name: " + canary + "\nfields: [{" + canary + ": 1}]\n",
	} {
		file := filepath.Join(vault, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	call := func(method, params string) {
		lines = append(lines, fmt.Sprintf(`{"jsonrpc":"2.0","id":"%s","method":%q,"params":%s}`, canary, method, params))
	}
	for _, m := range protocol.Methods {
		texts, lists := textMembers(m.Params)
		for _, member := range texts {
			call(m.Name, with(t, m, member, `"`+canary+`"`))
		}
		for _, member := range lists {
			call(m.Name, with(t, m, member, `"`+canary+`"`))
		}
		if m.Name != "admin.stop" && m.Name != "shutdown" {
			call(m.Name, with(t, m, canary, `"`+canary+`"`))
		}
	}
	call("vault.import", fmt.Sprintf(`{"path":%q}`, vault))
	call("vault.import", fmt.Sprintf(`{"path":%q}`, vault+"-is-not-there"))
	call("notes.put", `{"id":"a","title":"`+canary+`","body":"`+canary+`","path":"`+canaryPath+`.md","tags":["`+canary+`"]}`)
	call("notes.put", `{"id":"b","title":"`+canary+`","path":"`+canaryPath+`.md"}`) // the path is taken
	call("types.put", `{"name":"Canary","fields":[{"name":"f","type":"text"},{"name":"q","type":"query","query":"`+canary+` ("}]}`)
	call("entities.put", `{"type":"Canary","name":"`+canary+`","fields":{"f":"`+canary+`"}}`)
	call("wql.query", `{"query":"SELECT Canary WHERE f = \"`+canary+`\""}`)
	call(canary, `{}`)
	return append(lines, "{"+canary, `{"jsonrpc":"2.0","id":1,"`+canary+`":1}`, `{"jsonrpc":"`+canary+`","id":1,"method":"x"}`, `"`+canary+`"`)
}

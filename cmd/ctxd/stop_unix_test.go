//go:build unix

package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// ctxd stop ends the process that has the socket also when that serves nobody.
func TestREL7_StopNeedsNoConnection(t *testing.T) {
	dir, err := os.MkdirTemp("", "ctxd-s-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "run", "ctxd.sock")
	silent := exec.Command(silentDaemon, path)
	out, err := silent.StdoutPipe()
	if err == nil {
		err = silent.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Process.Kill() }) // it has ended when all is well
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("it does not listen: %q %v", line, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- silent.Wait() }()
	stop := exec.Command("ctxd", "stop", "--socket", path)
	stop.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "CTXD_DATA="+filepath.Join(dir, "data"))
	text, err := stop.CombinedOutput()
	if err != nil || !strings.Contains(string(text), "the daemon has stopped") {
		t.Fatalf("ctxd stop: %v\n%s", err, text)
	}
	<-ended
	text, err = exec.Command("ctxd", "stop", "--socket", path).CombinedOutput()
	if err == nil || !strings.Contains(string(text), "no daemon listens") {
		t.Errorf("ctxd stop without a daemon: %v\n%s", err, text)
	}
}

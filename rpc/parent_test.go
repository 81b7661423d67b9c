package rpc_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/rpc"
)

// envChild makes the test binary a process that does nothing until its input
// ends.
const envChild = "RPC_TEST_CHILD"

func TestChildProcess(*testing.T) {
	if os.Getenv(envChild) != "" {
		_, _ = io.Copy(io.Discard, os.Stdin)
	}
}

// child starts a process that lives until the end of the test.
func child(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestChildProcess$")
	cmd.Env = append(os.Environ(), envChild+"=1")
	in, err := cmd.StdinPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

// connectFor is connect by a client of the given process.
func (b *bench) connectFor(pid int) *peer {
	b.t.Helper()
	p := b.dial()
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"clientInfo":{"name":"test"},"processId":%d}}`+"\n", pid))
	if got := p.line(); !strings.Contains(got, `"result"`) {
		b.t.Fatal(got)
	}
	return p
}

func TestParentThatIsKilledEndsItsConnection(t *testing.T) {
	b := serve(t, rpc.Limits{})
	cmd := child(t)
	theirs, ours := b.connectFor(cmd.Process.Pid), b.connectFor(os.Getpid())
	theirs.call(2, "test.write", `{"name":"slow"}`)
	b.begun("slow")
	must(t, cmd.Process.Kill()) // and left a zombie until the test is over
	theirs.closed()
	b.log.await(t, "its process has ended")
	b.open("slow") // what was accepted completes
	ours.call(2, "test.history", "")
	ours.line()
	p := b.connect()
	p.call(1, "admin.connections", "")
	if got := p.line(); !strings.Contains(got, `"cut":0`) {
		t.Errorf("a client whose process ended broke no limit: %s", got)
	}
}

func TestParentThatIsGoneIsNotWatched(t *testing.T) {
	b := serve(t, rpc.Limits{})
	cmd := child(t)
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	for _, pid := range []int{cmd.Process.Pid, -1, 1 << 40} {
		p := b.connectFor(pid)
		p.call(2, "test.history", "")
		p.wantResult("2", "")
	}
	if n := strings.Count(b.log.String(), "can't be watched"); n != 3 {
		t.Errorf("logged %d times", n)
	}
}

// The descriptor of the process goes with the connection.
func TestParentWatchEndsWithTheConnection(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("this system does not show the descriptors of a process")
	}
	before := pidDescriptors(t)
	b := serve(t, rpc.Limits{})
	for range 20 {
		p := b.connectFor(os.Getpid())
		_ = p.nc.Close()
	}
	kept := b.connectFor(os.Getpid())
	if n := pidDescriptors(t); n <= before {
		t.Errorf("%d descriptors of processes with a connection, %d without", n, before)
	}
	must(t, b.srv.Shutdown(context.Background()))
	kept.closed()
	if n := pidDescriptors(t); n != before {
		t.Errorf("%d descriptors of processes are left, there were %d", n, before)
	}
}

func pidDescriptors(t *testing.T) (n int) {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	for _, e := range list {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.Contains(to, "pidfd") {
			n++
		}
	}
	return n
}

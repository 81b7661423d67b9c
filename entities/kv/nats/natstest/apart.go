package natstest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// apartEnv tells a test program that it is to run servers and no tests.
const apartEnv = "CTXD_TEST_SERVERS"

// ServerProcess is three servers in a process of their own, for measurements: they share no heap and
// no scheduler with what is measured, but still its processors. It ends with its parent, or
// when the Process is not referenced any more.
type ServerProcess struct {
	URL string // address of all servers

	stdin io.Closer // the servers end when it is closed
	cmd   *exec.Cmd
}

// StartProcess starts them. The process is the test program again, whose TestMain calls ServedApart
// first.
func StartProcess() (*ServerProcess, error) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), apartEnv+"=3")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	err = cmd.Start()
	if err != nil {
		return nil, err
	}
	p := &ServerProcess{stdin: in, cmd: cmd}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		p.End()
		return nil, fmt.Errorf("the servers did not start: %w", err)
	}
	p.URL = strings.TrimSpace(line)
	return p, nil
}

// End ends the servers.
func (p *ServerProcess) End() {
	closes(p.stdin)
	_ = p.cmd.Wait() // nothing depends on how servers end that nobody uses
}

// RunAsServers reports whether this process was to run servers. They have ended by then.
func RunAsServers() bool {
	if os.Getenv(apartEnv) == "" {
		return false
	}
	err := serveApart()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return true
}

func serveApart() error {
	dir, err := os.MkdirTemp("", "ctxd-servers-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // the system cleans its folder otherwise
	c, err := StartClusterIn(dir, ClusterOptions{})
	if err != nil {
		return err
	}
	defer c.Close()
	fmt.Fprintln(os.Stdout, c.URL())
	_, err = io.Copy(io.Discard, os.Stdin) // until the parent has gone
	return err
}

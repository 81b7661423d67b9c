package connect

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
)

// lastWordsLimit is how much is read of what a daemon that could not start said.
const lastWordsLimit = 64 << 10

// child is a daemon that this process has started and does not end.
type child struct {
	words *os.File      // its standard error, until it is forgotten
	ended chan struct{} // closed when it has ended
	code  int           // its exit status, once it has; -1 after a signal
	state string        // the same for people
}

// startChild starts this program apart from this process: in a session of its
// own, with nothing on standard input and output. Standard error is a file,
// because a pipe would break with this process, and kill the daemon with its
// next word.
func startChild(args []string) (*child, error) {
	exe, err := Program()
	if err != nil {
		return nil, err
	}
	words, err := os.CreateTemp("", "ctxd-start-*")
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err,
			"cannot start a daemon: no file can be created in the temporary folder").WithHint("ctxd serve")
	}
	cmd := &exec.Cmd{Path: exe, Args: append(os.Args[:1:1], args...), Stderr: words}
	cmd.SysProcAttr = detached()
	keepDescriptors()
	c := &child{words: words, ended: make(chan struct{})}
	if err := cmd.Start(); err != nil {
		c.forget()
		return nil, fault.Wrap(fault.Unavailable, err, "cannot start a daemon").WithHint("ctxd serve")
	}
	go func() {
		_ = cmd.Wait() // the state says it
		c.code, c.state = cmd.ProcessState.ExitCode(), cmd.ProcessState.String()
		close(c.ended)
	}()
	return c, nil
}

// forget removes the file of what it said. Windows keeps it as long as the
// daemon runs.
func (c *child) forget() {
	_ = c.words.Close() // it has been read
	_ = os.Remove(c.words.Name())
}

// failure returns why it ended, and whether it told so itself: it does as JSON,
// unless it crashed. It must have ended.
func (c *child) failure() (f term.Failure, told bool) {
	said := c.said()
	var doc struct {
		Error term.Failure `json:"error"`
	}
	if json.Unmarshal(said, &doc) == nil && doc.Error.Message != "" {
		return doc.Error, true
	}
	f = term.Failure{
		Code: term.ExitNoDaemon, Kind: fault.Unavailable.String(),
		Hint:    "run ctxd serve on a terminal to see what is wrong",
		Message: "a daemon was started and stopped at once: " + c.state,
	}
	for l := range strings.Lines(string(said)) {
		if len(f.Log) < lastWordsShown {
			f.Log = append(f.Log, strings.TrimSpace(l))
		}
	}
	return f, false
}

// said returns what it wrote to standard error.
func (c *child) said() []byte {
	if _, err := c.words.Seek(0, io.SeekStart); err != nil {
		return nil
	}
	said, err := io.ReadAll(io.LimitReader(c.words, lastWordsLimit))
	if err != nil {
		return nil
	}
	return said
}

// lastWordsShown is how many lines of a crash are shown.
const lastWordsShown = 5

// LeaveFolder goes to the root of the file system, so that a daemon that nobody
// sees keeps no folder from being removed. Relative paths have been resolved.
func LeaveFolder() {
	here, err := os.Getwd()
	if err != nil {
		return // the folder has been removed already
	}
	_ = os.Chdir(filepath.VolumeName(here) + string(filepath.Separator)) // it can stay where it is
}

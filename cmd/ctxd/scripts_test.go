package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ctxd/ctxd/cmd/ctxd/daemon"
	"github.com/ctxd/ctxd/entities/kv/nats/natstest"
	"github.com/ctxd/ctxd/fixtures"
	"github.com/ctxd/ctxd/fixtures/campaign"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
	"github.com/ctxd/ctxd/rpc/socket"
)

// hangs is how long a test waits for what must come. Nothing waits for it when all
// is well, however slow the machine.
const hangs = 2 * time.Minute

func TestMain(m *testing.M) {
	if natstest.RunAsServers() {
		return
	}
	if os.Getenv("CTXD_EMBEDDING_ENCODER") == "" { // what ranks hits is not to change while a test looks at them
		_ = os.Setenv("CTXD_EMBEDDING_ENCODER", "0")
	}
	programs := map[string]func(){
		"ctxd": main, hostileReader: readHostilely, holder: holdConnections, silentDaemon: serveNobody,
	}
	maps.Copy(programs, otherPrograms)
	testscript.Main(benchMain{m}, programs)
}

// TestScripts runs the scripts of fixtures/scripts, one file a behaviour, with
// the real program. Each script has a socket, a store and a home of its own,
// named by $CTXD_SOCKET, $CTXD_DATA and $HOME. Starting programs is what takes the time, so that a campaign has all of them,
// go test ./... one in eight, and the race detector, which makes them several times slower, one in thirty: the tests of
// package rpc use all that clients can share.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "fixtures", "scripts", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no scripts: %v", err)
	}
	if underRace && testing.Short() {
		files = campaign.Sample(files, 4)
	}
	files = campaign.Sample(files, 12)
	testscript.Run(t, testscript.Params{
		Files:               files,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setUpScript,
		Cmds:                scriptCommands(),
	})
}

// scriptCommands are the commands of the scripts beside those of testscript.
func scriptCommands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	all := map[string]func(ts *testscript.TestScript, neg bool, args []string){
		"await": awaitDaemon, "eventually": awaitOutput,
		"called": awaitCalls,
		"vault":  copyVault,
		"isjson": isJSON,
		"empty":  isEmpty,
		"status": hasStatus,
		"keep":   keepFound,
	}
	maps.Copy(all, storeCommands)
	maps.Copy(all, searchCommands)
	maps.Copy(all, chatCommands)
	maps.Copy(all, syncCommands)
	return all
}

func setUpScript(env *testscript.Env) error {
	// A socket path holds about 100 bytes, which the folder of a test may fill.
	short, err := os.MkdirTemp("", "ctxd-t-")
	if err != nil {
		return err
	}
	env.Defer(func() { _ = os.RemoveAll(short) }) // the system cleans its folder otherwise
	at := filepath.Join(short, "ctxd.sock")
	if runtime.GOOS == "windows" {
		at = `\\.\pipe\` + filepath.Base(short)
	}
	temp := filepath.Join(short, "tmp")
	if err := os.Mkdir(temp, 0o700); err != nil {
		return err
	}
	env.Setenv("CTXD_SOCKET", at)
	env.Setenv("CTXD_DATA", filepath.Join(env.WorkDir, "data"))
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		env.Setenv(name, temp)
	}
	for _, name := range []string{"HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"} {
		env.Setenv(name, filepath.Join(env.WorkDir, "home"))
	}
	if cache, err := os.UserCacheDir(); err == nil { // compiled code is of no script's own
		env.Setenv("XDG_CACHE_HOME", cache)
	}
	// A program built with -race waits for a second when it ends, each time.
	env.Setenv("GORACE", strings.TrimSpace(os.Getenv("GORACE")+" atexit_sleep_ms=0"))
	return os.Mkdir(filepath.Join(env.WorkDir, "home"), 0o700)
}

// awaitDaemon is "await [VAULTS]": it waits until a daemon answers on
// $CTXD_SOCKET and has read that many vaults. "! await" waits until none has $CTXD_DATA; asking
// would keep it from being idle.
func awaitDaemon(ts *testscript.TestScript, neg bool, args []string) {
	vaults := 0
	if len(args) > 0 {
		n, err := strconv.Atoi(args[0])
		ts.Check(err)
		vaults = n
	}
	ctx, cancel := context.WithTimeout(context.Background(), hangs)
	defer cancel()
	for {
		var err error
		if neg {
			_, err = daemon.ReadSignature(ts.Getenv("CTXD_DATA"))
		} else {
			err = answers(ctx, ts.Getenv("CTXD_SOCKET"), vaults)
		}
		if (err == nil) != neg {
			return
		}
		select {
		case <-ctx.Done():
			ts.Fatalf("waited in vain for a daemon, or its end: %v", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func answers(ctx context.Context, at string, vaults int) error {
	loc, err := socket.Resolve(at)
	if err != nil {
		return err
	}
	c, err := client.Dial(ctx, loc.Path, client.Options{})
	if err != nil {
		return err
	}
	defer c.Close()
	var list protocol.VaultList
	if err := c.Call(ctx, "vault.list", nil, &list); err != nil {
		return err
	}
	if len(list.Vaults) < vaults {
		return fmt.Errorf("%d of %d vaults are read", len(list.Vaults), vaults)
	}
	return nil
}

// awaitCalls is "called METHOD N": it waits until the daemon on $CTXD_SOCKET has
// answered that many calls of a method.
func awaitCalls(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.ParseUint(args[1], 10, 64)
	ts.Check(err)
	loc, err := socket.Resolve(ts.Getenv("CTXD_SOCKET"))
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), hangs)
	defer cancel()
	c, err := client.Dial(ctx, loc.Path, client.Options{})
	ts.Check(err)
	defer c.Close()
	for {
		var stats protocol.Stats
		ts.Check(c.Call(ctx, "admin.stats", nil, &stats))
		for _, m := range stats.Methods {
			if m.Method == args[0] && m.Calls >= want {
				return
			}
		}
		select {
		case <-ctx.Done():
			ts.Fatalf("%s was not called %d times", args[0], want)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// awaitOutput is "eventually REGEXP PROGRAM [ARG…]": it runs the program again and
// again until what it prints matches.
func awaitOutput(ts *testscript.TestScript, neg bool, args []string) {
	want := regexp.MustCompile("(?m)" + args[0])
	deadline := time.After(hangs)
	for {
		err := ts.Exec(args[1], args[2:]...)
		if got := ts.ReadFile("stdout"); err == nil && want.MatchString(got) != neg {
			return
		}
		select {
		case <-deadline:
			ts.Fatalf("%q did not come to print %q (%v)", args[1:], args[0], err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// copyVault is "vault DIR": it makes a copy of the sample vault.
func copyVault(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(fixtures.CopyVault(ts.MkAbs(args[0])))
}

// isJSON is "isjson FILE": the file, such as stdout, is one JSON document on
// one line.
func isJSON(ts *testscript.TestScript, _ bool, args []string) {
	doc := []byte(ts.ReadFile(args[0]))
	if !json.Valid(doc) {
		ts.Fatalf("%s is no JSON document:\n%s", args[0], doc)
	}
	if n := bytes.Count(doc, []byte("\n")); n != 1 {
		ts.Fatalf("%s has %d lines", args[0], n)
	}
}

// keepFound puts what the group of a pattern finds in the last output into a variable: "keep NAME PATTERN".
func keepFound(ts *testscript.TestScript, _ bool, args []string) {
	found := regexp.MustCompile("(?m)" + args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if len(found) < 2 {
		ts.Fatalf("no match for %s", args[1])
	}
	ts.Setenv(args[0], found[1])
}

// isEmpty is "empty DIR": nothing lies in the folder.
func isEmpty(ts *testscript.TestScript, _ bool, args []string) {
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(entries) > 0 {
		ts.Fatalf("%s holds %s and %d more", args[0], entries[0].Name(), len(entries)-1)
	}
}

// hasStatus is "status N PROGRAM [ARG…]": the program exits with that status.
func hasStatus(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	var exit *exec.ExitError
	err = ts.Exec(args[1], args[2:]...)
	if !errors.As(err, &exit) || exit.ExitCode() != want {
		ts.Fatalf("%v, want exit status %d", err, want)
	}
}

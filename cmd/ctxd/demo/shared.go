package demo

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/daemon"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/nats"
	"github.com/ctxd/ctxd/entities/kv/shared"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// serverModule is the server that is run when there is none in $PATH. No program of ours links it.
const serverModule = "github.com/nats-io/nats-server/v2@v2.14.4"

const (
	serverWait  = 3 * time.Minute // the first time, it is fetched and compiled
	visibleWait = 30 * time.Second
	visibleStep = 2 * time.Millisecond
)

// What is said on either machine.
const (
	saidOnFirst   = "I am allergic to hazelnuts."
	askedOnSecond = "What am I allergic to?"
	saidOnSecond  = "My bicycle is locked in the cellar of the library."
	askedOnFirst  = "Where is my bicycle?"
	saidAlone     = "My dentist has moved to the house beside the station."
	askedBehind   = "Where is my dentist?"
	noteOfBoth    = "weekend" // id
)

// seenThere is a memory of one machine in the prompt of the other.
type seenThere struct {
	Statement string        `json:"statement"`
	Question  string        `json:"question"`
	AfterMS   float64       `json:"afterMs"` // from the reply to the memory until the other machine had it in a prompt
	Context   prompt.Result `json:"context"`
}

// sharing is what the demo of a shared store did: the document of --json.
type sharing struct {
	Server     string                  `json:"server"`
	Durability string                  `json:"durability"`
	Seen       []seenThere             `json:"seen"`
	Conflicts  []protocol.SyncConflict `json:"conflicts"` // of what the second machine took while it was cut off
	Status     protocol.SyncStatus     `json:"status"`
	TotalMS    float64                 `json:"totalMs"`
}

// teller writes a line, unless the result is to be JSON.
type teller func(parts ...term.Span)

// runShared shows two daemons with one store.
func (c *Command) runShared(a *Options, dir string) (err error) {
	started := time.Now()
	url, stop, err := startServer(a.Ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	network, err := newProxy(strings.TrimPrefix(url, "nats://"))
	if err != nil {
		return err
	}
	defer network.close()
	say := func(parts ...term.Span) {
		if !a.JSON {
			a.Out.Say(parts...)
			_ = a.Out.Flush() // an error shows at the end
		}
	}
	say(term.Styled(term.Strong, "ctxd demo --shared"), term.Styled(term.Faint, "  two daemons, one store, a NATS server at "+url))
	did := sharing{Server: url}
	id, err := beginShared(a.Ctx, nats.Servers{URL: url}, dir, &did)
	if err != nil {
		return err
	}
	one, endOne, err := c.machine(a, machineDir(dir, first), url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, endOne()) }()
	say(term.Text("1  the first machine has begun the shared store"))
	err = joinShared(a.Ctx, nats.Servers{URL: url}, id.Words(), machineDir(dir, second))
	if err != nil {
		return err
	}
	two, endTwo, err := c.machine(a, machineDir(dir, second), network.URL())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, endTwo()) }()
	say(term.Text("2  the second has joined it with the recovery words"))
	did.Seen, err = sayOnBoth(a.Ctx, say, one, two)
	if err != nil {
		return err
	}
	seen, conflicts, err := cutOff(a.Ctx, say, network, one, two)
	if err != nil {
		return err
	}
	did.Seen, did.Conflicts = append(did.Seen, seen), conflicts
	err = one.Call(a.Ctx, "sync.status", protocol.Empty{}, &did.Status)
	if err != nil {
		return err
	}
	did.TotalMS = float64(time.Since(started).Microseconds()) / 1000
	if a.JSON {
		return a.Out.JSON(did)
	}
	say()
	say(term.Text("The server has seen " + term.Count(did.Status.Newest, "message") + ", all encrypted. A write is on it before it is acknowledged; with three servers a write survives the loss of one."))
	return nil
}

// The two machines.
const (
	first  = "first"
	second = "second"
)

// machineDir is the folder of a machine in that of the demo.
func machineDir(dir, machine string) string { return filepath.Join(dir, machine) }

// beginShared makes the folders of both machines, and the shared store on the servers.
func beginShared(ctx context.Context, servers nats.Servers, dir string, did *sharing) (*nats.Identity, error) {
	for _, machine := range []string{first, second} {
		err := os.MkdirAll(data(machineDir(dir, machine)), 0o700)
		if err != nil {
			return nil, err
		}
	}
	id, cluster, err := shared.Begin(ctx, shared.BeginOptions{Servers: servers, Dir: data(machineDir(dir, first)), Name: first, Single: true, Synced: true})
	if err != nil {
		return nil, err
	}
	did.Durability = string(cluster.Durability)
	return id, nil
}

// sayOnBoth writes a memory on each machine, and shows it in a prompt of the other.
func sayOnBoth(ctx context.Context, say teller, one, two *client.Client) (list []seenThere, err error) {
	seen, err := seenOn(ctx, one, two, saidOnFirst, askedOnSecond)
	if err != nil {
		return nil, err
	}
	say()
	say(term.Styled(term.Strong, "said on the first machine: "), term.Text(saidOnFirst))
	tell(say, second, seen)
	list = append(list, seen)
	seen, err = seenOn(ctx, two, one, saidOnSecond, askedOnFirst)
	if err != nil {
		return nil, err
	}
	say()
	say(term.Styled(term.Strong, "said on the second machine: "), term.Text(saidOnSecond))
	tell(say, first, seen)
	return append(list, seen), nil
}

// tell shows what a machine has in its prompt.
func tell(say teller, machine string, seen seenThere) {
	say(term.Styled(term.Strong, "asked on the "+machine+": "), term.Text(seen.Question), term.Styled(term.Faint, "  in its prompt after "+term.Millis(seen.AfterMS)))
	for line := range strings.SplitSeq(strings.TrimSpace(seen.Context.System), "\n") {
		say(term.Styled(term.Faint, "  │ "), term.Text(line))
	}
}

// cutOff has both machines write while the second one is cut off, and shows what becomes of it.
func cutOff(ctx context.Context, say teller, network *proxy, one, two *client.Client) (seen seenThere, conflicts []protocol.SyncConflict, err error) {
	network.setCut(true)
	err = until(ctx, "the second machine does not notice that its network is cut", func() (bool, error) {
		var st protocol.SyncStatus
		err := two.Call(ctx, "sync.status", protocol.Empty{}, &st)
		return !st.Connected, err
	})
	if err != nil {
		return seen, nil, err
	}
	say()
	say(term.Text("3  the network of the second machine is cut: what only adds waits there, all else is refused"))
	note := func(on *client.Client, by string) error {
		return on.Call(ctx, "notes.put", protocol.NotePut{NoteRecord: protocol.NoteRecord{ID: noteOfBoth, Title: "Weekend", Body: "Written on the " + by + " machine."}}, nil)
	}
	err = errors.Join(two.Call(ctx, "memory.add", protocol.MemoryDraft{Statement: saidAlone}, nil), note(two, second), note(one, first))
	if err != nil {
		return seen, nil, err
	}
	say(term.Styled(term.Strong, "said on the second machine: "), term.Text(saidAlone))
	say(term.Styled(term.Strong, "written on both: "), term.Text("a note with one id"))
	network.setCut(false)
	say(term.Text("4  the network is back"))
	seen, err = seenOn(ctx, nil, one, saidAlone, askedBehind)
	if err != nil {
		return seen, nil, err
	}
	tell(say, first, seen)
	err = until(ctx, "the second machine tells of no conflict", func() (bool, error) {
		var list protocol.SyncConflicts
		err := two.Call(ctx, "sync.conflicts", protocol.SyncConflictsOf{}, &list)
		conflicts = list.Conflicts
		return len(conflicts) > 0, err
	})
	return seen, conflicts, errors.Join(err, tellConflicts(say, conflicts))
}

// tellConflicts shows both sides of each conflict between notes.
func tellConflicts(say teller, conflicts []protocol.SyncConflict) error {
	for _, c := range conflicts {
		var mine protocol.NotePut
		err := json.Unmarshal(c.Mine, &mine)
		if err != nil {
			return err
		}
		say(term.Styled(term.Strong, "a conflict, kept with both sides: "), term.Text(c.Message))
		say(term.Styled(term.Faint, "  mine    "), term.Text(mine.Body))
		if c.Theirs != nil && c.Theirs.Note != nil {
			say(term.Styled(term.Faint, "  theirs  "), term.Text(c.Theirs.Note.Body))
		}
	}
	return nil
}

// until asks again and again whether it is so, for visibleWait at most. not is the error then.
func until(ctx context.Context, not string, so func() (bool, error)) error {
	limit := time.NewTimer(visibleWait)
	defer limit.Stop()
	step := time.NewTicker(visibleStep)
	defer step.Stop()
	for {
		done, err := so()
		if done || err != nil {
			return err
		}
		select {
		case <-step.C:
		case <-ctx.Done():
			return ctx.Err()
		case <-limit.C:
			return fault.New(fault.Deadline, "%s", not).WithHint("look at ctxd sync status")
		}
	}
}

// data is the folder of the store of a machine, beside its socket.
func data(dir string) string { return filepath.Join(dir, "data") }

// machine starts a daemon with a folder and a socket of its own.
func (c *Command) machine(a *Options, dir, url string) (cl *client.Client, end func() error, err error) {
	d, err := daemon.Start(daemon.Options{Socket: socket(dir), Data: data(dir), Log: slog.New(slog.DiscardHandler), Servers: url, Queue: true})
	if err != nil {
		return nil, nil, err
	}
	err = d.Load(a.Ctx)
	if err != nil {
		return nil, nil, err
	}
	cl, err = client.Dial(a.Ctx, d.Listener.Path(), client.Options{Name: "ctxd-demo", Version: term.ProgramVersion()})
	if err != nil {
		return nil, nil, errors.Join(err, d.Close())
	}
	return cl, func() error {
		_ = cl.Close() // the daemon ends with it
		return d.Close()
	}, nil
}

// joinShared joins when the first machine has put its state on the servers.
func joinShared(ctx context.Context, servers nats.Servers, words, dir string) error {
	secret, err := nats.ParseSecret(words)
	if err != nil {
		return err
	}
	_, err = backoff.Retry(ctx, func() (*shared.Joined, error) {
		j, err := shared.Join(ctx, shared.JoinOptions{
			Servers: servers, Dir: data(dir), Secret: secret, Name: second, Synced: true, Store: daemon.JoinOptions(config.Default().Store),
			Progress: func(int64, int64) {}, Logger: slog.New(slog.DiscardHandler),
		})
		var f *fault.Error
		if errors.As(err, &f) && !f.Retryable {
			err = backoff.Permanent(err)
		}
		return j, err
	}, backoff.WithMaxElapsedTime(visibleWait))
	return err
}

// seenOn writes a memory on one machine, nil: it is written already, and asks the other until it has it in a prompt.
func seenOn(ctx context.Context, on, at *client.Client, statement, question string) (seen seenThere, err error) {
	if on != nil {
		err := on.Call(ctx, "memory.add", protocol.MemoryDraft{Statement: statement}, nil)
		if err != nil {
			return seen, err
		}
	}
	said := time.Now()
	err = until(ctx, "the other machine does not show the memory", func() (bool, error) {
		var got prompt.Result
		err := at.Call(ctx, "context.assemble", gather.Params{Text: question, Memories: shownMemories}, &got)
		seen = seenThere{statement, question, float64(time.Since(said).Microseconds()) / 1000, got}
		return strings.Contains(got.System, statement), err
	})
	return seen, err
}

var listens = text.Pattern(`Listening for client connections on (\S+)`)

// startServer runs a NATS server of its own process, the one in $PATH or the one that Go
// fetches, and returns its address.
func startServer(ctx context.Context, dir string) (url string, stop func() error, err error) {
	conf := filepath.Join(dir, "nats.conf")
	text := "host: 127.0.0.1\nport: -1\njetstream { store_dir: " + strconv.Quote(filepath.Join(dir, "nats")) + ", sync_interval: always }\n"
	err = os.WriteFile(conf, []byte(text), 0o600)
	if err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	program, args := "nats-server", []string{"-c", conf}
	_, missing := exec.LookPath(program)
	if missing != nil {
		program, args = "go", append([]string{"run", serverModule}, args...)
		_, missing = exec.LookPath(program)
	}
	if missing != nil {
		cancel()
		return "", nil, fault.New(fault.Unavailable, "there is no NATS server on this machine").
			WithHint("install nats-server, or Go, which fetches it")
	}
	cmd := exec.CommandContext(ctx, program, args...)
	ownGroup(cmd)
	cmd.Cancel = func() error { return endGroup(cmd) }
	cmd.WaitDelay = daemon.EndTime
	said, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		return "", nil, err
	}
	stop = func() error {
		cancel()
		_ = cmd.Wait() // it was told to end
		return nil
	}
	url, err = address(ctx, said)
	if err != nil {
		return "", nil, errors.Join(err, stop())
	}
	return url, stop, nil
}

// address reads what a server says until it says where it listens, and reads on.
func address(ctx context.Context, said io.Reader) (string, error) {
	found := make(chan string, 1)
	go func() {
		defer close(found)
		for lines := bufio.NewScanner(said); lines.Scan(); {
			if m := listens().FindStringSubmatch(lines.Text()); m != nil {
				found <- "nats://" + m[1]
			}
		}
	}()
	limit := time.NewTimer(serverWait)
	defer limit.Stop()
	select {
	case url, ok := <-found:
		if ok {
			return url, nil
		}
	case <-limit.C:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	return "", fault.New(fault.Unavailable, "the NATS server does not start").WithHint("try it by hand: go run %s -js", serverModule)
}

package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/daemon"
	"github.com/ctxd/ctxd/cmd/ctxd/store"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Command is ctxd doctor.
type Command struct {
	Data string `placeholder:"DIR" help:"Folder of the store. Default: $$CTXD_DATA, else ctxd in $$XDG_DATA_HOME."`

	All   allCmd   `cmd:"" default:"1" help:"Check everything, as ctxd doctor without a command does."`
	Store storeCmd `cmd:"" help:"Check every file of the store, and recover what is intact of a damaged one."`
}

// Help is what --help says of the command.
func (Command) Help() string {
	return "Without a command it checks everything: " +
		"the folder of the store and who can read it, the store itself, both search indexes, the daemon, the " +
		"embedder, reranker and distiller (by using them), your own templates of prompts, the servers of a shared store " +
		"and the free disk space. " +
		"It changes nothing. The exit status is 1 if something is broken."
}

// Examples are those of --help.
func (Command) Examples() []term.Example {
	return []term.Example{
		{"ctxd doctor", "is everything in order?"},
		{"ctxd doctor store", "the store, file by file"},
		{"ctxd doctor --json | jq -r '.checks[] | select(.state != \"ok\").hint'", "what there is to do"},
	}
}

type allCmd struct{}

// checkup is what one check has found.
type checkup struct {
	Name  string   `json:"name"`
	State string   `json:"state"` // ok, warning or error
	Found string   `json:"found"`
	More  []string `json:"more,omitempty"`
	Hint  string   `json:"hint,omitempty"`
}

// checks are what ctxd doctor looks at, in that order. One that has nothing to
// say on this machine returns nil.
var checks = []func(x *examination) (*checkup, error){
	checkFolder, checkStore, checkIndex, checkDaemon, checkEmbedder,
	checkReranker, checkDistiller, checkPrompts, checkShared, checkDisk,
}

// examination is one run of ctxd doctor.
type examination struct {
	app   *Options
	conf  *config.Config
	store *diagnosis // set by checkStore; nil when there is no store that can be read
}

// storeSeq is the last transaction of the store, 0 when it can't be told.
func (x *examination) storeSeq() uint64 {
	if x.store == nil || x.store.Store == nil || x.store.Store.Refused != "" {
		return 0
	}
	return x.store.Store.Seq
}

func (allCmd) Run(a *Options, parent *Command) error {
	conf, err := a.Load(config.Given{"data": term.NonEmpty(parent.Data)})
	if err != nil {
		return err
	}
	var found []*checkup
	x := &examination{app: a, conf: conf}
	for _, check := range checks {
		c, err := check(x)
		if err != nil {
			return err
		}
		if c != nil {
			found = append(found, c)
		}
	}
	wrong := 0
	for _, c := range found {
		if c.State == stateError {
			wrong++
		}
	}
	if a.JSON {
		if err := a.Out.JSON(map[string]any{"ok": wrong == 0, "checks": found}); err != nil {
			return err
		}
	} else {
		drawCheckups(a.Out, found)
	}
	return verdict(a, found, wrong)
}

// marks stand before what a check has found.
var marks = map[string]string{stateOK: "✓", stateWarning: "!", stateError: "✗"}

func drawCheckups(s *term.Screen, found []*checkup) {
	for _, c := range found {
		mark, name := term.Styled(stateStyles[c.State], marks[c.State]), fmt.Sprintf(" %-9s  ", c.Name)
		for _, l := range term.Wrap(term.Clean(c.Found), s.Columns()-term.Columns(name)-1) {
			s.Say(mark, term.Styled(term.Strong, name), term.Text(l))
			mark, name = term.Text(" "), strings.Repeat(" ", term.Columns(name))
		}
		for _, more := range c.More {
			term.DrawWrapped(s, "", more)
		}
		try := term.Styled(term.Good, "Try: ")
		for _, l := range term.Wrap(term.Clean(c.Hint),
			s.Columns()-term.Columns(term.Labelled("").Text)-term.Columns(try.Text)) {
			if c.Hint != "" {
				s.Say(term.Labelled(""), try, term.Text(l))
			}
			try = term.Text("     ")
		}
	}
}

// verdict ends the report, as an error when something is broken.
func verdict(a *Options, found []*checkup, wrong int) error {
	attention := 0
	for _, c := range found {
		if c.State == stateWarning {
			attention++
		}
	}
	switch {
	case wrong > 0:
		return fault.New(fault.Unavailable, "%d of %d checks failed", wrong, len(found))
	case a.JSON:
	case attention > 0:
		a.Out.Say(term.Styled(term.Warn,
			fmt.Sprintf("nothing is broken; %d of %d checks have a warning", attention, len(found))))
	default:
		a.Out.Say(term.Styled(term.Good, "everything is in order"))
	}
	return nil
}

// checkFolder looks at who can read the folder of the store.
func checkFolder(x *examination) (*checkup, error) {
	conf := x.conf
	c := &checkup{Name: "folder", State: stateOK}
	info, err := os.Stat(conf.Data)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.Found = conf.Data + " is not there yet; a daemon creates it"
		return c, nil
	case err != nil:
		c.State, c.Found, c.Hint = stateError, conf.Data+" cannot be read: "+config.Reason(err), "check its permissions"
		return c, nil
	case !info.IsDir():
		c.State, c.Found, c.Hint = stateError, conf.Data+" is not a folder", "choose another one with --data"
		return c, nil
	}
	files, open, err := openToOthers(conf.Data)
	switch {
	case err != nil:
		c.State, c.Found, c.Hint = stateError, conf.Data+" cannot be read: "+config.Reason(err), "check its permissions"
	case runtime.GOOS == "windows":
		c.Found = conf.Data + ", " + term.Count(files, "file")
	case len(open) > 0:
		c.State, c.More = stateError, shorten(open, 3)
		c.Found = "others can read or write " + term.Count(len(open), "thing") + " in it"
		c.Hint = "chmod -R go= " + term.ShellQuoted(conf.Data)
	default:
		c.Found = conf.Data + ", " + term.Count(files, "file") + ", accessible only to you"
	}
	return c, nil
}

// openToOthers counts the files in a folder and lists what others can do with
// those that are not this user's alone, the folder itself included.
func openToOthers(dir string) (files int, open []string, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a daemon deletes what it no longer needs
		}
		if err != nil {
			return err
		}
		if !e.IsDir() {
			files++
		}
		if runtime.GOOS != "windows" && info.Mode()&fs.ModeSymlink == 0 && info.Mode().Perm()&0o077 != 0 {
			name, err := filepath.Rel(dir, path)
			if err != nil {
				return err
			}
			open = append(open, fmt.Sprintf("%04o  %s", info.Mode().Perm(), name))
		}
		return nil
	})
	return files, open, err
}

// shorten returns at most n of the words, and how many more there are.
func shorten(words []string, n int) []string {
	if len(words) <= n {
		return words
	}
	return append(words[:n:n], term.Number(len(words)-n)+" more")
}

// checkStore reads the store.
func checkStore(x *examination) (*checkup, error) {
	c := &checkup{Name: "store", State: stateOK}
	d, err := diagnose(x.app, x.conf)
	x.store = d
	switch {
	case fault.KindOf(err) == fault.NotFound:
		c.Found = "there is none yet"
	case x.app.Ctx.Err() != nil:
		return nil, err
	case err != nil:
		f := term.ExplainError(err)
		c.State, c.Found, c.Hint = stateError, f.Message, f.Hint
	default:
		c.State, c.Found, c.Hint = d.State, d.Verdict, d.Hint
		if d.Store.Refused == "" {
			c.More = []string{store.RecordsInWords(d.Store.Collections)}
		}
	}
	return c, nil
}

// checkDaemon asks the daemon how it is.
func checkDaemon(x *examination) (*checkup, error) {
	a, conf := x.app, x.conf
	c := &checkup{Name: "daemon", State: stateOK}
	h, err := connect.HealthFrom(a.Ctx, conf.Socket, connect.AnswerLimit)
	switch {
	case a.Ctx.Err() != nil:
		return nil, a.Ctx.Err()
	case connect.Absent(err):
		c.Found = "none runs on " + conf.Socket
	case err != nil:
		c.State, c.Found, c.Hint = stateError, fault.Message(err)+" "+conf.Socket, cmp.Or(term.ExplainError(err).Hint, "ctxd inspect log")
		return c, nil
	default:
		c.Found = fmt.Sprintf("%s: ctxd %s, pid %d, up %s, on %s", h.Status, h.Version, h.PID,
			(time.Duration(h.UptimeMS) * time.Millisecond).Round(time.Second), conf.Socket)
		c.More = h.Warnings
		c.State = map[string]string{protocol.Healthy: stateOK, protocol.Warning: stateWarning, protocol.Failing: stateError}[h.Status]
		if c.State != stateOK {
			c.Hint = "ctxd inspect status"
		}
	}
	if o, err := daemon.ReadSignature(conf.Data); err == nil && daemon.Running(o.PID) && o.Socket != conf.Socket {
		c.State = stateWarning
		c.More = append(c.More,
			fmt.Sprintf("the folder of the store belongs to another daemon, pid %d, on %s", o.PID, o.Socket))
		c.Hint = "--socket " + term.ShellQuoted(o.Socket) + " speaks to that one"
	}
	return c, nil
}

// checkDisk looks at the room on the disk of the store.
func checkDisk(x *examination) (*checkup, error) {
	dir := x.conf.Data
	for !config.Exists(dir) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
	}
	free, total := rpc.DiskSpace(dir)
	if total == 0 {
		return nil, nil //nolint:nilnil // nobody says how much room there is on this system
	}
	c := &checkup{Name: "disk", State: stateOK, Found: term.Size(free) + " of " + term.Size(total) + " free"}
	switch x.conf.Store.Room.Of(free) {
	case rpc.DiskFull:
		c.State, c.Hint = stateError, "free some space: the next write may find none"
	case rpc.DiskVeryLow:
		c.State, c.Hint = stateWarning, "free some space: a snapshot must fit beside the previous one"
	case rpc.DiskLow:
		c.More = append(c.More, "under "+term.Size(uint64(x.conf.Store.Room.Notice)))
	}
	return c, nil
}

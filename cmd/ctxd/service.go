package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type serviceCmd struct {
	Install serviceInstallCmd `cmd:"" help:"Have the daemon started when you log in, and start it now."`
	Remove  serviceRemoveCmd  `cmd:"" help:"End the daemon that was installed, and start it no more."`
	Status  serviceStatusCmd  `cmd:"" help:"Say whether it is installed, and whether it runs."`
}

func (serviceCmd) Help() string {
	return "Writes a unit of your own systemd on Linux, an agent of launchd on macOS. Neither needs root."
}

type serviceInstallCmd struct {
	Vault  []string `placeholder:"DIR" sep:"none" help:"Folder of Markdown notes to read at the start. May be repeated. Default: those of the configuration."`
	Data   string   `placeholder:"DIR" help:"Folder of the store. Default: $$CTXD_DATA, else ctxd in $$XDG_DATA_HOME."`
	DryRun bool     `help:"Print what would be written and run, and do nothing."`
	Force  bool     `help:"Replace a file that ctxd did not write."`
}

func (serviceInstallCmd) Help() string {
	return "What --socket, --config and these flags say, and the environment variables for the same, is written into the file. " +
		"Everything else is read from the configuration at each start. Install again to change it."
}

func (serviceInstallCmd) Examples() []example {
	return []example{
		{"ctxd service install --vault ~/Notes", "serve the notes in a folder from login to logout"},
		{"ctxd service install --dry-run", "see the file and the commands first"},
	}
}

func (c *serviceInstallCmd) Run(a *app) error {
	m, err := serviceHere()
	if err != nil {
		return err
	}
	command, conf, err := c.command(a)
	if err != nil {
		return err
	}
	plan := servicePlan{file: m.file, content: m.content(command), after: m.start}
	if c.DryRun {
		return plan.draw(a)
	}
	if err := m.ready(a, conf.socket); err != nil {
		return err
	}
	if err := writeService(m.file, plan.content, c.Force); err != nil {
		return err
	}
	if err := m.run(a, m.start); err != nil {
		return err
	}
	return plan.done(a, "installed", "it runs now, and from each login on: ctxd service status")
}

// command returns the program and its arguments, and how it is configured.
func (c *serviceInstallCmd) command(a *app) ([]string, *config, error) {
	exe, err := installedProgram()
	if err != nil {
		return nil, nil, err
	}
	conf, err := a.config(given{"vaults": c.Vault, "data": nonEmpty(c.Data)})
	if err != nil {
		return nil, nil, err
	}
	for _, dir := range c.Vault {
		if _, err := folder(dir); err != nil {
			return nil, nil, err
		}
	}
	command := []string{exe, "serve"}
	path, named, err := configPath(a.Config)
	// The service manager does not have this shell's environment: what a
	// variable says about places has to be written out.
	if err == nil && (named != "" || conf.present && os.Getenv("XDG_CONFIG_HOME") != "") {
		command = append(command, "--config", path)
	}
	if s := conf.setting("socket"); s.said() {
		command = append(command, "--socket", absolute(conf.socket))
	}
	if s := conf.setting("data"); s.said() || os.Getenv("XDG_DATA_HOME") != "" {
		command = append(command, "--data", conf.data)
	}
	if s := conf.setting("vaults"); s.said() {
		// As a setting and not by --vault, which refuses a folder that is not there:
		// a disk that is out at login must not keep the notes of others away.
		for _, dir := range conf.vaults {
			command = append(command, "--set", "vaults="+dir)
		}
	}
	return command, conf, err
}

// said reports whether a setting was made for this process alone.
func (s *setting) said() bool { return s.origin.source == fromFlag || s.origin.source == fromEnv }

// installedProgram returns a path of this program that lasts: the one that the
// shell found, which an upgrade replaces, before the file that it leads to.
func installedProgram() (string, error) {
	exe, err := program()
	if err != nil {
		return "", err
	}
	if strings.Contains(exe, string(filepath.Separator)+"go-build") {
		return "", fault.New(fault.Invalid, "this program was made by go run and goes with it").
			WithHint("install it first: go install github.com/ctxd/ctxd/cmd/ctxd@latest")
	}
	found, err := exec.LookPath(os.Args[0])
	if err == nil {
		found, err = filepath.Abs(found)
	}
	if err != nil || !sameFile(found, exe) {
		return exe, nil //nolint:nilerr // the file itself will do
	}
	return found, nil
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

type serviceRemoveCmd struct {
	DryRun bool `help:"Print what would be run and removed, and do nothing."`
	Force  bool `help:"Remove a file that ctxd did not write."`
}

func (serviceRemoveCmd) Help() string { return "Your notes, and what the daemon knows of them, stay." }

func (serviceRemoveCmd) Examples() []example {
	return []example{{"ctxd service remove", "start the daemon no more"}}
}

func (c *serviceRemoveCmd) Run(a *app) error {
	m, err := serviceHere()
	if err != nil {
		return err
	}
	plan := servicePlan{file: m.file, before: m.end, after: m.forget}
	if c.DryRun {
		return plan.draw(a)
	}
	if !exists(m.file) {
		return notFound("service", m.file).WithHint("ctxd service install")
	}
	if err := checkOurs(m.file, c.Force); err != nil {
		return err
	}
	if err := m.run(a, m.end); err != nil {
		return err
	}
	if err := os.Remove(m.file); err != nil {
		return fault.Wrap(fault.Unavailable, err, "the file of the service can't be removed").WithHint("rm %s", quoted(m.file))
	}
	if err := m.run(a, m.forget); err != nil {
		return err
	}
	return plan.done(a, "removed", "")
}

type serviceStatusCmd struct{}

func (serviceStatusCmd) Examples() []example {
	return []example{{"ctxd service status --json | jq .installed", "for scripts"}}
}

// serviceStatus is what is known of a service.
type serviceStatus struct {
	Manager   string           `json:"manager"`
	File      string           `json:"file"`
	Installed bool             `json:"installed"`
	Login     string           `json:"login,omitempty"` // what happens at login, in the words of the manager
	State     string           `json:"state,omitempty"` // the same for now
	Socket    string           `json:"socket"`
	Daemon    *protocol.Health `json:"daemon"` // null when none answers
}

func (serviceStatusCmd) Run(a *app) error {
	m, err := serviceHere()
	if err != nil {
		return err
	}
	conf, err := a.config(nil)
	if err != nil {
		return err
	}
	st := serviceStatus{Manager: m.name, File: m.file, Installed: exists(m.file), Socket: conf.socket, Daemon: healthOf(a.ctx, conf.socket)}
	if st.Installed {
		st.Login, st.State = m.ask(a.ctx, m.login), m.ask(a.ctx, m.state)
	}
	if a.JSON {
		return a.out.json(st)
	}
	st.draw(a.out)
	return nil
}

func (st *serviceStatus) draw(s *screen) {
	f := &facts{table{}}
	installed := "no: ctxd service install"
	if st.Installed {
		installed = st.File
	}
	f.add("installed", installed)
	f.add("at login", st.Login)
	f.add("now", st.State)
	daemon := "none answers on " + st.Socket
	if d := st.Daemon; d != nil {
		daemon = fmt.Sprintf("pid %d, version %s, %s, up %s", d.PID, d.Version, d.Status, (time.Duration(d.UptimeMS) * time.Millisecond).Round(time.Second))
	}
	f.add("daemon", daemon)
	f.draw(s)
}

// healthOf returns how the daemon on a socket is, nil when none answers in time.
func healthOf(ctx context.Context, path string) *protocol.Health {
	h, err := healthFrom(ctx, path, answerLimit)
	if err != nil {
		return nil
	}
	return h
}

// healthFrom asks the daemon on a socket how it is.
func healthFrom(ctx context.Context, path string, limit time.Duration) (*protocol.Health, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cl, err := client.Dial(ctx, path, client.Options{Bare: true})
	if err != nil {
		return nil, err
	}
	defer func() { _ = cl.Close() }() // the answer is here
	h := &protocol.Health{}
	if err := cl.Call(ctx, "admin.health", protocol.Empty{}, h); err != nil {
		return nil, err
	}
	return h, nil
}

package service

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Command is ctxd service.
type Command struct {
	Install installCmd `cmd:"" help:"Start the daemon now and at every login."`
	Remove  removeCmd  `cmd:"" help:"Stop the installed daemon, and no longer start it at login."`
	Status  statusCmd  `cmd:"" help:"Show whether the service is installed and running."`
}

// Help is what --help says of the command.
func (Command) Help() string {
	return "Writes a user unit of systemd on Linux, or a launch agent on macOS. Neither needs root."
}

type installCmd struct {
	Vault  []string `placeholder:"DIR" sep:"none" help:"Folder of Markdown notes to import at the start. May be repeated. Default: vaults of the configuration."`
	Data   string   `placeholder:"DIR" help:"Folder of the store. Default: $$CTXD_DATA, else ctxd in $$XDG_DATA_HOME."`
	DryRun bool     `help:"Show what would be written and run, and do nothing."`
	Force  bool     `help:"Replace a file that ctxd did not write."`
}

func (installCmd) Help() string {
	return "The values of --socket, --config and the flags below, or of the environment variables for them, are " +
		"written into the service file. " +
		"All other settings are read from the configuration at each start. " +
		"To change the service, install it again."
}

func (installCmd) Examples() []term.Example {
	return []term.Example{
		{"ctxd service install --vault ~/Notes", "serve the notes in a folder from login to logout"},
		{"ctxd service install --dry-run", "show the file and the commands first"},
	}
}

func (c *installCmd) Run(a *Options) error {
	m, err := serviceHere()
	if err != nil {
		return err
	}
	command, conf, err := c.command(a)
	if err != nil {
		return err
	}
	plan := plan{file: m.file, content: m.content(command), after: m.start}
	if c.DryRun {
		return plan.draw(a)
	}
	if err := m.ready(a, conf.Socket); err != nil {
		return err
	}
	if err := writeService(m.file, plan.content, c.Force); err != nil {
		return err
	}
	if err := m.run(a, m.start); err != nil {
		return err
	}
	return plan.done(a, "installed", "it runs now and at every login: ctxd service status")
}

// command returns the program and its arguments, and how it is configured.
func (c *installCmd) command(a *Options) ([]string, *config.Config, error) {
	exe, err := installedProgram()
	if err != nil {
		return nil, nil, err
	}
	conf, err := a.Load(config.Given{"vaults": c.Vault, "data": term.NonEmpty(c.Data)})
	if err != nil {
		return nil, nil, err
	}
	for _, dir := range c.Vault {
		if _, err := config.Folder(dir); err != nil {
			return nil, nil, err
		}
	}
	command := []string{exe, "serve"}
	path, named, err := config.Path(a.Config)
	// The service manager does not have this shell's environment: what a
	// variable says about places has to be written out.
	if err == nil && (named != "" || conf.Present && os.Getenv("XDG_CONFIG_HOME") != "") {
		command = append(command, "--config", path)
	}
	if s := conf.Setting("socket"); s.Said() {
		command = append(command, "--socket", connect.Absolute(conf.Socket))
	}
	if s := conf.Setting("data"); s.Said() || os.Getenv("XDG_DATA_HOME") != "" {
		command = append(command, "--data", conf.Data)
	}
	if s := conf.Setting("vaults"); s.Said() {
		// As a setting and not by --vault, which refuses a folder that is not there:
		// a disk that is out at login must not keep the notes of others away.
		for _, dir := range conf.Vaults {
			command = append(command, "--set", "vaults="+dir)
		}
	}
	return command, conf, err
}

// installedProgram returns a path of this program that lasts: the one that the
// shell found, which an upgrade replaces, before the file that it leads to.
func installedProgram() (string, error) {
	exe, err := connect.Program()
	if err != nil {
		return "", err
	}
	if strings.Contains(exe, string(filepath.Separator)+"go-build") {
		return "", fault.New(fault.Invalid, "this program was built by go run, which deletes it at the end").
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

type removeCmd struct {
	DryRun bool `help:"Show what would be run and removed, and do nothing."`
	Force  bool `help:"Remove a file that ctxd did not write."`
}

func (removeCmd) Help() string {
	return "Your notes and the store stay."
}

func (removeCmd) Examples() []term.Example {
	return []term.Example{{"ctxd service remove", "stop the daemon, and no longer start it at login"}}
}

func (c *removeCmd) Run(a *Options) error {
	m, err := serviceHere()
	if err != nil {
		return err
	}
	plan := plan{file: m.file, before: m.end, after: m.forget}
	if c.DryRun {
		return plan.draw(a)
	}
	if !config.Exists(m.file) {
		return term.NotFound("service", m.file).WithHint("ctxd service install")
	}
	if err := checkOurs(m.file, c.Force); err != nil {
		return err
	}
	if err := m.remove(a); err != nil {
		return err
	}
	return plan.done(a, "removed", "")
}

// remove ends the service and removes its file.
func (m *manager) remove(a *Options) error {
	if err := m.run(a, m.end); err != nil {
		return err
	}
	if err := os.Remove(m.file); err != nil {
		return fault.Wrap(fault.Unavailable, err, "cannot remove the service file").
			WithHint("rm %s", term.ShellQuoted(m.file))
	}
	return m.run(a, m.forget)
}

// Installed is a service that ctxd has installed.
type Installed struct{ m *manager }

// Find returns the service that ctxd has installed for this user, nil when there is none.
func Find() *Installed {
	m, err := serviceHere()
	if err != nil || !config.Exists(m.file) || checkOurs(m.file, false) != nil {
		return nil
	}
	return &Installed{m}
}

// File is the path of the file that the system reads.
func (i *Installed) File() string { return i.m.file }

// Remove ends the service and removes its file.
func (i *Installed) Remove(a *Options) error { return i.m.remove(a) }

type statusCmd struct{}

func (statusCmd) Examples() []term.Example {
	return []term.Example{{"ctxd service status --json | jq .installed", "for scripts"}}
}

// serviceState is what is known of a service.
type serviceState struct {
	Manager   string           `json:"manager"`
	File      string           `json:"file"`
	Installed bool             `json:"installed"`
	Login     string           `json:"login,omitempty"` // what happens at login, in the words of the manager
	State     string           `json:"state,omitempty"` // whether it runs at this moment
	Socket    string           `json:"socket"`
	Daemon    *protocol.Health `json:"daemon"` // null when none answers
}

func (statusCmd) Run(a *Options) error {
	m, err := serviceHere()
	if err != nil {
		return err
	}
	path, _, err := a.Reach()
	if err != nil {
		return err
	}
	st := serviceState{
		Manager: m.name, File: m.file, Installed: config.Exists(m.file), Socket: path,
		Daemon: connect.HealthOf(a.Ctx, path),
	}
	if st.Installed {
		st.Login, st.State = m.ask(a.Ctx, m.login), m.ask(a.Ctx, m.state)
	}
	if a.JSON {
		return a.Out.JSON(st)
	}
	st.draw(a.Out)
	return nil
}

func (st *serviceState) draw(s *term.Screen) {
	f := &term.Facts{Table: term.Table{}}
	installed := "no: ctxd service install"
	if st.Installed {
		installed = st.File
	}
	f.Add("installed", installed)
	f.Add("at login", st.Login)
	f.Add("now", st.State)
	daemon := "none answers on " + st.Socket
	if d := st.Daemon; d != nil {
		daemon = fmt.Sprintf("pid %d, version %s, %s, up %s", d.PID, d.Version, d.Status,
			(time.Duration(d.UptimeMS) * time.Millisecond).Round(time.Second))
	}
	f.Add("daemon", daemon)
	f.Draw(s)
}

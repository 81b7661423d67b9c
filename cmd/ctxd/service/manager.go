package service

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/adrg/xdg"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
)

// manager is what starts programs at login, and how it is told to.
type manager struct {
	name    string
	file    string                        // that describes the service
	content func(command []string) string // of the file
	probe   systemCommand                 // succeeds when the manager can be spoken to
	start   []systemCommand               // after the file is written
	end     []systemCommand               // before it is removed
	forget  []systemCommand               // and after
	login   systemCommand                 // says what happens at login
	state   systemCommand                 // says whether it runs: successful when it does
}

// systemCommand is a command of the service manager.
type systemCommand struct {
	args    []string
	loose   bool   // a failure says that there was nothing to do
	patient bool   // a failure may pass: the command before it is still at work
	yes, no string // what its success and failure mean; "": it prints that itself
}

// serviceMark stands in files that we write.
const serviceMark = "Written by ctxd service install, which writes it anew."

// serviceHere returns the service manager of this user.
func serviceHere() (*manager, error) {
	if os.Geteuid() == 0 && os.Getenv("SUDO_USER") != "" {
		return nil, fault.New(fault.Invalid, "a service belongs to one user, and with sudo that is root").
			WithHint("run it without sudo")
	}
	switch runtime.GOOS {
	case "linux":
		return systemd(xdg.ConfigHome), nil
	case "darwin":
		return launchd(xdg.Home, os.Getuid()), nil
	case "windows":
		return nil, fault.New(fault.Unavailable, "services are installed on Linux and macOS only").
			WithHint(`schtasks /Create /SC ONLOGON /TN ctxd /TR "ctxd serve"`)
	}
	return nil, fault.New(fault.Unavailable, "services are installed on Linux and macOS only").
		WithHint("start ctxd serve from your own session")
}

const systemdUnit = "ctxd.service"

// systemd is the systemd of a user, with its files in a folder for configuration.
func systemd(config string) *manager {
	ctl := func(args ...string) systemCommand {
		return systemCommand{args: append([]string{"systemctl", "--user"}, args...)}
	}
	return &manager{
		name:    "systemd",
		file:    filepath.Join(config, "systemd", "user", systemdUnit),
		content: unitFile,
		probe:   ctl("show-environment"),
		start:   []systemCommand{ctl("daemon-reload"), ctl("enable", systemdUnit), ctl("restart", systemdUnit)},
		end:     []systemCommand{ctl("disable", "--now", systemdUnit)},
		forget:  []systemCommand{ctl("daemon-reload")},
		login:   ctl("is-enabled", systemdUnit),
		state:   ctl("is-active", systemdUnit),
	}
}

func unitFile(command []string) string {
	words := make([]string, len(command))
	for i, w := range command {
		words[i] = unitWord(w)
	}
	return "# " + serviceMark + `
[Unit]
Description=ctxd, the local context engine for note apps
Documentation=https://github.com/ctxd/ctxd

[Service]
ExecStart=` + strings.Join(words, " ") + `
Restart=on-failure
RestartSec=1
# A wrong command line, or another daemon: a restart would change nothing.
RestartPreventExitStatus=2 3
TimeoutStopSec=30
UMask=0077
NoNewPrivileges=yes

[Install]
WantedBy=default.target
`
}

// unitWord writes a word of a command line of systemd, which knows quotes,
// backslashes, variables and specifiers (systemd.service(5), "Command lines").
func unitWord(w string) string {
	w = strings.NewReplacer("%", "%%", "$", "$$").Replace(w)
	if w != "" && !strings.ContainsFunc(w,
		func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`"'\;`, r) }) {
		return w
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\r", `\r`).Replace(w) + `"`
}

const launchdLabel = "com.github.ctxd"

// launchd is the launchd of a user.
func launchd(home string, uid int) *manager {
	domain := "gui/" + strconv.Itoa(uid)
	file := filepath.Join(home, "Library", "LaunchAgents", launchdLabel+".plist")
	ctl := func(args ...string) systemCommand {
		return systemCommand{args: append([]string{"launchctl"}, args...)}
	}
	out := ctl("bootout", domain+"/"+launchdLabel)
	out.loose = true
	in := ctl("bootstrap", domain, file)
	in.patient = true
	state := ctl("print", domain+"/"+launchdLabel)
	state.yes, state.no = "loaded", "not loaded"
	return &manager{
		name:    "launchd",
		file:    file,
		content: propertyList,
		probe:   ctl("print", domain),
		start:   []systemCommand{out, in},
		end:     []systemCommand{out},
		state:   state,
	}
}

func propertyList(command []string) string {
	var words strings.Builder
	for _, w := range command {
		words.WriteString("\n\t\t<string>")
		_ = xml.EscapeText(&words, []byte(w)) // a builder takes everything
		words.WriteString("</string>")
	}
	return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ` + serviceMark + ` -->
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>` + launchdLabel + `</string>
	<key>ProgramArguments</key>
	<array>` + words.String() + `
	</array>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>ProcessType</key>
	<string>Interactive</string>
	<key>Umask</key>
	<integer>63</integer>
</dict>
</plist>
`
}

// ready reports why a service can't be installed now.
func (m *manager) ready(a *Options, socket string) error {
	tool := m.probe.args[0]
	if _, err := exec.LookPath(tool); err != nil {
		return fault.Wrap(fault.Unavailable, err, "there is no %s here", tool).
			WithHint("ctxd service install --dry-run prints the file; or start ctxd serve from your own session")
	}
	if err := m.exec(a.Ctx, m.probe); err != nil {
		return err
	}
	away := m.exec(a.Ctx, m.state)
	if h := connect.HealthOf(a.Ctx, socket); h != nil && away != nil {
		return fault.Clash(fault.Exists, "a daemon that is not a service is already running (pid %d)", h.PID).
			WithHint("stop it first: ctxd stop")
	}
	return nil
}

// The tries of a command whose failure may pass, and the pause between them.
const (
	patientTries = 20
	patientPause = 250 * time.Millisecond
)

// run runs commands until one fails.
func (m *manager) run(a *Options, commands []systemCommand) error {
	for _, c := range commands {
		err := m.exec(a.Ctx, c)
		for try := 1; err != nil && c.patient && try < patientTries; try++ {
			select {
			case <-time.After(patientPause):
			case <-a.Ctx.Done():
			}
			err = m.exec(a.Ctx, c)
		}
		if err != nil && !c.loose {
			return err
		}
	}
	return nil
}

// exec runs a command.
func (m *manager) exec(ctx context.Context, c systemCommand) error {
	_, err := m.output(ctx, c)
	return err
}

// output runs a command and returns what it printed.
func (m *manager) output(ctx context.Context, c systemCommand) (string, error) {
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	printed := strings.TrimSpace(out.String())
	if err == nil {
		return printed, nil
	}
	if ctx.Err() != nil {
		return "", fault.Wrap(fault.Cancelled, ctx.Err(), "interrupted")
	}
	why := cmp.Or(strings.TrimSpace(said.String()), printed, err.Error())
	return printed, fault.Wrap(fault.Unavailable, err, "%s failed: %s", strings.Join(c.args, " "), term.Clean(why)).
		WithHint("%s must run for this user: log in on the machine itself, or have your own session start: ctxd serve", m.name)
}

// ask returns what a command prints first, also when it says no with its status.
func (m *manager) ask(ctx context.Context, c systemCommand) string {
	if len(c.args) == 0 {
		return ""
	}
	printed, err := m.output(ctx, c)
	first, _, _ := strings.Cut(printed, "\n")
	switch {
	case err == nil:
		return cmp.Or(c.yes, first)
	case c.no != "" || first != "":
		return cmp.Or(c.no, first)
	}
	return fault.Message(err)
}

// writeService writes the file of a service.
func writeService(path, content string, force bool) error {
	err := checkOurs(path, force)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(content), 0o600)
	}
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "cannot write the service file").
			WithHint("check the permissions of %s", term.ShellQuoted(filepath.Dir(path)))
	}
	return nil
}

// checkOurs refuses a file that somebody else wrote. The error of one that is
// not there is an fs.ErrNotExist.
func checkOurs(path string, force bool) error {
	content, err := os.ReadFile(path)
	switch {
	case err != nil:
		return fault.Wrap(fault.Unavailable, err, "cannot read the service file")
	case !force && !strings.Contains(string(content), serviceMark):
		return fault.Clash(fault.Exists, "there is a file that ctxd did not write: %s", path).
			WithHint("move it away, or replace it with --force")
	}
	return nil
}

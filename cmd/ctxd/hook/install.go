package hook

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/tempfile"
)

// installCmd is ctxd hook install.
type installCmd struct {
	Host           string `arg:"" enum:"claude-code,codex,cursor,gemini" help:"The program: ${enum}."`
	IncludePrivate bool   `help:"Give the program private records, too, and keep its sessions private. Only for one whose model runs on this machine."`
	DryRun         bool   `help:"Show what would change in its settings, and change nothing."`
}

// Help is what --help says of the command.
func (installCmd) Help() string {
	return "The program then calls ctxd at the start of a session, at each prompt and when an answer is done: " +
		"it is told what is known, and what was said is kept as a conversation. What looks like a secret is masked before. " +
		"Nothing is kept of a folder that has a file .ctxd/off, nor of those below it. " +
		"Everything else in its settings stays as it is, and ctxd hook uninstall takes out these lines alone."
}

// Examples are those of --help.
func (installCmd) Examples() []term.Example {
	return []term.Example{
		{"ctxd hook install claude-code --dry-run", "show the lines first"},
		{"ctxd hook install claude-code", "have Claude Code remember"},
		{"mkdir .ctxd && touch .ctxd/off", "keep nothing of this folder"},
		{"ctxd inspect capture", "when something was last kept"},
	}
}

// uninstallCmd is ctxd hook uninstall.
type uninstallCmd struct {
	Host   string `arg:"" enum:"claude-code,codex,cursor,gemini" help:"The program: ${enum}."`
	DryRun bool   `help:"Show what would change in its settings, and change nothing."`
}

// Help is what --help says of the command.
func (uninstallCmd) Help() string {
	return "What was kept stays: ctxd chat list shows it."
}

// Examples are those of --help.
func (uninstallCmd) Examples() []term.Example {
	return []term.Example{{"ctxd hook uninstall claude-code", "have Claude Code call ctxd no more"}}
}

// edited is what becomes of the settings of a program.
type edited struct {
	Host    string `json:"host"`
	Path    string `json:"path"`
	Changed bool   `json:"changed"`
	DryRun  bool   `json:"dryRun"`

	before, after string
}

// Run runs the command.
func (c *installCmd) Run(a *Options) error {
	program, err := connect.Program()
	if err != nil {
		return err
	}
	h := find(c.Host)
	return edit(a, h, c.DryRun, func(text string) (string, error) {
		return h.installed(text, h.commands(program, c.IncludePrivate))
	})
}

// Run runs the command.
func (c *uninstallCmd) Run(a *Options) error {
	h := find(c.Host)
	return edit(a, h, c.DryRun, h.uninstalled)
}

// commands are the command lines of the events.
func (h *host) commands(program string, private bool) map[string]string {
	if strings.ContainsAny(program, " \t'&()") {
		program = `"` + program + `"`
	}
	all := make(map[string]string)
	for _, event := range events {
		if all[event] = program + " hook " + h.name + " " + event; private {
			all[event] += " " + privateFlag
		}
	}
	return all
}

// edit changes the settings of a program and says what has become of them.
func edit(a *Options, h *host, dry bool, change func(string) (string, error)) error {
	e, err := h.edit(change)
	if err != nil {
		return err
	}
	if e.DryRun = dry; !dry && e.Changed {
		if err := e.write(h); err != nil {
			return err
		}
	}
	if a.JSON {
		return a.Out.JSON(e)
	}
	if dry {
		e.draw(a.Out)
	}
	did := "changed"
	switch {
	case !e.Changed:
		did = "as it was"
	case dry:
		did = "would change"
	}
	a.Out.SayWhole(term.Styled(term.Faint, did+"  "), term.Text(e.Path))
	return nil
}

// edit reads the settings of a program and returns what a change makes of them. Settings that can't be read are refused.
func (h *host) edit(change func(string) (string, error)) (*edited, error) {
	path, err := h.path()
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "there is no folder of the user").WithHint("set HOME")
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // what a link leads to is changed, and the link stays
	}
	e := &edited{Host: h.name, Path: path}
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fault.Wrap(fault.Unavailable, err, "cannot read %s: %s", path, config.Reason(err)).
			WithHint("check who owns it")
	default:
		e.before, err = readAll(f)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, fault.Wrap(fault.Unavailable, err, "cannot read %s", path).WithHint("check who owns it")
		}
	}
	if e.after, err = change(e.before); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "%s was not changed: %v", path, err).
			WithHint("mend that line, then try again")
	}
	e.Changed = e.before != e.after
	return e, nil
}

// write replaces the file at once, with the mode that it has. Settings of which nothing is left that ctxd has not written
// go.
func (e *edited) write(h *host) error {
	err := e.replace(h)
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "cannot write %s: %s", e.Path, config.Reason(err)).
			WithHint("check who owns it and its folder")
	}
	return nil
}

func (e *edited) replace(h *host) error {
	if e.after == h.fresh() {
		return os.Remove(e.Path)
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(e.Path); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(e.Path), 0o700); err != nil {
		return err
	}
	temp, err := tempfile.Create(e.Path)
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) //nolint:errcheck // it is gone when all went well
	_, err = temp.WriteString(e.after)
	err = errors.Join(err, temp.Chmod(mode), temp.Sync(), temp.Close())
	if err != nil {
		return err
	}
	return os.Rename(temp.Name(), e.Path)
}

// draw shows the lines that go and those that come.
func (e *edited) draw(s *term.Screen) {
	before, after := slices.Collect(strings.Lines(e.before)), slices.Collect(strings.Lines(e.after))
	for len(before) > 0 && len(after) > 0 && before[0] == after[0] {
		before, after = before[1:], after[1:]
	}
	for len(before) > 0 && len(after) > 0 && before[len(before)-1] == after[len(after)-1] {
		before, after = before[:len(before)-1], after[:len(after)-1]
	}
	for _, line := range before {
		s.SayWhole(term.Styled(term.Bad, "- "), term.Text(strings.TrimRight(line, "\r\n")))
	}
	for _, line := range after {
		s.SayWhole(term.Styled(term.Good, "+ "), term.Text(strings.TrimRight(line, "\r\n")))
	}
}

// Installed are the settings that have lines of ctxd, by the names of their programs. Settings that can't be read have none.
func Installed() map[string]string {
	all := make(map[string]string)
	for i := range hosts {
		if e, err := hosts[i].edit(hosts[i].uninstalled); err == nil && e.Changed {
			all[hosts[i].name] = e.Path
		}
	}
	return all
}

// Remove takes the lines of ctxd out of the settings of a program.
func Remove(name string) error {
	h := find(name)
	e, err := h.edit(h.uninstalled)
	if err != nil || !e.Changed {
		return err
	}
	return e.write(h)
}

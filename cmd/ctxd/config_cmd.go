package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
)

type configCmd struct {
	Key  string `arg:"" optional:"" help:"Print the value of this setting alone, such as limits.batch."`
	Path bool   `xor:"what" help:"Print the path of the configuration file."`
	Init bool   `xor:"what" help:"Make the configuration file, with every setting commented out, and print its path."`
}

func (configCmd) Help() string {
	return "A flag is stronger than an environment variable, that is stronger than the configuration file, and the file is stronger than the default. " +
		"The file is $CTXD_CONFIG, else ctxd/config.yaml in $XDG_CONFIG_HOME, else in ~/.config. " +
		"A daemon takes its settings when it starts; this shows what one would have that starts now."
}

// More lists the settings.
func (configCmd) More() string {
	var b strings.Builder
	b.WriteString("Settings:\n")
	for _, s := range defaultConfig().settings {
		fmt.Fprintf(&b, "  %-24s %s\n", s.key, s.about)
	}
	b.WriteString("\nThe environment variable of limits.writeStall is CTXD_LIMITS_WRITE_STALL, and so on.\n")
	return b.String()
}

func (configCmd) Examples() []example {
	return []example{
		{"ctxd config", "every setting, its value, and where that came from"},
		{"ctxd config data", "the folder of the store, for a script"},
		{"ctxd config --init", "begin a configuration file"},
		{`$EDITOR "$(ctxd config --path)"`, "change it"},
		{"ctxd serve --set limits.connections=100", "any setting on the command line"},
	}
}

func (c *configCmd) Run(a *app) error {
	switch {
	case c.Key != "" && (c.Path || c.Init):
		return &usageError{"a setting goes with neither --path nor --init", "ctxd config --help"}
	case c.Path || c.Init:
		return c.file(a)
	}
	conf, err := a.config(nil)
	if err != nil {
		return err
	}
	if c.Key == "" {
		return conf.draw(a)
	}
	s := conf.setting(c.Key)
	if s == nil {
		return conf.unknownSetting(c.Key)
	}
	if a.JSON {
		return a.out.json(s.shown())
	}
	for _, l := range s.lines() {
		a.out.sayWhole(text(l))
	}
	return nil
}

// file prints the path of the configuration file, and makes it when it is asked
// to.
func (c *configCmd) file(a *app) error {
	p, _, err := configPath(a.Config)
	if err == nil && c.Init {
		err = makeConfig(p)
	}
	if err != nil {
		return err
	}
	if a.JSON {
		return a.out.json(map[string]string{"path": p})
	}
	a.out.sayWhole(text(p))
	return nil
}

// makeConfig writes a configuration file that changes nothing.
func makeConfig(p string) error {
	if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
		return fault.Wrap(fault.Unavailable, err, "the folder of the file %q can't be made: %s", p, reason(err)).WithHint("name another place with --config")
	}
	f, err := os.OpenFile(p, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return fault.New(fault.Conflict, "there is a file %q already", p).WithHint("edit it, or move it away first")
	case err != nil:
		return fault.Wrap(fault.Unavailable, err, "the file %q can't be made: %s", p, reason(err)).WithHint("name another place with --config")
	}
	_, err = f.WriteString(template())
	return errors.Join(err, f.Close())
}

// lines returns the value as it is printed: a list takes one line an item.
func (s *setting) lines() []string {
	if !s.list {
		return []string{s.text()}
	}
	return filepath.SplitList(s.text())
}

// shownSetting is a setting as --json prints it.
type shownSetting struct {
	Key    string `json:"key"`
	Value  any    `json:"value"`          // sizes in bytes, durations in ms
	Unit   string `json:"unit,omitempty"` // of the value
	Text   string `json:"text,omitempty"` // as it is written in the file, where it has a unit
	Source string `json:"source"`         // flag, environment, file or default
	Where  string `json:"where,omitempty"`
}

func (s *setting) shown() shownSetting {
	out := shownSetting{Key: s.key, Value: s.raw(), Unit: s.unit, Source: s.origin.source, Where: s.origin.where}
	if s.unit != "" {
		out.Text = s.text()
	}
	return out
}

// draw shows all settings.
func (c *config) draw(a *app) error {
	if a.JSON {
		list := make([]shownSetting, len(c.settings))
		for i, s := range c.settings {
			list[i] = s.shown()
		}
		return a.out.json(map[string]any{"file": map[string]any{"path": c.path, "present": c.present}, "settings": list})
	}
	state := styled(faint, "  does not exist; ctxd config --init makes it")
	if c.present {
		state = span{}
	}
	a.out.say(styled(strong, "Configuration"), text("  "+c.path), state)
	a.out.say()
	t := &table{indent: 2, head: []string{"setting", "value", "from"}}
	for _, s := range c.settings {
		from := styled(faint, fromDefault)
		if s.origin.source != fromDefault {
			from = styled(accent, s.origin.where)
		}
		shown := s.lines()
		if len(shown) == 0 || shown[0] == "" {
			shown = []string{"none"}
		}
		t.row(line{styled(faint, s.key)}, line{text(shown[0])}, line{from})
		for _, more := range shown[1:] {
			t.row(line{}, line{text(more)}, line{})
		}
	}
	t.draw(a.out)
	return nil
}

// template returns a configuration file with all settings commented out.
func template() string {
	var b strings.Builder
	b.WriteString("# Configuration of ctxd. Each comment shows the default, or an example where there is none.\n" +
		"# Sizes are written as 512KiB or 16MiB, durations as 30s, 10m or 1h30m.\n" +
		"# ctxd config shows what holds, and where it came from.\n\n")
	section := ""
	for _, s := range defaultConfig().settings {
		name, indent := s.key, ""
		if head, rest, ok := strings.Cut(s.key, "."); ok {
			if head != section {
				fmt.Fprintf(&b, "\n%s:\n", head)
			}
			section, name, indent = head, rest, "  "
		}
		fmt.Fprintf(&b, "%s# %s: %s  # %s\n", indent, name, s.sample(), s.about)
	}
	return b.String()
}

// samples are values of settings that have no default, or one that the machine
// decides.
var samples = map[string]string{
	"socket": "~/.ctxd/ctxd.sock", "data": "~/.ctxd/data", "vaults": "[~/Notes, ~/Work]",
	"embedding.url": "http://127.0.0.1:11434/v1", "embedding.model": "nomic-embed-text",
	"vault.exclude": `["*.draft.md", /Attachments/]`, "vault.private": "[/Journal/]",
}

// sample returns a value as it stands in a configuration file.
func (s *setting) sample() string { return firstOf(samples[s.key], s.text()) }

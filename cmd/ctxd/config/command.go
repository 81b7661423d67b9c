package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
)

// Command is ctxd config.
type Command struct {
	Key  string `arg:"" optional:"" help:"Print only the value of this setting, such as limits.batch."`
	Path bool   `xor:"what" help:"Print the path of the configuration file."`
	Init bool   `xor:"what" help:"Create the configuration file with every setting commented out, and print its path."`
}

// Help is what --help says of the command.
func (Command) Help() string {
	return "A value comes from a flag, else from an environment variable, else from the configuration file, else from " +
		"the default. " +
		"The file is $CTXD_CONFIG, else ctxd/config.yaml in $XDG_CONFIG_HOME, else in ~/.config. " +
		"A daemon reads its settings when it starts; " +
		"this command shows the settings that a daemon started now would have."
}

// More lists the settings.
func (Command) More() string {
	var b strings.Builder
	b.WriteString("Settings, each with an example:\n")
	for _, s := range Default().Settings {
		fmt.Fprintf(&b, "  %s: %s\n      %s\n", s.key, s.example(), s.about)
	}
	b.WriteString("\nThe environment variable of limits.frameTimeout is CTXD_LIMITS_FRAME_TIMEOUT, and so on.\n")
	return b.String()
}

// Examples are those of --help.
func (Command) Examples() []term.Example {
	return []term.Example{
		{"ctxd config", "every setting, its value, and where the value came from"},
		{"ctxd config data", "the folder of the store, for a script"},
		{"ctxd config --init", "create a configuration file"},
		{`$EDITOR "$(ctxd config --path)"`, "change it"},
		{"ctxd serve --set limits.connections=100", "any setting on the command line"},
	}
}

// Run runs the command.
func (c *Command) Run(a *Options) error {
	switch {
	case c.Key != "" && (c.Path || c.Init):
		return term.Misuse("--path and --init cannot be combined with a setting", "ctxd config --help")
	case c.Path || c.Init:
		return c.file(a)
	}
	conf, err := a.Load(nil)
	if err != nil {
		return err
	}
	if c.Key == "" {
		return conf.draw(a)
	}
	s := conf.Setting(c.Key)
	if s == nil {
		return conf.unknownSetting(c.Key)
	}
	if a.JSON {
		return a.Out.JSON(s.shown())
	}
	for _, l := range s.lines() {
		a.Out.SayWhole(term.Text(l))
	}
	return nil
}

// file prints the path of the configuration file, and makes it when it is asked
// to.
func (c *Command) file(a *Options) error {
	p, _, err := Path(a.Config)
	if err == nil && c.Init {
		err = makeConfig(p)
	}
	if err != nil {
		return err
	}
	if a.JSON {
		return a.Out.JSON(map[string]string{"path": p})
	}
	a.Out.SayWhole(term.Text(p))
	return nil
}

// makeConfig writes a configuration file that changes nothing.
func makeConfig(p string) error {
	if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
		return fault.Wrap(fault.Unavailable, err, "cannot create the folder of the file %q: %s", p, Reason(err)).
			WithHint("choose another place with --config")
	}
	f, err := os.OpenFile(p, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return fault.Clash(fault.Exists, "the file %q already exists", p).WithHint("edit it, or move it away")
	case err != nil:
		return fault.Wrap(fault.Unavailable, err, "cannot create the file %q: %s", p, Reason(err)).
			WithHint("choose another place with --config")
	}
	_, err = f.WriteString(template())
	return errors.Join(err, f.Close())
}

// lines returns the value as it is printed: a list takes one line an item.
func (s *Setting) lines() []string {
	if !s.list {
		return []string{s.Text()}
	}
	return filepath.SplitList(s.Text())
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

func (s *Setting) shown() shownSetting {
	out := shownSetting{Key: s.key, Value: s.raw(), Unit: s.Unit, Source: s.Origin.Source, Where: s.Origin.where}
	if s.Unit != "" {
		out.Text = s.Text()
	}
	return out
}

// draw shows all settings.
func (c *Config) draw(a *Options) error {
	if a.JSON {
		list := make([]shownSetting, len(c.Settings))
		for i, s := range c.Settings {
			list[i] = s.shown()
		}
		return a.Out.JSON(map[string]any{
			"file":     map[string]any{"path": c.Path, "present": c.Present},
			"settings": list,
		})
	}
	state := term.Styled(term.Faint, "  does not exist; ctxd config --init makes it")
	if c.Present {
		state = term.Span{}
	}
	a.Out.Say(term.Styled(term.Strong, "Configuration"), term.Text("  "+c.Path), state)
	a.Out.Say()
	t := &term.Table{Indent: 2, Head: []string{"setting", "value", "from"}}
	for _, s := range c.Settings {
		from := term.Styled(term.Faint, FromDefault)
		if s.Origin.Source != FromDefault {
			from = term.Styled(term.Accent, s.Origin.where)
		}
		shown := s.lines()
		if len(shown) == 0 || shown[0] == "" {
			shown = []string{"none"}
		}
		t.Row(term.Line{term.Styled(term.Faint, s.key)}, term.Line{term.Text(shown[0])}, term.Line{from})
		for _, more := range shown[1:] {
			t.Row(term.Line{}, term.Line{term.Text(more)}, term.Line{})
		}
	}
	t.Draw(a.Out)
	return nil
}

// template returns a configuration file with all settings commented out.
func template() string {
	var b strings.Builder
	b.WriteString("# Configuration of ctxd. Each comment shows the default, or an example where there is none.\n" +
		"# Remove a \"# \" to set a line, or add lines at the end; log.level: debug may also be\n" +
		"# written as level: debug, indented under a line log:\n" +
		"# Sizes are written as 512KiB or 16MiB, durations as 30s, 10m or 1h30m.\n" +
		"# ctxd config shows each value, and where it came from.\n\n")
	section := ""
	for _, s := range Default().Settings {
		if head, _, ok := strings.Cut(s.key, "."); ok && head != section {
			section = head
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "# %s: %s  # %s\n", s.key, s.sample(), s.about)
	}
	return b.String()
}

// samples are examples of settings whose default shows nothing of how they are written.
var samples = map[string]string{
	"socket": "~/.ctxd/ctxd.sock", "data": "~/.ctxd/data", "vaults": "[~/Notes, ~/Work]", "idleExit": "30m",
	"embedder": "http", "embedding.url": "http://127.0.0.1:11434/v1", "embedding.model": "nomic-embed-text", "embedding.key": "env:EMBEDDING_KEY",
	"embedding.table": "~/ctxd/bin/models/multilingual.bin", "runner.path": "~/bin/ctxd-runner", "runner.model": "~/models/bge-small-en-v1.5.gguf",
	"runner.gpuLayers": "-1", "runner.device": "CUDA0", "runner.threads": "4", "embedding.encoder": "10",
	"rerank.url": "http://127.0.0.1:8080/v1", "rerank.model": "bge-reranker-v2-m3", "rerank.scores": "logits", "rerank.key": "file:~/.ctxd/rerank.key",
	"chat.provider": "anthropic", "chat.model": "llama3.2", "chat.tasks": "Inbox/Tasks.md", "chat.budget.tokensPerDay": "500000",
	"chat.providers.openai.model": "gpt-4.1-mini", "chat.providers.anthropic.model": "claude-haiku-4-5",
	"chat.providers.openai.leaveOut": "[stream_options]", "chat.providers.anthropic.leaveOut": "[temperature]",
	"chat.providers.openai.key": "keyring:openai", "chat.providers.anthropic.key": "env:ANTHROPIC_API_KEY",
	"memory.learn": "openai/gpt-4.1-mini", "memory.distill": "openai",
	"prompts.dir":  "~/.config/ctxd/prompts",
	"open.command": "code --goto {path}:{line}",
	"log.file":     "~/.ctxd/ctxd.log", "wql.history": "none", "chat.history": "none",
	"store.sync.url": "nats://nas:4222", "store.sync.credentials": "file:~/.ctxd/sync.creds", "store.sync.ca": "~/.ctxd/ca.pem",
	"store.sync.cert": "~/.ctxd/cert.pem", "store.sync.certKey": "~/.ctxd/cert.key",
	"vault.exclude": `["*.draft.md", /Attachments/]`, "vault.private": "[/Journal/]", "vault.write": "[{folder: /Inbox/}, {vault: Work, folder: /AI/, remote: true}]",
	"vault.attachments": "read",
}

// sample returns a value as it stands in a configuration file that changes nothing.
func (s *Setting) sample() string { return cmp.Or(s.Text(), samples[s.key]) }

// example returns a value as somebody would write it: the default where that shows how.
func (s *Setting) example() string { return cmp.Or(samples[s.key], s.Text()) }

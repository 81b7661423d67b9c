package records

// ctxd templates shows the templates of what ctxd itself asks a model, such as the title of a conversation, for a person
// to see and to copy. It reads the configuration and the folder that prompts.dir names, as a daemon would that starts
// now, and asks none.

import (
	"io"
	"log/slog"

	"github.com/ctxd/ctxd/chat/prompts"
	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
)

// PromptsOptions are what ctxd templates runs with.
type PromptsOptions struct {
	*term.Streams
	*config.Flags
}

// PromptsCommand is ctxd templates.
type PromptsCommand struct {
	List listPrompts `cmd:"" help:"List the templates, and which are your own."`
	Show showPrompt  `cmd:"" help:"Print a template."`
}

// Help is what --help says of the command.
func (PromptsCommand) Help() string {
	return "ctxd asks a model for titles and the like by templates. To have one of your own used, put it under the same " +
		"name into the folder that the setting prompts.dir names. It holds from the next start of the daemon on."
}

// listPrompts is ctxd templates list.
type listPrompts struct{}

// Examples are those of --help.
func (listPrompts) Examples() []term.Example {
	return []term.Example{
		{"ctxd templates list", "what ctxd asks a model"},
		{"ctxd templates list --json | jq -r '.prompts[].name'", "for scripts"},
	}
}

// listed are the templates as --json prints them.
type listed struct {
	Folder   string             `json:"folder,omitempty"`
	Prompts  []prompts.Template `json:"prompts"`
	Warnings []string           `json:"warnings"`
}

// Run runs the command.
func (listPrompts) Run(a *PromptsOptions) error {
	set, dir, err := openPrompts(a)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.Out.JSON(listed{Folder: dir, Prompts: set.List(), Warnings: append([]string{}, set.Warnings()...)})
	}
	table := &term.Table{}
	for _, t := range set.List() {
		from := term.Styled(term.Faint, "built in")
		if t.File != "" {
			from = term.Text(t.File)
		}
		table.Row(term.Line{term.Styled(term.Accent, t.Name)}, term.Line{term.Text(t.About)}, term.Line{from})
	}
	table.Draw(a.Out)
	for _, w := range set.Warnings() {
		a.Out.Say(term.Styled(term.Warn, "! "), term.Text(w))
	}
	return nil
}

func openPrompts(a *PromptsOptions) (set *prompts.Set, dir string, err error) {
	conf, err := a.Load(nil)
	if err != nil {
		return nil, "", err
	}
	return prompts.Open(conf.Prompts, slog.New(slog.DiscardHandler)), conf.Prompts, nil
}

// showPrompt is ctxd templates show.
type showPrompt struct {
	Prompt  string `arg:"" help:"Name of the template, such as title."`
	BuiltIn bool   `help:"Print the one that is compiled in, also where yours is used."`
}

// Help is what --help says of the command.
func (showPrompt) Help() string {
	return "Prints the template that is used. A template is one of Go's text/template with two parts, system and user."
}

// Examples are those of --help.
func (showPrompt) Examples() []term.Example {
	return []term.Example{
		{"ctxd templates show title", "how ctxd asks for the title of a conversation"},
		{"ctxd templates show title > ~/.config/ctxd/prompts/title.tmpl", "one of your own begins as a copy"},
		{"ctxd templates show title --built-in", "what was before"},
	}
}

// Run runs the command.
func (c *showPrompt) Run(a *PromptsOptions) error {
	builtIn, err := prompts.BuiltInText(c.Prompt)
	if err != nil {
		return err
	}
	shown := prompts.Template{Name: c.Prompt, Text: builtIn}
	if !c.BuiltIn {
		set, _, err := openPrompts(a)
		if err != nil {
			return err
		}
		for _, t := range set.List() {
			if t.Name == c.Prompt {
				shown = t
			}
		}
	}
	if a.JSON {
		return a.Out.JSON(shown)
	}
	_, err = io.WriteString(a.Out, term.CleanLines(shown.Text)) // with its tabs: it is copied
	return err
}

package records

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// defaultEditor is what everybody has who has set none.
var defaultEditor = map[bool]string{true: "notepad", false: "vi"}[runtime.GOOS == "windows"]

type editPersonality struct {
	Personality string `arg:"" help:"Id of the personality; a new one is made."`
	From        string `placeholder:"PERSONALITY" default:"default" help:"What a new one begins as a copy of."`
}

// Help is what --help says of the command.
func (editPersonality) Help() string {
	return "Opens the template in the editor of $VISUAL or $EDITOR. When you save and leave the editor, the template is " +
		"checked, saved, and shown as a prompt has it. With an error you are asked to go on editing; what you wrote is kept."
}

// Examples are those of --help.
func (editPersonality) Examples() []term.Example {
	return []term.Example{
		{"ctxd personality edit coach", "one of your own, or a new one"},
		{"ctxd personality edit coach --from teacher", "a new one as a copy of a preset"},
		{"EDITOR='code --wait' ctxd personality edit coach", "in another editor"},
	}
}

// Run runs the command.
func (c *editPersonality) Run(a *PersonalityOptions) error {
	was, version, err := c.begin(a)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "ctxd-personality-")
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "there is no place for the template")
	}
	file := filepath.Join(dir, c.Personality+".yaml")
	kept := func(err error) error {
		a.Err.SayWhole(term.Text("what you wrote is in " + file))
		return err
	}
	if err := os.WriteFile(file, []byte(was), 0o600); err != nil {
		return fault.Wrap(fault.Unavailable, err, "the template can't be written")
	}
	for {
		if err := runEditor(a, file); err != nil {
			return kept(err)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return fault.Wrap(fault.Unavailable, err, "the template can't be read again")
		}
		text := strings.TrimPrefix(string(data), "\ufeff") // which some editors write
		if text == was && version != 0 {
			a.Err.Say(term.Text("nothing was changed"))
			return os.RemoveAll(dir)
		}
		checked, err := callPersonality[protocol.PersonalityValidated](a, "personality.validate", protocol.PersonalityTemplate{Template: text})
		if err != nil {
			return kept(err)
		}
		if !checked.OK {
			err := a.Confirm(a.Ctx, "Go on editing?", "ctxd personality set "+term.ShellQuoted(file)+" --id "+c.Personality, func(*term.Screen) {
				drawProblems(a, term.Bad, checked.Errors)
			})
			if err != nil {
				return kept(notSaved(err, &checked))
			}
			continue
		}
		got, err := callPersonality[protocol.PersonalityFull](a, "personality.put", protocol.PersonalityPut{ID: c.Personality, Template: text, IfVersion: &version})
		if err != nil {
			return kept(err)
		}
		if err := os.RemoveAll(dir); err != nil {
			return fault.Wrap(fault.Unavailable, err, "the copy in %s can't be removed", dir)
		}
		return drawSavedPersonality(a, &got)
	}
}

// notSaved is why a template with errors was not saved: the first one, where nobody could be asked.
func notSaved(err error, checked *protocol.PersonalityValidated) error {
	if fault.KindOf(err) == fault.Cancelled {
		return err
	}
	first := checked.Errors[0]
	e := fault.Field("template", "%s", first.Message)
	e.Line, e.Column = first.Line, first.Column
	return e.WithHint("%s", first.Hint)
}

// begin returns the text that editing begins with, and the version that it is of, 0 for a new one.
func (c *editPersonality) begin(a *PersonalityOptions) (text string, version int, err error) {
	got, err := callPersonality[protocol.PersonalityFull](a, "personality.get", protocol.PersonalityRef{Ref: c.Personality})
	switch {
	case err == nil && got.Personality.Preset:
		return "", 0, (&fault.Error{Kind: fault.Conflict, Reason: fault.State, Ref: c.Personality, Msg: c.Personality + " is compiled in and can't be changed"}).
			WithHint("ctxd personality edit my-%s --from %s", c.Personality, c.Personality)
	case err == nil:
		return got.Personality.Template, got.Personality.Version, nil
	case term.ExplainError(err).Code != term.ExitMissing:
		return "", 0, err
	}
	got, err = callPersonality[protocol.PersonalityFull](a, "personality.get", protocol.PersonalityRef{Ref: c.From})
	return got.Personality.Template, 0, err
}

// runEditor runs the editor with the terminal of this program.
func runEditor(a *PersonalityOptions, file string) error {
	args := append(editorOf(os.Getenv), file)
	if err := a.Out.Flush(); err != nil {
		return err
	}
	run := exec.CommandContext(a.Ctx, args[0], args[1:]...)
	run.Stdin, run.Stdout, run.Stderr = os.Stdin, os.Stdout, os.Stderr
	if a.JSON {
		run.Stdout = os.Stderr // standard output has one document
	}
	if err := run.Run(); err != nil {
		return fault.Wrap(fault.Unavailable, err, "the editor %s has failed", args[0]).WithHint("set $EDITOR to a program that edits a file and waits")
	}
	return nil
}

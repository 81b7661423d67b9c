package records

// ctxd personality lists, shows, chooses, writes, checks and edits templates of how the assistant is to speak, over
// the daemon. Its edit (personalities_edit.go) runs the editor of the person ($VISUAL, $EDITOR) with a copy of the
// template in a temporary folder. The copy is kept, and named, whenever it could not be saved.

import (
	"cmp"
	"os"
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// PersonalityOptions are what ctxd personality runs with.
type PersonalityOptions struct {
	*term.Streams
	*connect.Link
}

// PersonalityCommand is ctxd personality.
type PersonalityCommand struct {
	List     listPersonalities   `cmd:"" help:"List the presets and your own."`
	Show     showPersonality     `cmd:"" help:"Show what prompts begin with."`
	Use      usePersonality      `cmd:"" help:"Have prompts begin with one from now on."`
	Edit     editPersonality     `cmd:"" help:"Change one in your editor, or make one."`
	Set      putPersonality      `cmd:"" help:"Write one from a file."`
	Validate validatePersonality `cmd:"" help:"Find what is wrong with a template."`
	Delete   removePersonality   `cmd:"" help:"Delete one of your own."`
	Export   exportPersonalities `cmd:"" help:"Print yours as one YAML text."`
	Import   importPersonalities `cmd:"" help:"Read what export printed, or a template."`
}

// Help is what --help says of the command.
func (PersonalityCommand) Help() string {
	return "A personality is a template that says who the assistant is, in which style it speaks, and what it does with " +
		"sources and memories. The one that is in use is the first section of every prompt; there is none until you choose one."
}

// Examples are those of --help.
func (PersonalityCommand) Examples() []term.Example {
	return []term.Example{
		{"ctxd personality list", "presets and your own"},
		{"ctxd personality use teacher", "from the next prompt on"},
		{"ctxd personality edit coach --from teacher", "one of your own begins as a copy"},
	}
}

// callPersonality is a call whose result is a R.
func callPersonality[R any](a *PersonalityOptions, method string, params any) (out R, err error) {
	err = a.With(func(cl *client.Client) error { return cl.Call(a.Ctx, method, params, &out) })
	return out, err
}

type listPersonalities struct{}

// Examples are those of --help.
func (listPersonalities) Examples() []term.Example {
	return []term.Example{
		{"ctxd personality list", "an arrow marks the one in use"},
		{"ctxd personality list --json | jq -r '.personalities[].id'", "for scripts"},
	}
}

// Run runs the command.
func (listPersonalities) Run(a *PersonalityOptions) error {
	got, err := callPersonality[protocol.PersonalityList](a, "personality.list", protocol.Empty{})
	if err != nil {
		return err
	}
	if a.JSON {
		return a.Out.JSON(got)
	}
	table := &term.Table{}
	used := false
	for _, p := range got.Personalities {
		mark, from := "  ", "your own, version "+strconv.Itoa(p.Version)
		if p.Active {
			mark, used = "→ ", true
		}
		if p.Preset {
			from = "preset"
		}
		about := p.Name
		if p.Role != "" {
			about += ", " + p.Role
		}
		table.Row(term.Line{term.Styled(term.Good, mark), term.Styled(term.Accent, p.ID)}, term.Line{term.Text(about)}, term.Line{term.Styled(term.Faint, from)})
	}
	table.Draw(a.Out)
	if !used {
		a.Out.Say(term.Styled(term.Faint, "none is in use; ctxd personality use ID chooses one"))
	}
	return nil
}

type showPersonality struct {
	Personality string `arg:"" optional:"" help:"Id of the personality. Default: the one in use."`
	Template    bool   `help:"Print its template, the YAML."`
}

// Examples are those of --help.
func (showPersonality) Examples() []term.Example {
	return []term.Example{
		{"ctxd personality show", "what prompts begin with now"},
		{"ctxd personality show teacher", "before you choose it"},
		{"ctxd personality show default --template > mine.yaml", "a template of your own begins as a copy"},
	}
}

// Run runs the command.
func (c *showPersonality) Run(a *PersonalityOptions) error {
	got, err := callPersonality[protocol.PersonalityFull](a, "personality.get", protocol.PersonalityRef{Ref: c.Personality})
	switch {
	case err != nil:
		return err
	case a.JSON:
		return a.Out.JSON(got)
	case c.Template:
		_, err := a.Out.Write([]byte(term.CleanLines(got.Personality.Template)))
		return err
	}
	drawSection(a, got.Section)
	drawProblems(a, term.Warn, got.Warnings)
	return nil
}

// drawSection shows what prompts begin with.
func drawSection(a *PersonalityOptions, section string) {
	for line := range strings.Lines(section) {
		a.Out.SayWhole(term.Text(strings.TrimSuffix(line, "\n")))
	}
}

// drawProblems shows problems, each at its place.
func drawProblems(a *PersonalityOptions, mood term.Style, all []record.TemplateProblem) {
	for _, p := range all {
		line := term.Line{
			term.Styled(mood, "! "), term.Styled(term.Faint, "line "+strconv.Itoa(p.Line)+", column "+strconv.Itoa(p.Column)+"  "),
			term.Text(p.Message),
		}
		if p.Hint != "" {
			line = append(line, term.Styled(term.Faint, "  "+p.Hint))
		}
		a.Err.SayWhole(line...)
	}
}

type usePersonality struct {
	Personality string `arg:"" optional:"" help:"Id of the personality."`
	None        bool   `help:"Have prompts begin with none."`
}

// Examples are those of --help.
func (usePersonality) Examples() []term.Example {
	return []term.Example{
		{"ctxd personality use professional", "from the next prompt on"},
		{"ctxd personality use --none", "no personality"},
	}
}

// Run runs the command.
func (c *usePersonality) Run(a *PersonalityOptions) error {
	if (c.Personality == "") != c.None {
		return term.Misuse("give the id of a personality, or --none", "ctxd personality list")
	}
	got, err := callPersonality[protocol.PersonalityActivated](a, "personality.activate", protocol.PersonalityActivate{ID: c.Personality})
	switch {
	case err != nil:
		return err
	case a.JSON:
		return a.Out.JSON(got)
	case got.ID == "":
		a.Out.Say(term.Text("prompts begin with no personality from now on"))
	default:
		a.Out.Say(term.Text("prompts begin with "), term.Styled(term.Accent, got.ID), term.Text(" from now on"))
	}
	return nil
}

type putPersonality struct {
	File string `arg:"" help:"Template to read, - for standard input."`
	ID   string `name:"id" placeholder:"ID" help:"Id of the personality. Default: made of its name."`
}

// Examples are those of --help.
func (putPersonality) Examples() []term.Example {
	return []term.Example{
		{"ctxd personality set coach.yaml", "one of your own, by the name in it"},
		{"ctxd personality set - --id coach < coach.yaml", "under an id that you choose"},
	}
}

// Run runs the command.
func (c *putPersonality) Run(a *PersonalityOptions) error {
	text, err := a.Input(a.Streams, c.File, "the template")
	if err != nil {
		return err
	}
	got, err := callPersonality[protocol.PersonalityFull](a, "personality.put", protocol.PersonalityPut{ID: c.ID, Template: string(text)})
	if err != nil {
		return err
	}
	return drawSavedPersonality(a, &got)
}

// drawSavedPersonality says that a personality was written, and how a prompt shows it.
func drawSavedPersonality(a *PersonalityOptions, got *protocol.PersonalityFull) error {
	if a.JSON {
		return a.Out.JSON(got)
	}
	drawSection(a, got.Section)
	drawProblems(a, term.Warn, got.Warnings)
	line := term.Line{term.Styled(term.Good, "saved"), term.Text("  " + got.Personality.ID + ", version " + strconv.Itoa(got.Personality.Version))}
	if got.Personality.Active {
		line = append(line, term.Text("; prompts begin with it"))
	} else {
		line = append(line, term.Styled(term.Faint, "  ctxd personality use "+got.Personality.ID+" has prompts begin with it"))
	}
	a.Err.Say(line...)
	return nil
}

type validatePersonality struct {
	File   string `arg:"" help:"Template to read, - for standard input."`
	Format string `enum:"markdown,xml" default:"markdown" help:"How the section is written: markdown or xml."`
}

// Help is what --help says of the command.
func (validatePersonality) Help() string {
	return "Prints what a prompt would begin with, and to standard error what is wrong or odd, by line and column. " +
		"With errors the exit status is 1."
}

// Examples are those of --help.
func (validatePersonality) Examples() []term.Example {
	return []term.Example{{"ctxd personality validate coach.yaml", "before it is saved"}}
}

// Run runs the command.
func (c *validatePersonality) Run(a *PersonalityOptions) error {
	text, err := a.Input(a.Streams, c.File, "the template")
	if err != nil {
		return err
	}
	got, err := callPersonality[protocol.PersonalityValidated](a, "personality.validate", protocol.PersonalityTemplate{Template: string(text), Format: c.Format})
	if err != nil {
		return err
	}
	if a.JSON {
		err = a.Out.JSON(got)
	} else {
		drawSection(a, got.Section)
		drawProblems(a, term.Bad, got.Errors)
		drawProblems(a, term.Warn, got.Warnings)
	}
	if err == nil && !got.OK {
		name := c.File
		if name == "-" {
			name = "standard input"
		}
		err = fault.Field("template", "%s has %s", name, term.Count(len(got.Errors), "error"))
	}
	return err
}

type removePersonality struct {
	Personality string `arg:"" help:"Id of the personality."`
}

// Examples are those of --help.
func (removePersonality) Examples() []term.Example {
	return []term.Example{{"ctxd personality delete coach", "it may not be the one in use"}}
}

// Run runs the command.
func (c *removePersonality) Run(a *PersonalityOptions) error {
	got, err := callPersonality[protocol.Deleted](a, "personality.delete", protocol.PersonalityDelete{ID: c.Personality})
	switch {
	case err != nil:
		return err
	case a.JSON:
		return a.Out.JSON(got)
	}
	a.Out.Say(term.Text("deleted  " + got.ID))
	return nil
}

type exportPersonalities struct {
	Personalities []string `arg:"" optional:"" name:"personality" help:"Ids. Default: all of your own."`
}

// Examples are those of --help.
func (exportPersonalities) Examples() []term.Example {
	return []term.Example{
		{"ctxd personality export > personalities.yaml", "all of your own"},
		{"ctxd personality export coach > coach.yaml", "one of them"},
	}
}

// Run runs the command.
func (c *exportPersonalities) Run(a *PersonalityOptions) error {
	got, err := callPersonality[protocol.PersonalityExported](a, "personality.export", protocol.PersonalityExport{IDs: c.Personalities})
	if err != nil {
		return err
	}
	if a.JSON {
		return a.Out.JSON(got)
	}
	_, err = a.Out.Write([]byte(term.CleanLines(got.Text)))
	return err
}

type importPersonalities struct {
	File    string `arg:"" help:"File to read, - for standard input."`
	Replace bool   `help:"Write over personalities that say something else."`
}

// Help is what --help says of the command.
func (importPersonalities) Help() string {
	return "All of the file is read, or nothing. Models are told what a personality says once you use it: " +
		"read those of others with ctxd personality show before."
}

// Examples are those of --help.
func (importPersonalities) Examples() []term.Example {
	return []term.Example{
		{"ctxd personality import personalities.yaml", "from another machine"},
		{"ctxd personality import personalities.yaml --replace", "also over what is there"},
	}
}

// Run runs the command.
func (c *importPersonalities) Run(a *PersonalityOptions) error {
	text, err := a.Input(a.Streams, c.File, "the file")
	if err != nil {
		return err
	}
	got, err := callPersonality[protocol.PersonalityImported](a, "personality.import", protocol.PersonalityImport{Text: string(text), Replace: c.Replace})
	switch {
	case err != nil:
		return err
	case a.JSON:
		return a.Out.JSON(got)
	}
	for _, id := range got.IDs {
		a.Out.Say(term.Styled(term.Good, "saved"), term.Text("  "+id))
		drawProblems(a, term.Warn, got.Warnings[id])
	}
	a.Out.Say(term.Text(term.Count(len(got.IDs), "personality") + " saved, " + strconv.Itoa(len(got.Unchanged)) + " unchanged"))
	return nil
}

// editorOf returns the program of the person that edits texts, with its arguments.
func editorOf(getenv func(string) string) []string {
	name := cmp.Or(strings.TrimSpace(getenv("VISUAL")), strings.TrimSpace(getenv("EDITOR")), defaultEditor)
	if _, err := os.Stat(name); err == nil {
		return []string{name} // a path with blanks
	}
	return strings.Fields(name)
}

package main

// ctxd open opens the file of a note in the program that is configured, or says where it is. It handles ctxd://
// addresses, which chat.references and ctxd mcp give.
//
// An address may come from anywhere, such as a link in a browser. It only ever names a record: the program is that of
// the setting open.command, it runs without a shell, and it is given the path of a file in a vault.

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes/markdown"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// openOptions are what the command runs with.
type openOptions struct {
	*term.Streams
	*connect.Link
}

// openCmd is ctxd open.
type openCmd struct {
	Ref   string `arg:"" help:"Address of a note or an entity, such as ctxd://note/ID#Heading; a [[link]], or an id, path or title of a note; or today, yesterday or tomorrow: the note of that day."`
	Vault string `placeholder:"VAULT" help:"Of several vaults, the one whose note of a day is meant."`
	Print bool   `help:"Only print the path and the line, also where a program is configured."`
}

// Help is what --help says of the command.
func (openCmd) Help() string {
	return "Opens the file of a note, at the heading or block that is named, in the program of the setting open.command. " +
		"An entity is opened at the note that describes it. The note of a day is where Obsidian or Logseq have it by their settings; " +
		"one that is not there is made with their template, where the setting vault.write allows it. Without that setting it prints PATH:LINE. " +
		"To have links to ctxd:// opened everywhere, make \"ctxd open\" the program of your desktop for them."
}

// Examples are those of --help.
func (openCmd) Examples() []term.Example {
	return []term.Example{
		{"ctxd open 'ctxd://note/5f0c9f36-90a2-5c11-8f0e-6f0a5c9d1a77#Huts'", "an address, as ctxd chat references --json has it"},
		{"ctxd open '[[Packing list#Boots]]'", "a link"},
		{"ctxd open today", "the note of today"},
		{"ctxd open --print 'Packing list'", "where it is"},
		{`CTXD_OPEN_COMMAND='code --goto {path}:{line}' ctxd open 'Packing list'`, "in an editor; ctxd config open.command"},
		{`CTXD_OPEN_COMMAND='vim +{line} {path}' ctxd open 'Packing list'`, "in the terminal"},
	}
}

// openedPlace is what --json prints.
type openedPlace struct {
	NoteID  string   `json:"noteId"`
	Title   string   `json:"title"`
	Path    string   `json:"path"`
	Line    int      `json:"line"`
	Missing string   `json:"missing,omitempty"` // the heading or the block that the note does not have
	Command []string `json:"command,omitempty"` // that was run
}

// Run runs the command.
func (c *openCmd) Run(a *openOptions) error {
	conf, err := a.Load(nil)
	if err != nil {
		return err
	}
	var out *openedPlace
	err = a.With(func(cl *client.Client) (err error) {
		out, err = findOpened(a, cl, c.Ref, c.Vault)
		return err
	})
	if err != nil {
		return err
	}
	if !c.Print {
		out.Command = conf.Open.Args(out.Path, out.Line)
	}
	if out.Missing != "" && !a.JSON {
		a.Err.Say(term.Styled(term.Warn, "the note has no "+out.Missing))
	}
	if len(out.Command) > 0 {
		if err := runOpener(a, out.Command); err != nil {
			return err
		}
	}
	switch {
	case a.JSON:
		return a.Out.JSON(out)
	case len(out.Command) == 0:
		a.Out.SayWhole(term.Text(out.Path + ":" + strconv.Itoa(out.Line)))
	}
	return nil
}

// findOpened returns the file and the line that a reference leads to.
func findOpened(a *openOptions, cl *client.Client, ref, vault string) (*openedPlace, error) {
	n, part, err := noteOf(a, cl, ref)
	if isDay(ref) && (vault != "" || fault.KindOf(err) == fault.NotFound) {
		n, err = noteOfDay(a, cl, ref, vault)
	}
	if err != nil {
		return nil, err
	}
	path, err := fileOf(a, cl, n)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.NotFound, "the file of the note is gone: %s", path).WithHint("ctxd vault status tells whether its folder is followed")
	}
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "the file of the note can't be read")
	}
	out := &openedPlace{NoteID: n.ID, Title: n.Title, Path: path, Line: 1}
	if part != (markdown.Part{}) {
		line, ok := lineOf(string(text), part)
		if out.Line = line; !ok {
			out.Missing = "heading " + part.Heading
			if part.Block != "" {
				out.Missing = "block ^" + part.Block
			}
		}
	}
	return out, nil
}

// isDay reports whether a reference is a day of which the note is made where there is none.
func isDay(ref string) bool {
	switch strings.ToLower(ref) {
	case "today", "yesterday", "tomorrow":
		return true
	}
	return false
}

// noteOfDay returns the note of a day, which is made where there is none.
func noteOfDay(a *openOptions, cl *client.Client, day, vault string) (*protocol.NoteFull, error) {
	var made protocol.NoteSaved
	err := cl.Call(a.Ctx, "notes.put", protocol.NotePut{Vault: vault, Day: day}, &made)
	var there *fault.Error
	if errors.As(err, &there) && there.Reason == fault.Exists && len(there.Candidates) == 1 {
		return connect.FindNote(a.Ctx, cl, a.Err, there.Candidates[0].ID)
	}
	if err != nil {
		return nil, err
	}
	n, err := connect.FindNote(a.Ctx, cl, a.Err, made.ID)
	if err == nil && !a.JSON {
		a.Err.Say(term.Styled(term.Faint, "made"), term.Text("  "), term.Styled(term.Strong, n.Path))
		if strings.Contains(n.Body, "<%") {
			a.Err.Say(term.Styled(term.Warn, "its template has code of Templater, which ctxd does not run: it is left as text"))
		}
	}
	return n, err
}

// noteOf returns the note that a reference names, and the part of it.
func noteOf(a *openOptions, cl *client.Client, ref string) (*protocol.NoteFull, markdown.Part, error) {
	if l, ok := markdown.ParseLink(ref); ok {
		n, err := connect.FindNote(a.Ctx, cl, a.Err, "[["+l.Target+"]]")
		part, _ := markdown.PartOfLink(l)
		return n, part, err
	}
	address, ok := record.ParseAddress(ref)
	switch {
	case ok && address.Kind == record.EntityAddress:
		n, err := noteOfEntity(a, cl, address.ID)
		return n, markdown.Part{}, err
	case ok:
		n, err := connect.FindNote(a.Ctx, cl, a.Err, address.ID)
		return n, partOf(address.Part), err
	case strings.Contains(ref, "://"):
		return nil, markdown.Part{}, fault.Field("ref", "it is no address of ctxd").
			WithHint("an address begins with %s or %s", record.NoteAddress, record.EntityAddress)
	}
	n, err := connect.FindNote(a.Ctx, cl, a.Err, ref)
	return n, markdown.Part{}, err
}

// partOf reads the part of an address.
func partOf(text string) markdown.Part {
	if block, ok := strings.CutPrefix(text, "^"); ok {
		return markdown.Part{Block: block}
	}
	return markdown.Part{Heading: text}
}

// noteOfEntity returns the note that describes an entity.
func noteOfEntity(a *openOptions, cl *client.Client, name string) (*protocol.NoteFull, error) {
	id, err := connect.FindEntity(a.Ctx, cl, name)
	if err != nil {
		return nil, err
	}
	var e protocol.EntityFull
	if err := cl.Call(a.Ctx, "entities.get", protocol.EntityGet{Ref: id}, &e); err != nil {
		return nil, err
	}
	if e.NoteID == "" {
		return nil, fault.New(fault.NotFound, "no note describes the entity %q", e.Name).WithHint("ctxd entities show %s", e.ID)
	}
	return connect.FindNote(a.Ctx, cl, a.Err, e.NoteID)
}

// fileOf returns the path of the file of a note.
func fileOf(a *openOptions, cl *client.Client, n *protocol.NoteFull) (string, error) {
	if !n.VaultBacked || n.Path == "" {
		return "", fault.New(fault.NotFound, "the note %q has no file: it is in the store alone", n.Title).WithHint("ctxd notes show %s", n.ID)
	}
	var list protocol.VaultList
	if err := cl.Call(a.Ctx, "vault.list", protocol.Empty{}, &list); err != nil {
		return "", err
	}
	for _, v := range list.Vaults {
		if v.Vault != n.Vault && (n.Vault != "" || len(list.Vaults) > 1) {
			continue
		}
		if !filepath.IsLocal(filepath.FromSlash(n.Path)) {
			return "", fault.New(fault.Invalid, "the path of the note %q leads out of its folder: %s", n.Title, n.Path)
		}
		return filepath.Join(v.Path, filepath.FromSlash(n.Path)), nil
	}
	return "", fault.New(fault.Unavailable, "the folder of the note %q is not on this machine", n.Title).
		WithHint("ctxd notes show %s shows its text; ctxd import DIR takes in a copy of the folder", n.ID)
}

// lineOf returns the line at which a part of a note begins, from 1.
func lineOf(text string, part markdown.Part) (line int, ok bool) {
	_, body := markdown.SplitFrontmatter(text)
	spans, _ := markdown.FindParts(text[body:], []markdown.Part{part})
	if len(spans) == 0 {
		return 1, false
	}
	return 1 + strings.Count(text[:body+spans[0].Start], "\n"), true
}

// runOpener runs the program that is configured, with the terminal of this one.
func runOpener(a *openOptions, args []string) error {
	if err := a.Out.Flush(); err != nil {
		return err
	}
	cmd := exec.CommandContext(a.Ctx, args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if a.JSON {
		cmd.Stdout = os.Stderr // standard output has one document
	}
	err := cmd.Run()
	if err == nil || a.Ctx.Err() != nil {
		return a.Ctx.Err()
	}
	e := fault.Wrap(fault.Unavailable, err, "%s failed: %v", args[0], err).WithHint("ctxd config open.command shows what is run; --print prints the path")
	e.Field = "open.command"
	return e
}

package main

// This file and manual_troff.go make the manual pages of ctxd out of the help of its commands, which is the only place
// where they are described: a page ctxd(1) for the program, and one ctxd-COMMAND(1) for each command, with the
// commands below it as sections.
//
// [ManPages] is pure: the model of a parser in, texts in the man(7) language out, in the order of their names. The
// same model and the same [ManInfo] give the same bytes. No text of the help becomes a request of troff; what is not
// ASCII is written as an escape. Hidden commands and flags have no place in a page. The size of the pages and the time
// to make them are linear in the help.

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
)

// ManInfo is what the pages say beside the help of commands.
type ManInfo struct {
	Version  string
	Date     time.Time // of the pages; only the day counts
	Examples []term.Example
	Statuses []ExitStatus
	Note     string // under the exit statuses
}

// ExitStatus is an exit status and what it means.
type ExitStatus struct {
	Code int
	Text string
}

// ManPage is one manual page.
type ManPage struct {
	Name string // of its file, such as ctxd-search.1
	Text string
}

// ManPages returns the pages of a program.
func ManPages(program *kong.Node, about ManInfo) []ManPage {
	w := &manWriter{program: program, about: about}
	for _, n := range visibleCommands(program) {
		w.related = append(w.related, manPageName(n))
	}
	list := []ManPage{w.overview()}
	for _, n := range visibleCommands(program) {
		list = append(list, w.command(n))
	}
	slices.SortFunc(list, func(a, b ManPage) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// visibleCommands returns the commands below a node that help shows.
func visibleCommands(n *kong.Node) []*kong.Node {
	return slices.DeleteFunc(slices.Clone(n.Children), func(c *kong.Node) bool { return c.Hidden })
}

// manPageName returns what the page of a command is called: ctxd-search.
func manPageName(n *kong.Node) string { return strings.ReplaceAll(n.FullPath(), " ", "-") }

// manWriter writes one page after the other.
type manWriter struct {
	strings.Builder
	program *kong.Node
	about   ManInfo
	related []string // pages of all commands
	headed  bool     // the line before is a heading
}

// page returns what was written and begins anew.
func (w *manWriter) page(name string) ManPage {
	p := ManPage{Name: name + ".1", Text: w.String()}
	w.Reset()
	return p
}

// overview writes the page of the program.
func (w *manWriter) overview() ManPage {
	name := w.program.Name
	w.head(name, "local context engine for note apps")
	w.synopsis(w.program)
	w.section("Description")
	w.prose(w.program.Help)
	w.prose("Each command has a page of its own, and --help says the same.")
	group := ""
	for _, n := range w.grouped() {
		if n.Group != nil && n.Group.Title != group {
			group = n.Group.Title
			w.section(strings.TrimSuffix(group, ":"))
		}
		w.line(".TP")
		w.line(".BR %s (1)", troffCode(manPageName(n)))
		w.paragraph(n.Help)
	}
	w.options("Options of every command", w.program.Flags)
	w.section("Exit status")
	for _, s := range w.about.Statuses {
		w.line(".TP\n.B %d", s.Code)
		w.paragraph(s.Text)
	}
	w.prose(w.about.Note)
	w.section("Environment")
	for _, e := range manEnvironment {
		w.line(".TP\n.B %s", troffCode(e[0]))
		w.paragraph(e[1])
	}
	w.prose("Every setting has a variable too; they are listed by ctxd config and in ctxd-config(1).")
	w.section("Files")
	for _, f := range manFiles {
		w.line(".TP\n.I %s", troffCode(f[0]))
		w.paragraph(f[1])
	}
	w.examples(w.about.Examples)
	w.section("See also")
	w.references(w.related)
	return w.page(name)
}

var manEnvironment = [][2]string{
	{"CTXD_SOCKET", "the socket of the daemon."},
	{"CTXD_DATA", "the folder of the store."},
	{"CTXD_CONFIG", "the configuration file."},
	{"NO_COLOR", "no colours, unless --color asks for them."},
}

var manFiles = [][2]string{
	{"$XDG_RUNTIME_DIR/ctxd/ctxd.sock", "the socket of the daemon."},
	{"$XDG_DATA_HOME/ctxd", "the store, its indexes and the log; ~/.local/share/ctxd without the variable. On macOS and Windows, ctxd config data prints the place."},
	{"$XDG_CONFIG_HOME/ctxd/config.yaml", "the configuration; ~/.config/ctxd/config.yaml without the variable."},
}

// grouped returns the commands, those of one group together, in the order in which help
// shows them.
func (w *manWriter) grouped() []*kong.Node {
	list := visibleCommands(w.program)
	var order []string
	for _, n := range list {
		if n.Group != nil && !slices.Contains(order, n.Group.Key) {
			order = append(order, n.Group.Key)
		}
	}
	place := func(n *kong.Node) int {
		if n.Group == nil {
			return -1
		}
		return slices.Index(order, n.Group.Key)
	}
	slices.SortStableFunc(list, func(a, b *kong.Node) int { return place(a) - place(b) })
	return list
}

// command writes the page of a command.
func (w *manWriter) command(n *kong.Node) ManPage {
	w.head(manPageName(n), n.Help)
	leaves := commandsBelow(n)
	w.synopsis(append([]*kong.Node{n}, leaves...)...)
	w.section("Description")
	w.prose(n.Help)
	w.prose(n.Detail)
	w.arguments(n)
	w.options("Options", n.Flags)
	if len(leaves) > 0 {
		w.section("Commands")
		for _, l := range leaves {
			w.line(".SS %s", quoteTroff(l.FullPath()))
			w.prose(l.Help)
			w.prose(l.Detail)
			w.arguments(l)
			w.options("", l.Flags)
			w.examplesOf(l, "")
		}
	}
	if more, ok := n.Target.Addr().Interface().(interface{ More() string }); ok {
		w.more(more.More())
	}
	w.examplesOf(n, "Examples")
	w.section("See also")
	related := []string{w.program.Name}
	if n.Group != nil {
		for _, o := range visibleCommands(w.program) {
			if o != n && o.Group != nil && o.Group.Key == n.Group.Key {
				related = append(related, manPageName(o))
			}
		}
	}
	w.references(related)
	return w.page(manPageName(n))
}

// commandsBelow returns the commands below one that can be run, at any depth.
func commandsBelow(n *kong.Node) (list []*kong.Node) {
	for _, c := range visibleCommands(n) {
		if c.Leaf() || c.DefaultCmd != nil {
			list = append(list, c)
		}
		list = append(list, commandsBelow(c)...)
	}
	return list
}

// head writes what a page begins with.
func (w *manWriter) head(name, summary string) {
	w.line(".\\\" Made from the help of the commands.")
	w.line(".TH %s 1 %s %s %s", quoteTroff(strings.ToUpper(name)), `"`+w.about.Date.UTC().Format(time.DateOnly)+`"`,
		quoteTroff("ctxd "+w.about.Version), quoteTroff("User Commands"))
	w.line(".nh\n.ad l") // what one copies is not to be hyphenated
	w.section("Name")
	first, _, _ := strings.Cut(summary, ". ")
	w.line("%s \\- %s", troffCode(name), troffText(strings.TrimSuffix(first, ".")))
}

// synopsis writes how commands are called.
func (w *manWriter) synopsis(nodes ...*kong.Node) {
	w.section("Synopsis")
	for i, n := range nodes {
		if i > 0 {
			w.line(".br")
		}
		words := []string{"\\fB" + troffCode(n.FullPath()) + "\\fR"}
		if len(n.Flags) > 0 {
			words = append(words, "[\\fIflags\\fR]")
		}
		for _, p := range n.Positional {
			words = append(words, manArgument(p))
		}
		if len(visibleCommands(n)) > 0 {
			words = append(words, "\\fIcommand\\fR")
		}
		w.line("%s", strings.Join(words, " "))
	}
}

// manArgument returns an argument in a synopsis.
func manArgument(p *kong.Positional) string {
	s := "\\fI" + troffCode(p.Name) + "\\fR"
	if p.IsCumulative() {
		s += " ..."
	}
	if !p.Required {
		s = "[" + s + "]"
	}
	return s
}

func (w *manWriter) arguments(n *kong.Node) {
	for _, p := range n.Positional {
		w.line(".TP\n.I %s", troffCode(p.Name))
		w.paragraph(p.Help)
	}
}

// options writes flags under a heading, or without one.
func (w *manWriter) options(heading string, flags []*kong.Flag) {
	for _, f := range flags {
		if f.Hidden {
			continue
		}
		if heading != "" {
			w.section(heading)
			heading = ""
		}
		name := "--" + f.Name
		if f.Tag.Negatable != "" {
			name = "--[no-]" + f.Name
		}
		name = "\\fB" + troffCode(name) + "\\fR"
		if f.Short != 0 {
			name = "\\fB" + troffCode("-"+string(f.Short)) + "\\fR, " + name
		}
		if !f.IsBool() && !f.IsCounter() {
			name += "=\\fI" + troffCode(f.FormatPlaceHolder()) + "\\fR"
		}
		w.line(".TP\n%s", name)
		w.paragraph(f.Help)
	}
}

// more writes what a command tells beside its flags: under headings that end in a colon,
// lines of a name and what it is, each with examples further in.
func (w *manWriter) more(said string) {
	for l := range strings.Lines(said) {
		l = strings.TrimRight(l, "\n ")
		words := strings.TrimLeft(l, " ")
		name, meaning, found := strings.Cut(words, "  ")
		switch {
		case l == "":
		case len(words) == len(l) && strings.HasSuffix(l, ":"):
			w.section(strings.TrimSuffix(l, ":"))
		case len(words) == len(l):
			w.prose(l)
		case len(l)-len(words) > 2:
			w.line(".EX\n%s\n.EE", safeTroffLine(troffCode(words)))
		case found:
			w.line(".TP\n.B %s", troffCode(name))
			w.paragraph(meaning)
		default:
			w.line(".TP\n.B %s", troffCode(name))
		}
	}
}

func (w *manWriter) examplesOf(n *kong.Node, heading string) {
	e, ok := n.Target.Addr().Interface().(term.Exampler)
	if !ok {
		return
	}
	if heading != "" {
		w.examples(e.Examples())
		return
	}
	for _, x := range e.Examples() {
		w.example(x)
	}
}

func (w *manWriter) examples(list []term.Example) {
	w.section("Examples")
	for _, x := range list {
		w.example(x)
	}
}

// example writes what a command line does, and the line.
func (w *manWriter) example(x term.Example) {
	w.line(".PP")
	w.paragraph(upperFirst(x[1]) + ":")
	w.line(".RS 4\n.EX\n%s\n.EE\n.RE", safeTroffLine(troffCode(x[0])))
}

// references writes the names of other pages.
func (w *manWriter) references(names []string) {
	for i, name := range names {
		after := ","
		if i == len(names)-1 {
			after = ""
		}
		w.line(".BR %s (1)%s", troffCode(name), after)
	}
}

// line writes a line. A paragraph that follows a heading begins by itself.
func (w *manWriter) line(form string, args ...any) {
	if form == ".PP" && w.headed {
		return
	}
	w.headed = strings.HasPrefix(form, ".S")
	fmt.Fprintf(&w.Builder, form+"\n", args...)
}

func (w *manWriter) section(name string) { w.line(".SH %s", quoteTroff(strings.ToUpper(name))) }

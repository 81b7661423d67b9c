package main_test

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"github.com/ctxd/ctxd/cmd/ctxd"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
)

// grammar has texts that mean something to troff.
type grammar struct {
	Verbose bool `short:"v" help:"Say more."`

	Boil  boil     `cmd:"" group:"kitchen" help:"Boil water. It gets hot."`
	Pot   potCmd   `cmd:"" group:"kitchen" help:"Show pots, or wash them."`
	Spell struct{} `cmd:"" hidden:"" help:"Nobody reads this."`
}

type boil struct {
	Degrees int      `short:"d" default:"100" placeholder:"N" help:"How hot: 1 to 100. Not --cold."`
	Lid     bool     `negatable:"" help:"With a lid."`
	Secret  string   `hidden:"" help:"Nobody reads this."`
	Kinds   string   `help:"One of tap,spring,rain,river,lake,glacier,distilled,mineral,sparkling."`
	Pot     string   `arg:"" help:"The pot."`
	Water   []string `arg:"" optional:"" help:".de XX is a \\fBword\\fR, and 'tis ^~\x60 “water”."`
}

func (boil) Help() string {
	return ".SH EVIL\n\n'br begins a line? \\n(.l ends none.\x1b[31m\n\n" + strings.Repeat("word ", 30)
}

func (boil) Examples() []term.Example {
	return []term.Example{{`.boil --degrees 90 'C:\tea'`, "tea"}}
}

func (boil) More() string {
	return "Waters:\n  tap             from the tap\n  .spring         from a spring\n      boil .spring\n"
}

type potCmd struct {
	Wash struct {
		Pot string `arg:"" help:"Which."`
	} `cmd:"" help:"Wash a pot."`
	List struct{} `cmd:"" help:"List pots."`
}

func pages(t *testing.T) map[string]string {
	t.Helper()
	parser, err := kong.New(&grammar{}, kong.Name("cook"), kong.Description("A cook."), kong.ExplicitGroups([]kong.Group{{Key: "kitchen", Title: "In the kitchen:"}}))
	if err != nil {
		t.Fatal(err)
	}
	list := make(map[string]string)
	for _, p := range main.ManPages(parser.Model.Node, main.ManInfo{
		Version: "1.2", Date: time.Date(2026, 11, 25, 23, 0, 0, 0, time.UTC),
		Examples: []term.Example{{"cook boil water", "boil"}}, Statuses: []main.ExitStatus{{7, "too hot"}}, Note: "Beware.",
	}) {
		list[p.Name] = p.Text
	}
	return list
}

func TestCLI8_PagesSayWhatTheHelpSays(t *testing.T) {
	all := pages(t)
	if len(all) != 3 {
		t.Fatalf("%d pages", len(all))
	}
	for page, want := range map[string][]string{
		"cook.1": {
			`.TH "COOK" 1 "2026-11-25" "ctxd 1.2" "User Commands"`, `.SH "IN THE KITCHEN"`, ".BR cook\\-boil (1)\nBoil water.\nIt gets hot.\n",
			"\\fB\\-v\\fR, \\fB\\-\\-verbose\\fR\nSay more.\n", ".B 7\ntoo hot\n", "Boil:\n.RS 4\n.EX\ncook boil water\n.EE\n",
		},
		"cook-boil.1": {
			"cook\\-boil \\- Boil water\n", `\fBcook boil\fR [\fIflags\fR] \fIpot\fR [\fIwater\fR ...]`,
			"\\fB\\-d\\fR, \\fB\\-\\-degrees\\fR=\\fIN\\fR\nHow hot: 1 to 100.\nNot \\-\\-cold.\n", `\fB\-\-[no\-]lid\fR`, `tap,\:spring,\:rain`,
			`.SH "WATERS"`, ".TP\n.B tap\nfrom the tap\n", ".TP\n.B .spring\nfrom a spring\n.EX\nboil .spring\n.EE\n", ".BR cook\\-pot (1)\n",
		},
		"cook-pot.1": {".SS \"cook pot wash\"\nWash a pot.\n.TP\n.I pot\nWhich.\n", "\\fBcook pot\\fR \\fIcommand\\fR\n.br\n\\fBcook pot wash\\fR"},
	} {
		for _, text := range want {
			if !strings.Contains(all[page], text) {
				t.Errorf("%s: no %q in\n%s", page, text, all[page])
			}
		}
		if strings.Contains(all[page], "Nobody") || strings.Contains(all[page], "spell") {
			t.Errorf("%s shows what is hidden", page)
		}
	}
}

// requests are the ones that pages are made of.
const requests = " TH SH SS PP TP B I BR RS RE EX EE br nh ad \\\" "

func TestCLI8_NoTextBecomesARequest(t *testing.T) {
	for name, page := range pages(t) {
		for line := range strings.Lines(page) {
			line = strings.TrimSuffix(line, "\n")
			if strings.HasPrefix(line, ".") {
				request, _, _ := strings.Cut(line[1:], " ")
				if !strings.Contains(requests, " "+request+" ") || strings.Contains(line, "EVIL") {
					t.Errorf("%s: %s", name, line)
				}
			}
			if strings.HasPrefix(line, "'") || strings.ContainsAny(line, "\x1b\x60^~“'") || len(line) > 100 {
				t.Errorf("%s: %q", name, line)
			}
			for _, m := range strings.SplitAfter(line, `\`)[1:] {
				if !strings.ContainsAny(m[:1], `-e(&[f:"`) {
					t.Errorf("%s: an escape in %q", name, line)
				}
			}
		}
		mandoc, err := exec.LookPath("mandoc")
		if err != nil {
			continue
		}
		cmd := exec.CommandContext(t.Context(), mandoc, "-T", "lint", "-W", "warning")
		cmd.Stdin = strings.NewReader(page)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: mandoc: %v\n%s", name, err, out)
		}
	}
}

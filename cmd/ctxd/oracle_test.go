package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/fixtures/campaign"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/servertest"
)

// oracleLeftOut are commands that show records of which nothing is asked here, and why.
var oracleLeftOut = map[string]string{
	"mcp":    "it talks to a host: what it answers is compared in rpc, tool by tool",
	"events": "it prints what it is told: that is compared in rpc, topic by topic",
}

// oracleDaemon is one of two daemons, and what a command prints of it.
type oracleDaemon struct {
	home
	client *client.Client
}

func serveOracle(t *testing.T) *oracleDaemon {
	t.Helper()
	h := &oracleDaemon{home: newHome(t)} // words alone find there: what finds by meaning comes later, in the background
	h.env = append(h.env, "CTXD_EMBEDDER=http", "CTXD_EMBEDDING_URL=http://127.0.0.1:9/v1", "CTXD_EMBEDDING_MODEL=none")
	if err := h.command(t, "stdio", "--idle-exit", "never").Run(); err != nil { // starts a daemon
		t.Fatal(err)
	}
	c, err := client.Dial(t.Context(), h.socket, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	h.client = c
	return h
}

// runs runs a command in this process, and returns what it prints.
func (h *oracleDaemon) runs(t *testing.T, args []string) string {
	var out bytes.Buffer
	var cli commandLine
	screen := term.NewScreen(os.Stdin, &out)
	screen.Terminal = false
	a := &app{
		Streams: &term.Streams{In: strings.NewReader(""), Out: screen, Err: screen},
		Link:    &connect.Link{Flags: &cli.Flags, Ctx: t.Context()},
	}
	var warned sync.Once
	a.Warn = func(err error) { warned.Do(func() { a.warn(err) }) }
	parser, err := newParser(&cli, a)
	if err != nil {
		t.Fatal(err)
	}
	a.kong = parser
	parsed, err := parser.Parse(append([]string{"--socket", h.socket}, args...))
	if err == nil {
		a.JSON = cli.JSON
		err = parsed.Run(a.bindings()...)
	}
	fmt.Fprint(&out, a.fail(err))
	return strings.ReplaceAll(out.String(), h.socket, "SOCKET")
}

// oracleVaries is what two daemons may differ in: times, durations, and what is made at random.
var oracleVaries = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?|\b\d+(\.\d+)? ?(ns|µs|us|ms|s)\b|#\d+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|(_[0-9a-z]{4,8})+\b|\bb=\\?"[\w-]+\\?"` +
	`|"(number|seq|ms|us|micros|at|hash|nextCursor)": ?("[^"]*"|[\d.]+)|--cursor \S+|\bclaim_\d+|sha256 [0-9a-f]{64}|\bStages mentions .*|"stages": ?\[[^\]]*\]|embedding endpoint 127\.0\.0\.1:9 [^.!]*`)

// oracleText is what a command prints without what may vary, nor the blanks that stand where that did.
func oracleText(printed string) string {
	return strings.Join(strings.Fields(oracleVaries.ReplaceAllString(strings.Join(strings.Fields(printed), " "), "")), " ")
}

// What the help of a flag says of its values: a list of words, or the least and the most.
var (
	oracleWords  = regexp.MustCompile(`[:(] ?((?:[a-z]+, )*[a-z]+ or [a-z]+)[.;:)]`)
	oracleBounds = regexp.MustCompile(`\b(\d+) to (\d+)`)
)

// oracleCalls are, by the first argument of ctxd call and ctxd tools call, how a reference is given.
var oracleCalls = map[string]string{
	"graph.neighbors": "ref=%s", "refs.resolve": "ref=%s", "notes.search": "query=%s", "explore_graph": `{"record":%q}`, "search_notes": `{"query":%q}`, "search_memory": `{"query":%q}`,
}

// oracleArguments are the arguments of a command by its flags, and what their help says.
func oracleArguments(name string, node *kong.Node) servertest.Arguments {
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	add := func(v *kong.Value, name string, required bool) {
		of := &jsonschema.Schema{Type: "string"}
		switch {
		case v.IsBool():
			of.Type = "boolean"
		case v.Enum != "":
			for _, word := range v.EnumSlice() {
				if word != "" {
					of.Enum = append(of.Enum, word)
				}
			}
		case slices.Contains([]string{"int", "float64", "uint"}, v.Target.Kind().String()):
			of.Type = "integer"
		}
		if m := oracleWords.FindStringSubmatch(v.Help); m != nil && of.Type == "string" {
			for _, word := range strings.FieldsFunc(strings.ReplaceAll(m[1], " or ", ","), func(r rune) bool { return r == ',' || r == ' ' }) {
				of.Enum = append(of.Enum, word)
			}
		}
		if m := oracleBounds.FindStringSubmatch(v.Help); m != nil {
			least, _ := strconv.ParseFloat(m[1], 64)
			most, _ := strconv.ParseFloat(m[2], 64)
			of.Minimum, of.Maximum = &least, &most
		}
		for first := range oracleCalls {
			if name == "method" && strings.Contains(first, ".") || name == "tool" && !strings.Contains(first, ".") {
				of.Enum = append(of.Enum, first)
			}
		}
		slices.SortFunc(of.Enum, func(a, b any) int { return strings.Compare(a.(string), b.(string)) }) // the same each time
		s.Properties[name] = of
		if required {
			s.Required = append(s.Required, name)
		}
	}
	for _, p := range node.Positional {
		add(p, p.Name, true)
	}
	for _, f := range node.Flags {
		if !slices.Contains([]string{"help", "audience", "socket", "config", "color", "html", "output", "watch", "force", "data", "open", "follow"}, f.Name) {
			add(f.Value, f.Name, false)
		}
	}
	a := servertest.Arguments{Schema: s, Seen: true}
	if strings.Contains(name, "wql") {
		a.Asks = "wql"
	}
	groups := map[string]string{"notes": "note", "entities": "entity", "memory": "memory", "contexts": "context", "chat": "conversation", "books": "book", "types": "type"}
	words := strings.Fields(name)
	if a.Group = groups[words[0]]; words[0] == "inspect" {
		a.Group = words[1]
	}
	return a
}

// oracleLine is a command line with drawn arguments.
func oracleLine(p *servertest.Pair, name string, node *kong.Node, a servertest.Arguments) (args []string) {
	var drawn map[string]any
	if len(a.Schema.Properties) > 0 {
		_ = json.Unmarshal([]byte(p.Arguments(a)), &drawn) // it was made of this
	}
	args = append(strings.Fields(name), "--audience", "remote")
	text := func(name string) string {
		return strings.ReplaceAll(fmt.Sprint(drawn[name]), servertest.PairCursor, "AA")
	}
	var last []string
	for of, what := range map[string]string{"method": "params", "tool": "arguments"} {
		if form := oracleCalls[fmt.Sprint(drawn[of])]; form != "" {
			drawn[what] = fmt.Sprintf(form, p.Reference())
		}
	}
	for _, v := range node.Positional { // in their order
		if _, ok := drawn[v.Name]; ok {
			last = append(last, text(v.Name))
			delete(drawn, v.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(drawn)) {
		switch drawn[name] {
		case true:
			args = append(args, "--"+name)
		case false:
		default:
			args = append(args, "--"+name+"="+text(name))
		}
	}
	return slices.Concat(args, []string{"--"}, last)
}

// TestPRIV17_TwoStoresPrintAlike runs each command that shows records for a remote reader against two daemons whose stores
// differ in private records, which change in between.
func TestPRIV17_TwoStoresPrintAlike(t *testing.T) {
	campaign.Only(t)
	var cli commandLine
	parser, err := newParser(&cli, &app{
		Streams: &term.Streams{Out: new(term.Screen), Err: new(term.Screen)}, Link: &connect.Link{Flags: &cli.Flags, Ctx: t.Context()},
	})
	if err != nil {
		t.Fatal(err)
	}
	all := commandsOf(parser.Model.Node, "", make(map[string]*kong.Node))
	each, calls := campaign.Figure(24, 4000), 0 // of the commands of a group; the daemons write to a disk
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(commandsOfReaders)), func(name string) bool { return oracleLeftOut[name] != "" })
	family := make(map[string]int)
	for _, name := range names {
		family[strings.Fields(name)[0]]++
	}
	refused := make(map[string]int)
	const chapters = 2
	for seed := range uint64(chapters) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			both := [2]*oracleDaemon{serveOracle(t), serveOracle(t)}
			p := servertest.NewPair(seed, seed%2 == 0)
			var happened []string
			apply := func(step servertest.PairStep) {
				var wg sync.WaitGroup // most of the time is the disk's
				for store, calls := range step {
					wg.Go(func() {
						for _, c := range calls {
							_ = both[store].client.Call(context.Background(), c.Method, json.RawMessage(c.Params), nil) // what is refused is refused in both
						}
					})
				}
				for _, c := range step[0] {
					happened = append(happened, c.Method+" "+c.Params)
				}
				wg.Wait()
			}
			for _, step := range p.Begin() {
				apply(step)
			}
			for _, name := range names {
				a := oracleArguments(name, all[name])
				of := family[strings.Fields(name)[0]]
				for range (each + of*chapters - 1) / (of * chapters) {
					if p.Chance(2) {
						apply(p.Change())
					}
					line := oracleLine(p, name, all[name], a)
					var printed [2]string
					for store, h := range both {
						out := h.runs(t, line)
						if store == 0 && !strings.HasSuffix(out, "0") {
							refused[name]++
						}
						printed[store] = oracleText(out)
					}
					calls++
					if printed[0] != printed[1] {
						t.Errorf("seed %d: ctxd %q prints\n%.1500s\nand\n%.1500s\nafter\n%s", seed, line, printed[0], printed[1], strings.Join(happened[max(0, len(happened)-5):], "\n"))
						break
					}
				}
			}
			for _, line := range [][]string{{"notes", "list"}, {"memory", "list"}, {"chat", "list"}} { // the oracle sees a leak
				line = append(line, "--audience", "local")
				if oracleText(both[0].runs(t, line)) == oracleText(both[1].runs(t, line)) {
					t.Errorf("seed %d: ctxd %q prints the same of both stores to who may see all", seed, line)
				}
			}
		})
	}
	told := 0
	for _, n := range refused {
		told += n
	}
	if told*3 > calls { // six commands ask for vaults, which neither store has
		t.Errorf("%d of %d command lines are refused", told, calls)
	}
	t.Logf("%d command lines of %d commands; refused: %v", calls, len(names), refused)
}

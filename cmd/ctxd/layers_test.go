package main_test

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/ctxd/ctxd"

// rooms are all packages of the module from left to right: a room may import
// those before it. Some are not built yet.
var rooms = []string{
	"entities/kv/ahead",
	"entities/kv/stream/streamtest",
	"rpc/lsp/wire",
	"context/memory/clock",
	"context/memory/first",
	"entities/fault",
	"entities/kv/commitlog",
	"entities/kv/seal",
	"entities/kv/logtest",
	"entities/kv/replicate",
	"entities/kv/stream",
	"context/books/block",
	"context/books/convert/parts",
	"context/books/convert/office",
	"context/books/convert/pdf",
	"entities/yield",
	"entities/leftover",
	"entities/names/fold",
	"entities/record",
	"context/memory/fade",
	"context/memory/origin",
	"context/memory/score",
	"entities/kv/disk",
	"entities/kv/backup",
	"entities/kv/pairs",
	"entities/kv/codec",
	"entities/kv/outbox",
	"entities/kv",
	"entities/kv/shared",
	"entities/kv/shared/campaign",
	"entities/kv/loading",
	"entities/names",
	"entities/past",
	"entities",
	"entities/wql/syntax",
	"entities/wql/datum",
	"entities/wql/index",
	"entities/wql/schema",
	"entities/wql/columns",
	"entities/wql",
	"notes/frontmatter",
	"notes/markdown/destinations",
	"notes/markdown",
	"notes/places",
	"rpc/lsp/text",
	"context/books/convert/markup",
	"context/books/convert",
	"notes/parts",
	"notes/attachments",
	"notes/former",
	"notes/digest",
	"notes/tags",
	"notes/canvas",
	"notes/infer",
	"notes/typesource",
	"notes",
	"notes/rename",
	"notes/diagnose",
	"notes/watch",
	"graph",
	"graph/draw",
	"context/prompt/chars",
	"context/prompt/body",
	"context/prompt/properties",
	"context/embed/dial",
	"context/embed",
	"context/embed/rerank",
	"context/embed/table",
	"context/embed/runner",
	"context/embed/endpoint",
	"context/embed/embedtest",
	"context/search/text",
	"context/books/passages",
	"context/learn/phrases",
	"context/search/passages",
	"context/search/shortwords",
	"context/search/postings",
	"context/search/backlog",
	"context/search/wordfile",
	"context/search/source",
	"context/search/notedoc",
	"context/search/searchtest",
	"context/search/lexical",
	"context/search/vector",
	"context/search/semantic",
	"context/search",
	"context/refs/handle",
	"context/refs/index",
	"context/refs",
	"context/memory/when",
	"context/memory/differ",
	"context/learn/pairs",
	"context/memory/synonyms",
	"context/memory/groups",
	"context/memory/taken",
	"context/memory/texts",
	"context/memory/stored",
	"context/memory/draft",
	"context/audience",
	"context/books",
	"context/books/document",
	"context/memory/owner",
	"context/memory/contexts",
	"context/memory/naming",
	"context/memory",
	"context/learn/events",
	"context/learn/outcomes",
	"context/learn/promote",
	"context/learn/upkeep",
	"context/learn",
	"context/memory/exchange",
	"context/memory/document",
	"context/learn/concepts",
	"context/memory/similar",
	"context/recall",
	"context/recall/passive",
	"context/prompt",
	"context/personality/template",
	"context/personality",
	"context/gather/complete",
	"context/gather/resolve",
	"context/gather",
	"chat/foreign",
	"chat/prompts",
	"chat/llm",
	"chat/spending",
	"chat/oneline",
	"chat/background",
	"chat/summary",
	"chat/action",
	"chat/tool/show",
	"chat/tool",
	"chat/members",
	"chat/freename",
	"chat/bounds",
	"chat/branch",
	"chat/turn",
	"chat/intent",
	"chat/trace",
	"chat/refer",
	"chat",
	"chat/facts",
	"chat/feedback",
	"chat/called",
	"chat/handles",
	"chat/document",
	"chat/find",
	"chat/cited",
	"chat/highlight",
	"chat/suggest",
	"chat/hiding",
	"chat/shown",
	"chat/exchange",
	"chat/importing",
	"chat/inspect",
	"chat/decide",
	"chat/distill",
	"chat/send",
	"chat/titles",
	"rpc/protocol",
	"rpc/editing",
	"rpc/protocol/document",
	"rpc/socket",
	"rpc/client",
	"rpc/client/lasting",
	"rpc/client/rows",
	"rpc/wirejson",
	"rpc/jsonrpc/message",
	"rpc/lsp/server",
	"rpc/lsp/edits",
	"rpc/lsp/outline",
	"rpc/lsp/preview",
	"rpc/lsp/commands",
	"rpc/lsp/complete",
	"rpc/lsp/diagnose",
	"rpc/lsp/hints",
	"rpc/lsp/rename",
	"rpc/lsp/target",
	"rpc/lsp/navigate",
	"rpc/lsp",
	"rpc/jsonrpc/places",
	"rpc/jsonrpc",
	"rpc/found",
	"rpc/resolved",
	"rpc/host",
	"rpc/views",
	"rpc/events",
	"rpc/waiting",
	"rpc/calls",
	"rpc/syncing",
	"rpc/books",
	"rpc/learning",
	"rpc/memories",
	"rpc/personalities",
	"rpc",
	"rpc/rpctest",
	"rpc/lsp/lsptest",
	"rpc/mcp/stdio",
	"rpc/mcp/unified",
	"rpc/mcp",
	"cmd/ctxd/command",
	"cmd/ctxd/manual",
	"cmd/ctxd/term",
	"cmd/ctxd/config",
	"cmd/ctxd/logfile",
	"cmd/ctxd/daemon",
	"cmd/ctxd/connect",
	"cmd/ctxd/syncs",
	"cmd/ctxd/books",
	"cmd/ctxd/report",
	"cmd/ctxd/page",
	"cmd/ctxd/page/pagetest",
	"cmd/ctxd/page/drawing",
	"cmd/ctxd/life",
	"cmd/ctxd/traces",
	"cmd/ctxd/cited",
	"cmd/ctxd/search",
	"cmd/ctxd/call",
	"cmd/ctxd/service",
	"cmd/ctxd/store",
	"cmd/ctxd/uninstall",
	"cmd/ctxd/shell/edit",
	"cmd/ctxd/shell",
	"cmd/ctxd/inspect",
	"cmd/ctxd/records",
	"cmd/ctxd/memories",
	"cmd/ctxd/references",
	"cmd/ctxd/markdown",
	"cmd/ctxd/tools",
	"cmd/ctxd/templates",
	"cmd/ctxd/open",
	"cmd/ctxd/personalities",
	"cmd/ctxd/chats",
	"cmd/ctxd/doctor",
	"cmd/ctxd/demo",
	"cmd/ctxd",
	"cmd/ctxd-runner/library",
	"cmd/ctxd-runner",
}

// fixturesRoom stands apart, with its folders: it imports nothing else of ours, and
// tests and the demo import it.
const fixturesRoom = "fixtures"

func inFixtures(room string) bool {
	return room == fixturesRoom || strings.HasPrefix(room, fixturesRoom+"/")
}

// topLevel is what may lie in the root of the repository beside dot-files.
var topLevel = []string{
	"cmd", "rpc", "entities", "notes", "context", "graph", "chat", "fixtures",
	"go.mod", "go.sum", "Taskfile.yml", "README.md", "LICENSE",
}

// soleImporters are the rooms that alone may import a module, for what they
// keep from the others.
var soleImporters = map[string]string{
	"github.com/tidwall/buntdb":         "entities/kv",
	"github.com/expr-lang/expr":         "entities/wql",
	"github.com/kelindar/search":        "cmd/ctxd-runner",
	"github.com/nats-io/nats.go":        "entities/kv/stream",
	"github.com/nats-io/nats-server/v2": "entities/kv/stream/streamtest",
	// Keys are read in one place, which lets none of them out.
	"github.com/zalando/go-keyring": "context/embed/dial",
}

// sourceFile is one Go file of the module, for any operating system.
type sourceFile struct {
	room    string // its folder
	name    string // within the repository
	test    bool
	outside bool // a test in a package of its own
	imports []string
	doc     *ast.CommentGroup // of the package
	lines   int
}

var root = filepath.Join("..", "..")

// sources parses all Go files of the module. Build tags are not looked at, so
// no operating system gets away with another house.
func sources(t *testing.T) []sourceFile {
	t.Helper()
	var files []sourceFile
	set := token.NewFileSet()
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return skipFolder(p, d)
		}
		if filepath.Ext(p) != ".go" {
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(set, p, text, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		f := sourceFile{name: filepath.ToSlash(rel), test: strings.HasSuffix(p, "_test.go"), doc: parsed.Doc}
		f.lines = bytes.Count(text, []byte{'\n'})
		f.room, f.outside = path.Dir(f.name), strings.HasSuffix(parsed.Name.Name, "_test")
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			f.imports = append(f.imports, imported)
		}
		files = append(files, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 50 {
		t.Fatalf("only %d files: this is not the repository", len(files))
	}
	return files
}

// skipFolder leaves out what the go command leaves out, and nested modules.
func skipFolder(p string, d fs.DirEntry) error {
	name := d.Name()
	if p == root {
		return nil
	}
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "vendor" {
		return filepath.SkipDir
	}
	if _, err := os.Stat(filepath.Join(p, "go.mod")); err == nil {
		return filepath.SkipDir
	}
	return nil
}

func TestLayers_RoomsImportRoomsToTheirLeft(t *testing.T) {
	for _, f := range sources(t) {
		rank := slices.Index(rooms, f.room)
		if rank < 0 && !inFixtures(f.room) {
			t.Errorf("%s: there is no room %s in the house", f.name, f.room)
			continue
		}
		for _, imported := range f.imports {
			ours, ok := strings.CutPrefix(imported, module+"/")
			if !ok {
				continue
			}
			to := slices.Index(rooms, ours)
			switch {
			case inFixtures(ours):
				if !f.test && !inFixtures(f.room) && f.room != "cmd/ctxd/demo" {
					t.Errorf("%s: only tests and the demo import %s", f.name, ours)
				}
			case to < 0:
				t.Errorf("%s: %s is no room", f.name, ours)
			case f.outside: // the client is tested against a server
			case to >= rank:
				t.Errorf("%s: %s may not import %s, which stands to its right", f.name, f.room, ours)
			}
		}
	}
}

func TestLayers_SoleImporters(t *testing.T) {
	for _, f := range sources(t) {
		for _, imported := range f.imports {
			for library, sole := range soleImporters {
				if (imported == library || strings.HasPrefix(imported, library+"/")) && f.room != sole {
					t.Errorf("%s: only %s imports %s", f.name, sole, library)
				}
			}
		}
	}
}

// clientRooms are all rooms that a program brings in with rpc/client: declarations, the
// socket and functions of a text, and no store, index, watcher or engine. rpc/mcp and rpc/lsp are
// such programs.
var clientRooms = []string{
	"chat/turn", "context/prompt", "context/prompt/body", "context/prompt/chars", "entities/fault", "entities/names/fold", "entities/record",
	"notes/frontmatter", "notes/markdown", "notes/markdown/destinations", "rpc/client", "rpc/protocol", "rpc/socket",
}

func TestLayers_ClientsBringInNoStore(t *testing.T) {
	imports := make(map[string][]string) // of rooms, those of tests left out
	for _, f := range sources(t) {
		if !f.test {
			imports[f.room] = append(imports[f.room], f.imports...)
		}
	}
	for program, want := range map[string][]string{
		"rpc/client": clientRooms,
		"rpc/mcp": slices.Sorted(slices.Values(append([]string{
			"chat/tool/show", "context/prompt/properties", "entities/names", "entities/wql/columns", "entities/wql/syntax", "rpc/client/lasting", "rpc/client/rows",
			"rpc/mcp", "rpc/mcp/stdio", "rpc/mcp/unified",
		}, clientRooms...))),
		"rpc/lsp": slices.Sorted(slices.Values(append([]string{
			"entities/names", "entities/wql/columns", "entities/wql/syntax", "notes/parts", "rpc/client/lasting", "rpc/jsonrpc/message", "rpc/lsp", "rpc/lsp/commands", "rpc/lsp/complete", "rpc/lsp/diagnose", "rpc/lsp/edits", "rpc/lsp/hints", "rpc/lsp/navigate", "rpc/lsp/outline", "rpc/lsp/preview", "rpc/lsp/rename", "rpc/lsp/server", "rpc/lsp/target", "rpc/lsp/text", "rpc/lsp/wire", "rpc/wirejson",
		}, clientRooms...))),
	} {
		reached := []string{program}
		for i := 0; i < len(reached); i++ {
			for _, imported := range imports[reached[i]] {
				ours, ok := strings.CutPrefix(imported, module+"/")
				if ok && !slices.Contains(reached, ours) {
					reached = append(reached, ours)
				}
			}
		}
		slices.Sort(reached)
		if !slices.Equal(reached, want) {
			t.Errorf("%s brings in %q, want %q", program, reached, want)
		}
	}
}

func TestLayers_EachPackageHasOneDocInDocGo(t *testing.T) {
	docs := make(map[string]int)
	for _, f := range sources(t) {
		docs[f.room] += 0
		if f.doc == nil {
			continue
		}
		if path.Base(f.name) != "doc.go" {
			t.Errorf("%s: the package doc belongs in doc.go", f.name)
			continue
		}
		docs[f.room]++
		words := strings.Fields(f.doc.Text())
		if len(words) < 30 {
			t.Errorf("%s says too little: what lives here, who may call it, what to beware of", f.name)
		}
	}
	for room, n := range docs {
		if n != 1 {
			t.Errorf("%s has %d package docs", room, n)
		}
	}
}

// How many lines a package may have, without those of its tests.
const (
	mostLines      = 4500
	unexcusedLines = 2500 // more need a section "Size" in doc.go, which says why
)

func TestLayers_NoPackageIsTooLarge(t *testing.T) {
	lines := make(map[string]int)
	excused := make(map[string]bool)
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		lines[f.room] += f.lines
		if f.doc != nil && strings.Contains(f.doc.Text(), "# Size\n") {
			excused[f.room] = true
		}
	}
	for room, n := range lines {
		if n > mostLines {
			t.Errorf("%s has %d lines, and no package may have more than %d", room, n, mostLines)
		}
		if n > unexcusedLines && !excused[room] {
			t.Errorf("%s has %d lines: its doc.go must say why it has more than %d, under \"# Size\"", room, n, unexcusedLines)
		}
	}
}

func TestLayers_TopLevelIsFixed(t *testing.T) {
	for _, name := range topEntries(t) {
		licence := strings.HasPrefix(name, "LICENSE") || strings.HasPrefix(name, "NOTICE")
		if !strings.HasPrefix(name, ".") && !licence && !slices.Contains(topLevel, name) {
			t.Errorf("%s does not belong in the root of the repository", name)
		}
	}
	inContext, err := filepath.Glob(filepath.Join(root, "context", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	if len(inContext) > 0 {
		t.Errorf("%v: the folder context is no package, or it would shadow the standard library's", inContext)
	}
}

// topEntries lists the root: what git knows or would take, so that a program
// built there does not count, and everything where there is no git.
func topEntries(t *testing.T) []string {
	t.Helper()
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	out, err := list.Output()
	var names []string
	if err == nil && len(out) > 0 {
		for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			top, _, _ := strings.Cut(name, "/")
			// A file that was removed is known until that is committed.
			if _, err := os.Lstat(filepath.Join(root, filepath.FromSlash(name))); !errors.Is(err, fs.ErrNotExist) {
				names = append(names, top)
			}
		}
		slices.Sort(names)
		return slices.Compact(names)
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// requirement is an id in the name of a test: TestREL3_…, TestPRIV6_….
var requirement = regexp.MustCompile(`^func (?:Test|Fuzz|Benchmark)[A-Za-z]*?(RPC|CTX|WQL|SRCH|REL|SEC|PERF|PRIV|MEM|REF|CHAT|LSP|MCP|CLI|SYNC)([0-9]+)`)

// TestLayers_IdsAreDocumented: who sees a test fail finds its promise in a README.
func TestLayers_IdsAreDocumented(t *testing.T) {
	var promises strings.Builder
	named := make(map[string]string) // by id: a file that names it
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return skipFolder(p, d)
		}
		page := d.Name() == "README.md"
		if !page && !strings.HasSuffix(p, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		if page {
			promises.Write(text)
			return nil
		}
		for line := range strings.Lines(string(text)) {
			if m := requirement.FindStringSubmatch(line); m != nil {
				named[m[1]+"-"+m[2]] = p
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(named) < 50 {
		t.Fatalf("only %d ids are named by tests", len(named))
	}
	for id, file := range named {
		if !regexp.MustCompile(id + `\b`).MatchString(promises.String()) {
			t.Errorf("%s names %s, which no README promises: write it into that of its room", file, id)
		}
	}
}

// What another machine wrote is decoded with the collection of its name, so there must be one
// of each: another codec for the same records is made with Collection.With.
func TestLayers_EachCollectionIsDeclaredOnce(t *testing.T) {
	declared := regexp.MustCompile(`kv\.NewCollection(?:\[[^\n(]*\])?\(\s*([^\n,)]+)`)
	at := make(map[string]string)
	for _, f := range sources(t) {
		if f.test || strings.HasPrefix(f.room, "entities/kv") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(f.name)))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range declared.FindAllSubmatch(text, -1) {
			name := string(m[1])
			if _, err := strconv.Unquote(name); err != nil {
				t.Errorf("%s: a collection is named by %s, not by a text", f.name, name)
			}
			if at[name] != "" {
				t.Errorf("the collection %s is declared in %s and in %s", name, at[name], f.name)
			}
			at[name] = f.name
		}
	}
	if len(at) < 40 {
		t.Errorf("found %d collections only", len(at))
	}
}

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

// layers are the folders of the house from left to right: what lies in one may import what lies in those before it, and
// what lies in the same one, where the compiler refuses circles.
var layers = []string{"entities", "notes", "graph", "context", "chat", "rpc", "cmd"}

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

// soleImporters are the rooms that alone may import a module, and why.
var soleImporters = []struct{ module, room, why string }{
	{"github.com/tidwall/buntdb", "entities/kv", "one store, whose records nobody reaches past"},
	{"github.com/expr-lang/expr", "entities/wql", "raw expressions can kill the process"},
	{"github.com/kelindar/search", "cmd/ctxd-runner", "it panics at import without its native library"},
	{"github.com/nats-io/nats.go", "entities/kv/nats", "what leaves for other machines is sealed there"},
	{"github.com/nats-io/nats-server/v2", "entities/kv/nats/natstest", "no program of ours contains a server"},
	{"github.com/zalando/go-keyring", "context/outbound", "keys are read in one place, which lets none of them out"},
	{"github.com/klippa-app/go-pdfium", "context/books/convert", "who reads no PDF does not start it"},
	{"github.com/xuri/excelize/v2", "context/books/convert", "who reads no table does not start it"},
}

// storeless are the rooms that bring in no store, by themselves or by what they import: clients of the daemon are built
// with them, and pure functions stay so.
var storeless = []string{"rpc/client", "rpc/protocol", "rpc/mcp", "rpc/lsp", "context/prompt", "chat/llm"}

// heavy is what they do not bring in: the store, its engine, the query engine, the watcher.
var heavy = []string{"entities/kv", "github.com/tidwall/buntdb", "github.com/expr-lang/expr", "github.com/fsnotify/fsnotify"}

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

// layerOf is the place of a room in layers, -1 when it is in none.
func layerOf(room string) int {
	folder, _, _ := strings.Cut(room, "/")
	return slices.Index(layers, folder)
}

func TestLayers_RoomsImportRoomsToTheirLeft(t *testing.T) {
	for _, f := range sources(t) {
		rank := layerOf(f.room)
		if rank < 0 && !inFixtures(f.room) {
			t.Errorf("%s: %s is in no layer of the house", f.name, f.room)
			continue
		}
		for _, imported := range f.imports {
			ours, ok := strings.CutPrefix(imported, module+"/")
			switch {
			case !ok:
			case inFixtures(ours):
				if !f.test && !inFixtures(f.room) && f.room != "cmd/ctxd/demo" {
					t.Errorf("%s: only tests and the demo import %s", f.name, ours)
				}
			case f.outside: // the client is tested against a server
			case layerOf(ours) > rank:
				t.Errorf("%s: %s may not import %s, which stands to its right", f.name, f.room, ours)
			}
		}
	}
}

func TestLayers_SoleImporters(t *testing.T) {
	for _, f := range sources(t) {
		for _, imported := range f.imports {
			for _, sole := range soleImporters {
				if (imported == sole.module || strings.HasPrefix(imported, sole.module+"/")) && f.room != sole.room {
					t.Errorf("%s: only %s imports %s: %s", f.name, sole.room, sole.module, sole.why)
				}
			}
		}
	}
}

func TestLayers_ClientsBringInNoStore(t *testing.T) {
	imports := make(map[string][]string) // of rooms, those of tests left out
	for _, f := range sources(t) {
		if !f.test {
			imports[f.room] = append(imports[f.room], f.imports...)
		}
	}
	for _, room := range storeless {
		reached, by := []string{room}, map[string]string{}
		for i := 0; i < len(reached); i++ {
			for _, imported := range imports[reached[i]] {
				name := strings.TrimPrefix(imported, module+"/")
				if !slices.Contains(reached, name) {
					reached, by[name] = append(reached, name), reached[i]
				}
			}
		}
		for _, store := range heavy {
			if slices.Contains(reached, store) {
				t.Errorf("%s brings in %s, by %s", room, store, by[store])
			}
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

// wall is the line of a doc.go that says why there is a wall around the room.
var wall = regexp.MustCompile(`(?m)^Wall: (subject|promise|dependency|second user|test helper): \S`)

// mostRooms is how many packages the house may have, and smallRoom how many lines one has that is small.
const (
	mostRooms = 90
	smallRoom = 150
)

// TestLayers_EachWallHasAReason: a package is a subject that a newcomer would look for, or has one of four other reasons to
// be apart: the compiler must hold a promise, a heavy dependency, a second user, or it helps tests. A small one is no
// subject. A size is no reason.
func TestLayers_EachWallHasAReason(t *testing.T) {
	lines, reasons := make(map[string]int), make(map[string]string)
	for _, f := range sources(t) {
		if f.test || inFixtures(f.room) {
			continue
		}
		lines[f.room] += f.lines
		if f.doc != nil {
			if m := wall.FindStringSubmatch(f.doc.Text()); m != nil {
				reasons[f.room] = m[1]
			}
		}
	}
	for room, n := range lines {
		switch {
		case reasons[room] == "":
			t.Errorf(`%s/doc.go has no line "Wall: subject|promise|dependency|second user|test helper: why"`, room)
		case reasons[room] == "subject" && n < smallRoom:
			t.Errorf("%s has %d lines: too few for a subject of its own", room, n)
		}
	}
	if len(lines) > mostRooms {
		t.Errorf("the house has %d packages, more than %d: look for the one that can carry the new one", len(lines), mostRooms)
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
var requirement = regexp.MustCompile(`^func (?:Test|Fuzz|Benchmark)[A-Za-z]*?(RPC|CTX|WQL|SRCH|REL|SEC|PERF|PRIV|MEM|REF|CHAT|LSP|MCP|CLI|SYNC|HOUSE|TEST)([0-9]+)`)

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
	if found := declaredCollections(t); len(found) < 40 {
		t.Errorf("found %d collections only", len(found))
	}
}

// declaredCollections returns the names of the collections that the rooms declare, and where.
func declaredCollections(t *testing.T) map[string]string {
	t.Helper()
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
			name, err := strconv.Unquote(string(m[1]))
			if err != nil {
				t.Errorf("%s: a collection is named by %s, not by a text", f.name, m[1])
			}
			if at[name] != "" {
				t.Errorf("the collection %s is declared in %s and in %s", name, at[name], f.name)
			}
			at[name] = f.name
		}
	}
	return at
}

package client_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/rpc/protocol"
)

// TestConformance_TypeScriptClient runs the tests of the TypeScript client
// against the real daemon, then does what a user of the package does: installs
// what npm would publish, runs the example of the README and compiles the rest
// of it. The compiler comes from npm, so the test runs only when it is asked to
// (CTXD_CONFORMANCE=1).
func TestConformance_TypeScriptClient(t *testing.T) {
	if os.Getenv("CTXD_CONFORMANCE") == "" {
		t.Skip("set CTXD_CONFORMANCE=1 to install the TypeScript compiler from npm and run the tests of the client")
	}
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
	p := tsPackage{dir: filepath.Join(t.TempDir(), "ts"), ctxd: buildDaemon(t)}
	copySources(t, "ts", p.dir)
	if out, err := p.command(t, p.dir, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"); err != nil {
		t.Skipf("the compiler can't be installed: %v\n%s", err, out)
	}
	t.Run("Tests", func(t *testing.T) {
		out := p.run(t, p.dir, "npm", "test", "--silent")
		t.Logf("%s", out[max(0, bytes.LastIndex(out, []byte("tests "))):])
	})
	t.Run("Package", p.testPackage)
	t.Run("Electron", p.testElectron)
	t.Run("Obsidian", p.testObsidian)
}

// tsPackage is a copy of the package's sources, and the daemon to test it with.
type tsPackage struct{ dir, ctxd string }

// testPackage looks at what npm would publish and uses it.
func (p *tsPackage) testPackage(t *testing.T) {
	var packed []struct {
		Filename string
		Files    []struct{ Path string }
	}
	// The output of prepack comes first.
	out := p.run(t, p.dir, "npm", "pack", "--json", "--silent")
	if i := bytes.IndexByte(out, '['); i < 0 || json.Unmarshal(out[i:], &packed) != nil || len(packed) != 1 {
		t.Fatalf("npm pack answered\n%s", out)
	}
	var files []string
	for _, f := range packed[0].Files {
		files = append(files, f.Path)
	}
	want := []string{"LICENSE", "README.md", "package.json"}
	for _, name := range []string{
		"abort", "chat", "client", "connect", "connection", "errors", "index", "lines", "options", "protocol", "session", "socket", "transport",
		"version",
		"bridge/api", "bridge/channel", "bridge/index", "bridge/pages", "bridge/preload", "bridge/quit", "bridge/renderer", "bridge/state",
		"bridge/supervise",
	} {
		want = append(want, "dist/"+name+".d.ts", "dist/"+name+".js", "dist/cjs/"+name+".d.ts", "dist/cjs/"+name+".js")
	}
	want = append(want, "dist/cjs/package.json")
	slices.Sort(files)
	slices.Sort(want)
	if diff := gocmp.Diff(want, files); diff != "" {
		t.Errorf("what npm would publish (-want +got):\n%s", diff)
	}

	app := t.TempDir()
	writeFile(t, filepath.Join(app, "package.json"), `{"private": true, "type": "module"}`)
	p.run(t, app, "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", filepath.Join(p.dir, packed[0].Filename))
	p.testCommonJS(t, app)
	programs, fragments := readmeBlocks(t)
	p.runExamples(t, app, programs)
	p.compileFragments(t, app, fragments)
	t.Run("CLI9_Sidecar", func(t *testing.T) { p.testSidecar(t, app) })
}

// sidecarNotes is how many notes the vault of the example has: seconds. $CTXD_SIDECAR_NOTES says another number.
const sidecarNotes = "200"

// testSidecar checks the types of the example of a sidecar and runs it with what npm would publish.
func (p *tsPackage) testSidecar(t *testing.T, app string) {
	source, err := os.ReadFile(filepath.Join(p.dir, "examples", "sidecar", "sidecar.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(app, "sidecar.mjs"), string(source))
	p.run(t, app, "node", filepath.Join(p.dir, "node_modules", "typescript", "bin", "tsc"), "--noEmit", "--allowJs", "--checkJs", "--strict",
		"--noUnusedLocals", "--target", "es2022", "--module", "nodenext", "--types", "node",
		"--typeRoots", filepath.Join(p.dir, "node_modules", "@types"), "sidecar.mjs")
	out := string(p.run(t, app, "node", "sidecar.mjs", cmp.Or(os.Getenv("CTXD_SIDECAR_NOTES"), sidecarNotes)))
	t.Logf("\n%s", out)
	for _, step := range []string{"connect", "vault", "menu", "panel", "save", "events", "chat", "kill -9", "two apps", "upgrade"} {
		if !strings.Contains(out, " ms  "+step+" ") {
			t.Errorf("it does not tell of the step %s", step)
		}
	}
}

// TestCLI6_ReadmesNameTheProtocol: the version that the pages say to check is the one that the clients speak.
func TestCLI6_ReadmesNameTheProtocol(t *testing.T) {
	for _, page := range []string{"README.md", filepath.Join("ts", "README.md")} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if m := regexp.MustCompile(`version\s+--check (\S+?)` + "`").FindStringSubmatch(string(text)); m == nil || m[1] != protocol.Version {
			t.Errorf("%s says to check %q, and the clients speak %s", page, m, protocol.Version)
		}
	}
}

// testCommonJS compiles and runs a program of CommonJS.
func (p *tsPackage) testCommonJS(t *testing.T, app string) {
	t.Helper()
	program := `import { connect, VersionError, type Client } from "ctxd-client";
import { supervise } from "ctxd-client/bridge";
export const open = (): Promise<Client> => connect({ audience: "remote", minVersion: "0.1.0" });
if (typeof supervise !== "function" || !(new VersionError("1.0", "daemon") instanceof Error)) throw new Error("nothing was loaded");
`
	writeFile(t, filepath.Join(app, "common.cts"), program)
	p.run(t, app, "node", filepath.Join(p.dir, "node_modules", "typescript", "bin", "tsc"), "--module", "node16", "--target", "es2022",
		"--strict", "--types", "node", "--typeRoots", filepath.Join(p.dir, "node_modules", "@types"), "common.cts")
	p.run(t, app, "node", "common.cjs")
}

// testElectron holds the example to the types of Electron, builds it and runs
// it: its main process in Node, its page in a headless Chromium. Electron
// itself is not run: its program is no part of what npm installs without
// scripts.
func (p *tsPackage) testElectron(t *testing.T) {
	example := filepath.Join(p.dir, "examples", "electron")
	if out, err := p.command(t, example, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"); err != nil {
		t.Skipf("Electron's types can't be installed: %v\n%s", err, out)
	}
	p.run(t, example, "npm", "run", "--silent", "check")
	p.run(t, example, "npm", "run", "--silent", "build")
	if !hasChromium() {
		t.Skip("chromium is not installed: the page of the example was built and not opened")
	}
	p.run(t, p.dir, "npm", "run", "--silent", "test:electron")
}

// hasChromium tells whether test/chromium.ts finds a browser.
func hasChromium() bool {
	if os.Getenv("CHROMIUM") != "" {
		return true
	}
	return slices.ContainsFunc([]string{"chromium", "chromium-browser", "google-chrome"}, func(name string) bool {
		_, err := exec.LookPath(name)
		return err == nil
	})
}

// TestTypeScriptReadmeShowsTheExample: what the README says of the bridge is
// code of the example, which is compiled and run.
func TestTypeScriptReadmeShowsTheExample(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("ts", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile("(?s)```typescript\n// (\\S+)\n\n(.*?)```").FindAllStringSubmatch(string(readme), -1)
	if len(shown) < 4 {
		t.Fatalf("README.md shows %d parts of the example", len(shown))
	}
	for _, m := range shown {
		source, err := os.ReadFile(filepath.Join("ts", "examples", "electron", "src", m[1]))
		if err != nil {
			t.Fatal(err)
		}
		for part := range strings.SplitSeq(m[2], "\n\n") {
			if !strings.Contains(string(source), strings.TrimSpace(part)) {
				t.Errorf("%s has no such part as README.md shows:\n%s", m[1], part)
			}
		}
	}
}

// printed is what each program of the README prints, ids and the ends of handles aside, which are
// drawn by chance.
var printed = []string{
	"Kickoff: Goals: ship the first milestone. #planning\nThe model knows.\n",
	"handle @ship_before_summer_•\nnumber #2\nnote [[Kickoff#Goals]]\n" +
		"memory by its handle: We ship before summer.\nmemory by its number: Nothing ships on a Friday.\nnote by its name\n" +
		"Of the note, the section Goals.\n## What the user referred to\n" +
		"- [REFERENCED @ship_before_summer_•] [decision] We ship before summer. [id:•]\n" +
		"- [REFERENCED #2] [lesson] Nothing ships on a Friday. [id:•]\n\n",
	"Nobody answers: No provider of language models is configured.\n\nYour message is kept. To get an answer, set chat.provider, " +
		"and chat.providers.NAME.base or chat.providers.NAME.key, in the configuration; ctxd config --help lists the settings.\n" +
		"complete, with 2 sections of context\n",
}

var byChance = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}|(_)[0-9a-f]{4}\b`)

// runExamples runs the programs of the README one after the other against a daemon of their own.
func (p *tsPackage) runExamples(t *testing.T, app string, programs []string) {
	t.Helper()
	home, err := os.MkdirTemp("", "ctxd-ts-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	at := filepath.Join(home, "s")
	if runtime.GOOS == "windows" {
		at = `\\.\pipe\` + filepath.Base(home)
	}
	t.Setenv("CTXD_SOCKET", at)
	t.Setenv("CTXD_DATA", filepath.Join(home, "data"))
	t.Setenv("XDG_CONFIG_HOME", home)
	p.run(t, app, p.ctxd, "stdio", "--idle-exit", "1m") // starts the daemon
	defer p.run(t, app, p.ctxd, "stop")
	got := make([]string, len(programs))
	for i, program := range programs {
		writeFile(t, filepath.Join(app, "example.mjs"), program)
		got[i] = byChance.ReplaceAllString(string(p.run(t, app, "node", "example.mjs")), "$1•")
	}
	if diff := gocmp.Diff(printed, got); diff != "" {
		t.Errorf("what the examples of the README print (-want +got):\n%s", diff)
	}
}

// compileFragments compiles the other blocks of the README, and a user of the
// bridge, in a project that has the types of browsers and not those of Node,
// which the package must not ask for.
func (p *tsPackage) compileFragments(t *testing.T, app string, fragments []string) {
	t.Helper()
	source := "import { connect, CtxdError, type Client } from \"ctxd-client\";\n"
	for _, f := range fragments {
		if !strings.Contains(f, "const ctxd =") {
			source += "export async function _" + string(rune('a'+strings.Count(source, "function _"))) + "(ctxd: Client) {\n" + f + "}\n"
		} else {
			source += f
		}
	}
	writeFile(t, filepath.Join(app, "readme.ts"), source)
	writeFile(t, filepath.Join(app, "bridge.ts"), bridgeUser)
	p.run(t, app, filepath.Join(p.dir, "node_modules", ".bin", "tsc"), "--noEmit", "--strict", "--target", "es2022",
		"--module", "nodenext", "--lib", "es2022,dom", "--types", "", "readme.ts", "bridge.ts")
}

// bridgeUser uses the three parts of the bridge as they are published.
const bridgeUser = `
import { serve, supervise, type Api, type Daemon, type PagePort } from "ctxd-client/bridge";
import { expose, type PreloadElectron } from "ctxd-client/bridge/preload";
import { connect, overPort, type SearchHit } from "ctxd-client/bridge/renderer";

const api = { methods: ["notes.search", "chat.send"], topics: ["notes.changed"] } as const satisfies Api;

export const daemon: Daemon = supervise({ name: "my-app", args: ["--vault", "/home/me/Notes"] });
export const welcome = (port: PagePort) => serve(port, daemon, api);
export const inPreload = (electron: PreloadElectron) => expose(electron, { name: "notes" });

export async function inWorker(port: MessagePort): Promise<SearchHit[]> {
  const ctxd = connect<typeof api>(overPort(port));
  await ctxd.subscribe("notes.changed", ({ ids }) => console.log(ids.length));
  // @ts-expect-error: the api does not allow it
  ctxd.call("notes.delete", { id: "x" });
  return (await ctxd.call("notes.search", { query: "kickoff" })).hits;
}
`

// readmeBlocks returns the programs of the README, which stand there as js, and
// its fragments, which stand there as ts.
func readmeBlocks(t *testing.T) (programs, fragments []string) {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join("ts", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?s)```(js|ts)\n(.*?)```").FindAllStringSubmatch(string(readme), -1) {
		if m[1] == "js" {
			programs = append(programs, m[2])
		} else {
			fragments = append(fragments, m[2])
		}
	}
	if len(programs) != len(printed) || len(fragments) < 5 {
		t.Fatalf("README.md has %d programs and %d fragments", len(programs), len(fragments))
	}
	return programs, fragments
}

// copySources copies what git holds of a package, so that nothing that lies
// about takes part.
func copySources(t *testing.T, from, to string) {
	t.Helper()
	made := []string{"node_modules", "dist", "test-dist", "main.js"}
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		at := filepath.Join(to, rel)
		switch {
		case slices.Contains(made, d.Name()):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return os.MkdirAll(at, 0o700)
		default:
			data, err := os.ReadFile(path)
			return errors.Join(err, os.WriteFile(at, data, 0o600))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

func buildDaemon(t *testing.T) string {
	t.Helper()
	ctxd := filepath.Join(t.TempDir(), "ctxd")
	if runtime.GOOS == "windows" {
		ctxd += ".exe"
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", ctxd, "github.com/ctxd/ctxd/cmd/ctxd")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return ctxd
}

// run runs a program and returns its standard output; failing fails the test.
func (p *tsPackage) run(t *testing.T, dir, program string, args ...string) []byte {
	t.Helper()
	out, err := p.command(t, dir, program, args...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", filepath.Base(program), strings.Join(args, " "), err, out)
	}
	return out
}

// command runs a program. When it fails, its standard error is part of what is
// returned.
func (p *tsPackage) command(t *testing.T, dir, program string, args ...string) ([]byte, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CTXD_BIN="+p.ctxd)
	cmd.WaitDelay = 10 * time.Second // for what a killed program leaves behind
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		out = append(out, stderr.Bytes()...)
	}
	return out, err
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestTypeScriptPackageIsPinned: what is built with comes from the public
// registry, in exact versions, and the client depends on nothing when it runs.
func TestTypeScriptPackageIsPinned(t *testing.T) {
	for dir, depends := range map[string][]string{
		"ts":                   nil,
		"ts/examples/electron": {"ctxd-client"},
		"obsidian":             {"ctxd-client"},
	} {
		t.Run(dir, func(t *testing.T) { checkPins(t, dir, depends) })
	}
}

func checkPins(t *testing.T, dir string, depends []string) {
	var pkg struct {
		Version      string
		Dependencies map[string]string
		Dev          map[string]string `json:"devDependencies"`
	}
	readJSON(t, filepath.Join(dir, "package.json"), &pkg)
	if got := slices.Sorted(maps.Keys(pkg.Dependencies)); !slices.Equal(got, depends) {
		t.Errorf("it depends on %v", got)
	}
	exact := regexp.MustCompile(`^\d+\.\d+\.\d+$`)
	for name, version := range pkg.Dev {
		if !exact.MatchString(version) {
			t.Errorf("%s is pinned to %q", name, version)
		}
	}
	var lock struct {
		Packages map[string]struct {
			Version, Resolved, Integrity string
			Link                         bool
		}
	}
	readJSON(t, filepath.Join(dir, "package-lock.json"), &lock)
	if got := lock.Packages[""].Version; got != pkg.Version {
		t.Errorf("the lock file is of version %s, the package %s", got, pkg.Version)
	}
	for name, p := range lock.Packages {
		if !strings.HasPrefix(name, "node_modules/") || p.Link {
			continue // one of ours
		}
		if !strings.HasPrefix(p.Resolved, "https://registry.npmjs.org/") || p.Integrity == "" {
			t.Errorf("%s comes from %q with checksum %q", name, p.Resolved, p.Integrity)
		}
	}
	if len(lock.Packages) < 3 {
		t.Errorf("the lock file has %d packages", len(lock.Packages))
	}
}

// The package is published by itself, so it carries the licence.
func TestTypeScriptPackageHasTheLicence(t *testing.T) {
	own, err := os.ReadFile(filepath.Join("ts", "LICENSE"))
	if err != nil {
		t.Fatal(err)
	}
	ours, err := os.ReadFile(filepath.Join("..", "..", "LICENSE"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(own, ours) {
		t.Error("ts/LICENSE is not the licence of the repository")
	}
}

func readJSON(t *testing.T, name string, v any) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}

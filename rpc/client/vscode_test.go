package client_test

import (
	"archive/zip"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestConformance_CLI3_VSCode packages the extension, installs it in a real VS Code, opens that in a real
// browser, presses keys and reads the screen. It takes 300 MB of packages and some minutes, so it runs
// only when it is asked to, beside the other editors.
func TestConformance_CLI3_VSCode(t *testing.T) {
	wantEditor(t, "node", "npm", "go", "chromium")
	if os.Getenv("CTXD_VSCODE") == "" {
		t.Skip("set CTXD_VSCODE=1 as well to install VS Code from npm and drive it in a browser")
	}
	e := newEditor(t)
	p := tsPackage{dir: filepath.Join(t.TempDir(), "vscode"), ctxd: e.ctxd}
	copySources(t, filepath.Join("vscode", "test"), filepath.Join(p.dir, "test"))
	quiet := []string{"--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"}
	install := func(dir string, args ...string) {
		if out, err := p.command(t, dir, "npm", slices.Concat(args, quiet)...); err != nil {
			t.Skipf("npm %q: %v\n%s", args, err, out)
		}
	}
	host := filepath.Join(p.dir, "test", "host")
	// Native modules are not built: VS Code does without them, but for its terminal and its search of files.
	install(host, "install", "--no-package-lock")
	install(filepath.Join(host, "node_modules", "code-server", "lib", "vscode"), "install", "--omit=dev", "--no-package-lock")

	vsix := releasedVsix(t, p)
	testVsix(t, vsix)
	cmd := e.command(t, "node", filepath.Join("test", "browser.mjs"), host, e.ctxd, vsix, e.vault, os.Getenv("CTXD_SCREENS"))
	cmd.Dir = p.dir
	// Chromium and VS Code look for more than a home.
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var steps []string
	for line := range strings.Lines(string(out)) {
		if step, ok := strings.CutPrefix(line, "ok "); ok {
			name, _, _ := strings.Cut(strings.TrimSpace(step), ":")
			steps = append(steps, name)
			t.Log(strings.TrimSpace(step))
		}
	}
	want := []string{"status", "tree", "backlink opens", "completion", "typing goes on", "search", "webview", "graph", "ask", "remember", "rename"}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Errorf("the steps of the browser (-want +got):\n%s", diff)
	}
	if list := e.run(t, "memory", "list", "--json"); !strings.Contains(list, "The kettle is red.") {
		t.Errorf("the memories are %s", list)
	}
	if _, err := os.Stat(e.note("Meetings", "Project Alpha Kickoff.md")); !os.IsNotExist(err) {
		t.Errorf("the renamed note has its old name as well: %v", err)
	}
	if text := readFile(t, e.note("Meetings", "Alpha Start.md")); !strings.Contains(text, "# Alpha Start") {
		t.Errorf("the renamed note is\n%s", text)
	}
	if text := readFile(t, e.note("Projects", "Project Beacon.md")); !strings.Contains(text, "[[Alpha Start#Radio]]") {
		t.Errorf("a note that links to it is\n%s", text)
	}
	if text := readFile(t, e.note("Journal", "2025-03-04.md")); !strings.Contains(text, "see [[Alpha Start]], and on.") {
		t.Errorf("the note that was typed in is\n%s", text)
	}
}

// releasedVsix makes a release, with programs of no use, and returns the extension in it.
func releasedVsix(t *testing.T, p tsPackage) string {
	t.Helper()
	programs, out := t.TempDir(), filepath.Join(t.TempDir(), "dist")
	of := filepath.Join(programs, runtime.GOOS+"-"+runtime.GOARCH)
	if err := os.Mkdir(of, 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(of, "ctxd"), "")
	writeFile(t, filepath.Join(of, "ctxd-runner"), "")
	p.run(t, filepath.Join("..", ".."), "go", "run", "./fixtures/dist", "-targets", "host", "-programs", programs, "-program", p.ctxd, "-out", out)
	found, err := filepath.Glob(filepath.Join(out, "editors", "*.vsix"))
	if err != nil || len(found) != 1 {
		t.Fatalf("the release has %q, %v", found, err)
	}
	return found[0]
}

// testVsix looks at what would be published.
func testVsix(t *testing.T, vsix string) {
	t.Helper()
	z, err := zip.OpenReader(vsix)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = z.Close() }()
	var files []string
	for _, f := range z.File {
		files = append(files, f.Name)
	}
	slices.Sort(files)
	want := []string{
		"[Content_Types].xml", "extension.vsixmanifest", "extension/LICENSE.txt", "extension/dist/extension.js", "extension/media/ctxd.svg",
		"extension/package.json", "extension/readme.md",
	}
	files = slices.DeleteFunc(files, func(name string) bool { return name == "extension/dist/extension.js.LEGAL.txt" })
	slices.Sort(want)
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("what would be published (-want +got):\n%s", diff)
	}
	info, err := os.Stat(vsix)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 1<<20 {
		t.Errorf("the package has %d bytes", info.Size())
	}
}

// TestCLI3_TheExtensionIsPinned holds its files to what the browser test leaves to chance: versions, where
// packages come from, and that every command and setting of the manifest is one of the code.
func TestCLI3_TheExtensionIsPinned(t *testing.T) {
	var manifest struct {
		Engines         struct{ VSCode string }
		DevDependencies map[string]string
		Contributes     struct {
			Commands      []struct{ Command string }
			Configuration struct{ Properties map[string]any }
		}
	}
	unmarshal(t, filepath.Join("vscode", "package.json"), &manifest)
	for name, version := range manifest.DevDependencies {
		if !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(version) {
			t.Errorf("%s is not pinned: %s", name, version)
		}
	}
	if manifest.Engines.VSCode != "^"+manifest.DevDependencies["@types/vscode"] {
		t.Error("the types are not those of the oldest VS Code that is supported")
	}
	var lock struct {
		Packages map[string]struct {
			Resolved, Integrity string
			Link                bool
		}
	}
	unmarshal(t, filepath.Join("vscode", "package-lock.json"), &lock)
	for name, p := range lock.Packages {
		if name != "" && (!strings.HasPrefix(p.Resolved, "https://registry.npmjs.org/") || p.Integrity == "") {
			t.Errorf("%s comes from %q", name, p.Resolved)
		}
	}
	code := readFile(t, filepath.Join("vscode", "src", "extension.ts"))
	for _, c := range manifest.Contributes.Commands {
		if name := strings.TrimPrefix(c.Command, "ctxd."); !strings.Contains(code, `command("`+name+`"`) {
			t.Errorf("%s is not registered", c.Command)
		}
	}
	server := readFile(t, filepath.Join("vscode", "src", "server.ts"))
	for name := range manifest.Contributes.Configuration.Properties {
		if name = strings.TrimPrefix(name, "ctxd."); name != "program" && !strings.Contains(server, `"`+name+`"`) {
			t.Errorf("the setting ctxd.%s does nothing", name)
		}
	}
	if readFile(t, filepath.Join("vscode", "LICENSE")) != readFile(t, filepath.Join("..", "..", "LICENSE")) {
		t.Error("the licence is not that of ctxd")
	}
}

func unmarshal(t *testing.T, path string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(readFile(t, path)), v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

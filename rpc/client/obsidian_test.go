package client_test

import (
	"path/filepath"
	"testing"
)

// testObsidian holds the plugin to the types of Obsidian, bundles it, and runs
// its tests against the real daemon. Obsidian itself is no package of a
// registry; a stand-in is in its place.
func (p *tsPackage) testObsidian(t *testing.T) {
	dir := filepath.Join(filepath.Dir(p.dir), "obsidian")
	copySources(t, "obsidian", dir)
	if out, err := p.command(t, dir, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"); err != nil {
		t.Skipf("Obsidian's types can't be installed: %v\n%s", err, out)
	}
	p.run(t, p.dir, "npm", "run", "--silent", "build")
	p.run(t, dir, "npm", "run", "--silent", "check")
	p.run(t, dir, "npm", "run", "--silent", "build")
	p.run(t, dir, "npm", "test", "--silent")
}

// TestTypeScriptObsidianManifest: the app installs what the manifest says, and
// looks the versions up.
func TestTypeScriptObsidianManifest(t *testing.T) {
	var manifest struct {
		ID, Version   string
		MinAppVersion string
		IsDesktopOnly bool
	}
	var pkg struct{ Version string }
	var versions map[string]string
	for name, v := range map[string]any{"manifest.json": &manifest, "package.json": &pkg, "versions.json": &versions} {
		readJSON(t, filepath.Join("obsidian", name), v)
	}
	if manifest.ID != "ctxd" || !manifest.IsDesktopOnly {
		t.Errorf("the manifest says %+v", manifest)
	}
	if manifest.Version != pkg.Version {
		t.Errorf("the manifest is of version %s, the package of %s", manifest.Version, pkg.Version)
	}
	if got := versions[manifest.Version]; got != manifest.MinAppVersion {
		t.Errorf("versions.json says that version %s needs Obsidian %q, the manifest %q", manifest.Version, got, manifest.MinAppVersion)
	}
}

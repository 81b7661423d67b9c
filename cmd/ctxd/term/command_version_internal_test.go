package term

import (
	"runtime/debug"
	"testing"
)

func TestCommit(t *testing.T) {
	const revision = "604abb1f00dc0ffee0123456789abcdef0123456"
	settings := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs.revision", Value: revision}, {Key: "vcs.modified", Value: modified}}
	}
	for _, c := range []struct {
		name     string
		version  string
		settings []debug.BuildSetting
		want     string
	}{
		{"a clean checkout", "(devel)", settings("false"), "604abb1f00dc"},
		{"a changed one", "(devel)", settings("true"), "604abb1f00dc-dirty"},
		{"go install of a branch", "v0.0.0-20261122200000-604abb1f00dc", nil, "604abb1f00dc"},
		{"go install after a tag", "v0.1.1-0.20261122200000-604abb1f00dc", nil, "604abb1f00dc"},
		{"go install of a tag", "v0.1.0", nil, ""},
		{"a build without a repository", "(devel)", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			info := &debug.BuildInfo{Main: debug.Module{Version: c.version}, Settings: c.settings}
			if got := commitOf(info); got != c.want {
				t.Errorf("commit %q, want %q", got, c.want)
			}
		})
	}
}

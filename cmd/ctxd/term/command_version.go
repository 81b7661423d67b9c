package term

import (
	"runtime/debug"
	"strings"

	"github.com/ctxd/ctxd/entities/text"
)

// release is the version of the source; a build of a tagged module says its
// own.
const release = "0.1.0"

// ProgramVersion returns the version of the program.
func ProgramVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return release
	}
	// A build between two tags has a pseudo-version, which says less.
	v := strings.TrimPrefix(info.Main.Version, "v")
	if v == "" || strings.ContainsAny(v, "-+()") {
		return release
	}
	return v
}

// commit is for packagers who build without the repository:
// go build -ldflags "-X github.com/ctxd/ctxd/cmd/ctxd/term.commit=REVISION".
var commit string

// shownCommit is how many characters of a commit are shown, as a module's version does.
const shownCommit = 12

// ProgramCommit returns the commit that the program was built from, "" when the build
// does not know.
func ProgramCommit() string {
	if commit != "" {
		return commit[:min(shownCommit, len(commit))]
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return commitOf(info)
}

// pseudoVersion ends the version of a module between two tags, as go install gives it.
var pseudoVersion = text.Pattern(`[-.][0-9]{14}-([0-9a-f]{12})(\+|$)`)

func commitOf(info *debug.BuildInfo) string {
	revision, dirty := "", ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value[:min(shownCommit, len(s.Value))]
		case "vcs.modified":
			if s.Value == "true" {
				dirty = "-dirty"
			}
		}
	}
	if revision != "" {
		return revision + dirty
	}
	if m := pseudoVersion().FindStringSubmatch(info.Main.Version); m != nil {
		return m[1]
	}
	return ""
}

// ProgramName is what stands in backups as the program that made them.
func ProgramName() string { return "ctxd " + ProgramVersion() }

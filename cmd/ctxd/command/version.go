package command

import (
	"runtime/debug"
	"strings"
)

// release is the version of the source; a build of a tagged module says its
// own.
const release = "0.1.0"

// Version returns the version of the program.
func Version() string {
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

// Commit returns the commit that the program was built from, "" when the build
// does not know.
func Commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	revision, dirty := "", ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value[:min(12, len(s.Value))]
		case "vcs.modified":
			if s.Value == "true" {
				dirty = "-dirty"
			}
		}
	}
	if revision == "" {
		return ""
	}
	return revision + dirty
}

// ProgramName is what stands in backups as the program that made them.
func ProgramName() string { return "ctxd " + Version() }

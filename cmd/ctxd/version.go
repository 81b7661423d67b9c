package main

import (
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/ctxd/ctxd/rpc/protocol"
)

// release is the version of the source; a build of a tagged module says its
// own.
const release = "0.1.0"

// version returns the version of the program.
func version() string {
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

// commit returns the commit that the program was built from, "" when the build
// does not know.
func commit() string {
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

type versionCmd struct{}

func (versionCmd) Examples() []example {
	return []example{{"ctxd version --json", "for scripts"}}
}

func (versionCmd) Run(a *app) error {
	if a.JSON {
		return a.out.json(map[string]string{
			"version": version(), "commit": commit(), "protocol": protocol.Version,
			"go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
		})
	}
	a.out.say(text("ctxd "+version()), styled(faint, "  "+strings.Join(nonEmpty(
		commit(), "protocol "+protocol.Version, runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH), " · ")))
	return nil
}

func nonEmpty(texts ...string) []string {
	var out []string
	for _, s := range texts {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

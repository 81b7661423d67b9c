package library

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// notReady is embed.RunnerExitNotReady. That package can't be imported here: it
// would be initialised too late.
const notReady = 3

var handle uintptr

func init() { //nolint:gochecknoinits // ahead of the one of kelindar/search
	path, err := find()
	if err == nil {
		handle, err = open(path)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr,
			"ctxd-runner: %v\nTry: task runner, which builds the library, or set CTXD_LLAMA_DIR to its folder\n", err)
		os.Exit(notReady)
	}
	// The first place that kelindar/search looks in, and the same file.
	variable := map[string]string{"windows": "PATH", "darwin": "DYLD_LIBRARY_PATH"}[runtime.GOOS]
	if variable == "" {
		variable = "LD_LIBRARY_PATH"
	}
	if err := os.Setenv(variable, filepath.Dir(path)+string(os.PathListSeparator)+os.Getenv(variable)); err != nil {
		fmt.Fprintln(os.Stderr, "ctxd-runner:", err)
		os.Exit(notReady)
	}
}

// find gives the path of the library.
func find() (string, error) {
	name := map[string]string{"windows": "llama_go.dll", "darwin": "libllama_go.dylib"}[runtime.GOOS]
	if name == "" {
		name = "libllama_go.so"
	}
	folders := []string{os.Getenv("CTXD_LLAMA_DIR")}
	if folders[0] == "" {
		self, err := os.Executable()
		if err != nil {
			return "", fmt.Errorf("where this program lies: %w", err)
		}
		if real, err := filepath.EvalSymlinks(self); err == nil {
			self = real
		}
		folders = []string{filepath.Dir(self), filepath.Join(filepath.Dir(self), "llama")}
	}
	for _, folder := range folders {
		path, err := filepath.Abs(filepath.Join(folder, name))
		if err != nil {
			return "", err
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	return "", fmt.Errorf("no native library %s in %v", name, folders)
}

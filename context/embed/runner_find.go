package embed

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sort"
)

// RunnerPart is one thing that the runner needs, for ctxd doctor.
type RunnerPart struct {
	Name  string `json:"name"` // program, library or model
	Found bool   `json:"found"`
	What  string `json:"what"`           // its path, or what is missing
	Mend  string `json:"mend,omitempty"` // the command that mends it
}

// RunnerLibraryName is the file that kelindar/search loads.
func RunnerLibraryName() string {
	switch runtime.GOOS {
	case "windows":
		return "llama_go.dll"
	case "darwin":
		return "libllama_go.dylib"
	}
	return "libllama_go.so"
}

// Ways to mend what is missing, from a copy of the repository.
const (
	mendProgram = "task runner"
	mendLibrary = "task runner"
	mendModel   = "task model"
)

// FindRunner fills in what the options leave open and tells what it found, in
// the order program, library, model. It looks at files and starts nothing.
//
// The program is looked for beside the program that runs, then in PATH. The
// library: the folder that CTXD_LLAMA_DIR names, then beside the runner, then in
// its folder llama. The model: the first file *.gguf by name in the folder
// models beside the runner.
func FindRunner(opt RunnerOptions) (RunnerOptions, []RunnerPart) {
	opt.Path = findProgram(opt.Path)
	program := part("program", opt.Path, "no ctxd-runner beside ctxd or in PATH", mendProgram)
	beside := filepath.Dir(opt.Path)
	if opt.Library == "" {
		opt.Library = os.Getenv("CTXD_LLAMA_DIR")
	}
	where := "beside ctxd-runner, in its folder llama, or where CTXD_LLAMA_DIR says"
	switch {
	case opt.Library != "":
		where = "in " + opt.Library
	case opt.Path == "":
	case isFile(filepath.Join(beside, RunnerLibraryName())):
		opt.Library = beside
	case isFile(filepath.Join(beside, "llama", RunnerLibraryName())):
		opt.Library = filepath.Join(beside, "llama")
	}
	library := RunnerPart{Name: "library", What: "no " + RunnerLibraryName() + " " + where, Mend: mendLibrary}
	if file := filepath.Join(opt.Library, RunnerLibraryName()); opt.Library != "" && isFile(file) {
		library = part("library", file, "", "")
	}
	if opt.ModelFile == "" && opt.Path != "" {
		if models, err := filepath.Glob(filepath.Join(beside, "models", "*.gguf")); err == nil && len(models) > 0 {
			sort.Strings(models)
			opt.ModelFile = models[0]
		}
	}
	missing := "no *.gguf in the folder models beside ctxd-runner, and runner.model is not set"
	if opt.ModelFile != "" && !isFile(opt.ModelFile) {
		missing = "no file " + opt.ModelFile
	}
	model := part("model", "", missing, mendModel)
	if isFile(opt.ModelFile) {
		model = part("model", opt.ModelFile, "", "")
	}
	return opt, []RunnerPart{program, library, model}
}

// HasAllParts says whether nothing of what Find looked for is missing.
func HasAllParts(parts []RunnerPart) bool {
	for _, p := range parts {
		if !p.Found {
			return false
		}
	}
	return len(parts) > 0
}

func part(name, path, missing, mend string) RunnerPart {
	if path == "" {
		return RunnerPart{Name: name, What: missing, Mend: mend}
	}
	return RunnerPart{Name: name, Found: true, What: path}
}

// findProgram gives the path of the runner, "" if there is none.
func findProgram(set string) string {
	if set != "" {
		if isFile(set) {
			return set
		}
		return ""
	}
	name := "ctxd-runner"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if self, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(self); err == nil {
			self = real
		}
		if path := filepath.Join(filepath.Dir(self), name); isFile(path) {
			return path
		}
	}
	if path, err := exec.LookPath(name); err == nil {
		if absolute, err := filepath.Abs(path); err == nil {
			return absolute
		}
	}
	return ""
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

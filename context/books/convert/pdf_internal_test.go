package convert

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMEM67_CompiledCodeIsKept: the reader of PDF is compiled once a machine; what is damaged is made anew, and a folder that can't be
// used is none.
func TestMEM67_CompiledCodeIsKept(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles, which takes minutes under the race detector")
	}
	var machine pdfEngine // its code is there when a test of a file ran before
	if err := errors.Join(machine.start(CodeDir()), machine.Close()); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	mine := filepath.Join(dir, "wazero-of-somebody", "mine.txt")
	if err := errors.Join(os.Mkdir(filepath.Dir(mine), 0o700), os.WriteFile(mine, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	_ = os.CopyFS(dir, os.DirFS(CodeDir())) // a machine without a folder has none
	start := func() (kept string, data []byte) {
		t.Helper()
		var e pdfEngine
		if err := e.start(dir); err != nil || e.code == nil {
			t.Fatalf("the code is not kept: %v", err)
		}
		in, err := e.instance(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(in.Close(), e.Close()); err != nil {
			t.Error(err)
		}
		files, _ := filepath.Glob(filepath.Join(dir, "*", "*"))
		files = slices.DeleteFunc(files, func(f string) bool { return f == mine })
		if len(files) != 1 {
			t.Fatalf("%q", files)
		}
		data, err = os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		return files[0], data
	}
	name, whole := start()
	if !IsCode(filepath.Base(name)) {
		t.Errorf("%s is no code by its name", name)
	}
	damaged := bytes.Clone(whole)
	damaged[len(damaged)/2] ^= 1
	earlier := filepath.Join(filepath.Dir(name), strings.Repeat("e", 64))
	if err := errors.Join(os.WriteFile(name, damaged, 0o600), os.WriteFile(earlier, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if again, mended := start(); again != name || !bytes.Equal(mended, whole) {
		t.Errorf("%s, as %s was: %v", again, name, bytes.Equal(mended, whole))
	}

	if _, err := os.Stat(mine); err != nil {
		t.Errorf("what is no code is gone: %v", err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"", file, filepath.Join(file, "within")} {
		if code, err := openCode(dir); err == nil {
			t.Errorf("%q: %v", dir, code)
		}
	}
}

package convert

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestMEM67_CompiledCodeIsKept: the reader of PDF is compiled once a machine; what is damaged is made anew, and a folder that can't be
// used is none.
func TestMEM67_CompiledCodeIsKept(t *testing.T) {
	dir := t.TempDir()
	kept := func() (string, []byte) {
		files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
		if err != nil || len(files) > 1 {
			t.Fatalf("%v %v", files, err)
		}
		if len(files) == 0 {
			return "", nil
		}
		data, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		return files[0], data
	}
	start := func() (asKept bool) {
		e := &pdfEngine{}
		if err := e.start(dir); err != nil {
			t.Fatal(err)
		}
		asKept = e.code != nil
		in, err := e.instance(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		return asKept
	}

	earlier := filepath.Join(dir, "wazero-1.0.0")
	if err := errors.Join(os.Mkdir(earlier, 0o700), os.WriteFile(filepath.Join(earlier, "code"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if !start() {
		t.Fatal("the code is not kept")
	}
	name, whole := kept()
	damaged := bytes.Clone(whole)
	damaged[len(damaged)/2] ^= 1
	if err := os.WriteFile(name, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	if start() {
		t.Error("damaged code runs")
	}
	if left, _ := kept(); left != "" {
		t.Errorf("%s is left", left)
	}
	if err := os.WriteFile(name, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if !start() {
		t.Error("code that is kept is not used")
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

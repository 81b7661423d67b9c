package outbound_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/ctxd/ctxd/context/outbound"
	"github.com/ctxd/ctxd/entities/fault"
)

func hintOf(err error) string {
	var f *fault.Error
	if !errors.As(err, &f) {
		return ""
	}
	return f.Hint
}

func TestSEC4_KeyOfAnEndpoint(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		p := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(p, []byte(text), mode), os.Chmod(p, mode)); err != nil {
			t.Fatal(err)
		}
		return "file:" + p
	}
	t.Setenv("CTXD_TEST_KEY", " "+canaryKey+"\n")
	t.Setenv("CTXD_TEST_EMPTY", "")
	for source, want := range map[string]string{ // "!" and what is wrong
		"none":                                          "",
		"env:CTXD_TEST_KEY":                             canaryKey,
		"env:CTXD_TEST_EMPTY":                           "!is empty: $CTXD_TEST_EMPTY",
		file("good", canaryKey+"\n", 0o600):             canaryKey,
		file("mine", canaryKey, 0o400):                  canaryKey,
		file("group", canaryKey, 0o640):                 "!others can read it",
		file("all", canaryKey, 0o604):                   "!others can read it",
		file("writable", canaryKey, 0o620):              "!others can write the file",
		file("empty", "\n", 0o600):                      "!holds no key",
		file("huge", strings.Repeat("k", 1<<20), 0o600): "!holds no key",
		"file:" + filepath.Join(dir, "none"):            "!does not exist",
		"file:" + dir:                                   "!not a regular file",
	} {
		if runtime.GOOS == "windows" && (strings.Contains(want, "others")) {
			continue // access lists, not modes, say who can read a file
		}
		key, err := outbound.LoadKey(source, "embedding.key")
		why, ill := strings.CutPrefix(want, "!")
		switch {
		case !ill && (err != nil || key != want):
			t.Errorf("%s: %q %v", source, key, err)
		case ill && (key != "" || fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), why) || hintOf(err) == "" || strings.Contains(err.Error(), "canary")):
			t.Errorf("%s: %q %v, want %s", source, key, err, why)
		}
	}
}

func TestSEC4_KeyInTheKeyring(t *testing.T) {
	keyring.MockInit()
	for name, key := range map[string]string{"good": canaryKey + "\n", "empty": " ", "huge": strings.Repeat("k", 1<<16)} {
		if err := keyring.Set(outbound.KeyringService, name, key); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"good": "", "empty": "no key for empty", "huge": "is no key", "none": "no key for none"} {
		key, err := outbound.LoadKey("keyring:"+name, "chat.key")
		switch {
		case want == "" && (err != nil || key != canaryKey):
			t.Errorf("%s: %q %v", name, key, err)
		case want != "" && (key != "" || fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), want) || hintOf(err) == ""):
			t.Errorf("%s: %q %v", name, key, err)
		}
	}
	keyring.MockInitWithError(errors.New("helper said " + canaryKey))
	if key, err := outbound.LoadKey("keyring:good", "chat.key"); key != "" || err == nil || strings.Contains(err.Error()+hintOf(err), "canary") {
		t.Errorf("%q %v", key, err)
	}
}

// TestSEC4_AKeyIsNoPlaceOfAKey gives the key itself where its place is asked for.
func TestSEC4_AKeyIsNoPlaceOfAKey(t *testing.T) {
	for _, word := range []string{
		canaryKey, "", "env:", "env:1A", "env:A B", "file:", "keyring:", "keyring:a b", "keyring:-x", "ENV:A", " env:A", "none ",
	} {
		if outbound.IsKeySource(word) {
			t.Errorf("%q says where a key is", word)
		}
	}
	for _, word := range []string{"none", "env:A_1", "file:/a b", "keyring:ann@example.org"} {
		if !outbound.IsKeySource(word) {
			t.Errorf("%q does not say where a key is", word)
		}
	}
	if key, err := outbound.LoadKey(canaryKey, "chat.key"); key != "" || err == nil || strings.Contains(err.Error()+hintOf(err), "canary") {
		t.Errorf("%q %v", key, err)
	}
}

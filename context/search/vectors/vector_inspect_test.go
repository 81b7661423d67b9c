package vectors_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxd/ctxd/context/search/vectors"
)

// What Inspect says of a sound file, of each damaged one, and of one that was
// cut; it changes none of them.
func TestSRCH12_InspectSeesDamage(t *testing.T) {
	name := filepath.Join(t.TempDir(), "v")
	x, err := vectors.OpenFlatIndex(name, testModel)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"a", "b", "c"} {
		if _, err := x.Put(itemOf(id, []string{id + " first", "", id + " third"}), func() bool { return true }); err != nil {
			t.Fatal(err)
		}
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	in, err := vectors.InspectFile(name)
	if err != nil || in.Model != testModel || in.Items != 3 || in.Vectors != 6 || in.DamagedBytes != 0 || in.Bytes != int64(len(whole)) {
		t.Fatalf("%+v %v", in, err)
	}
	look := func(what string, content []byte) bool {
		t.Helper()
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
		in, err := vectors.InspectFile(name)
		after, readErr := os.ReadFile(name)
		if readErr != nil || string(after) != string(content) {
			t.Errorf("%s: the file was changed", what)
		}
		return err != nil || in.DamagedBytes > 0
	}
	unseen, looks := 0, 0
	for i := 0; i < len(whole); i += 5 {
		looks++
		bad := append([]byte(nil), whole...)
		bad[i] ^= 0x20
		if !look("a flipped bit", bad) {
			unseen++
		}
	}
	if unseen > looks/20 { // what fills records up to multiples of 8 holds nothing
		t.Errorf("%d of %d flipped bits were not seen", unseen, looks)
	}
	for n := 65; n < len(whole)-8; n += 11 {
		if n%8 != 0 && !look("a cut", whole[:n]) {
			t.Errorf("cut at %d: not seen", n)
		}
	}
	if _, err := vectors.InspectFile(filepath.Join(t.TempDir(), "none")); !os.IsNotExist(err) {
		t.Error(err)
	}
}

package vault

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFileRecordsRoundTrip(t *testing.T) {
	whole := file{
		NoteID: "n", Hash: "00ff", Size: 1 << 40, Modified: -5, Warning: "frontmatter left out",
		Problems: []string{"a: no number", "日本"}, Type: "Person", TypeVersion: 7, Private: true,
	}
	for name, f := range map[string]file{"all": whole, "nothing": {}, "a time": {Modified: 1789999999123456789}} {
		rec, err := encodeFile(&f)
		if err != nil {
			t.Fatal(err)
		}
		back, err := decodeFile(rec)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&f, back); diff != "" {
			t.Errorf("%s comes back as another:\n%s", name, diff)
		}
		for cut := range rec {
			if _, err := decodeFile(rec[:cut]); err == nil {
				t.Errorf("%s: the first %d bytes of %d are taken for a record", name, cut, len(rec))
			}
		}
		old, err := jsonFiles.Encode(&f)
		if err != nil {
			t.Fatal(err)
		}
		back, err = decodeFile(old)
		if err != nil || !cmp.Equal(&f, back) {
			t.Errorf("%s, as it was stored before, is %+v, %v", name, back, err)
		}
		for what, other := range map[string]string{"another format": "\x02" + rec[1:], "a flag of no meaning": rec[:1] + "\x02" + rec[2:], "more": rec + "\x00"} {
			if _, err := decodeFile(other); err == nil {
				t.Errorf("%s: %s is taken for a record", name, what)
			}
		}
	}
	for _, f := range []file{{Size: -1}, {TypeVersion: -1}} {
		if rec, err := encodeFile(&f); err == nil {
			t.Errorf("%+v is stored as %q", f, rec)
		}
	}
}

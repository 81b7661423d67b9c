package vault_test

import (
	"testing"

	"github.com/ctxd/ctxd/notes/vault"
)

func TestLSP6_TagsByHand(t *testing.T) {
	files := map[string]string{
		"a.md": "---\r\ntitle: work\r\ntags: [work, Work/deep, homework]\r\nwork: tags\r\n---\r\n#work and #WORK/urgent, #workshop `#work` [[#work]] [x](a.md#work) \\#work\r\n",
		"b.md": "---\ntags:\n  - work\n  - \"#work/x\"\n---\n# Work #work\n(#work) x#work <!-- #work -->\n",
		"c.md": "---\ntag: 'other, work'\n---\n#wörk\n", "d.md": "no such tag: work\n",
	}
	w := read(t, folder(t, files))
	plan, err := vault.RenameTag(w.notes, w.where(), vault.TagRename{Old: "#work", New: "job/day"})
	if err != nil {
		t.Fatal(err)
	}
	check(t, applied(t, w.files, plan), files, map[string]string{
		"a.md": "---\r\ntitle: work\r\ntags: [job/day, job/day/deep, homework]\r\nwork: tags\r\n---\r\n#job/day and #job/day/urgent, #workshop `#work` [[#work]] [x](a.md#work) \\#work\r\n",
		"b.md": "---\ntags:\n  - job/day\n  - \"#job/day/x\"\n---\n# Work #job/day\n(#job/day) x#work <!-- #work -->\n",
		"c.md": "---\ntag: 'other, job/day'\n---\n#wörk\n",
	})
	if len(plan.Problems) > 0 {
		t.Errorf("problems %v", plan.Problems)
	}
	for _, bad := range []vault.TagRename{{"work", "a b"}, {"work", ""}, {"", "x"}, {"work", "12"}} {
		if _, err := vault.RenameTag(w.notes, w.where(), bad); err == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
}

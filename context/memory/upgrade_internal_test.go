package memory

import (
	"testing"

	"github.com/ctxd/ctxd/entities/kv"
)

// TestREL13_WhoHasWhichNumberIsAViewSince11: of what formats up to 10 stored beside memories, only the numbers of
// deleted ones stay, those included whose memory is lost.
func TestREL13_WhoHasWhichNumberIsAViewSince11(t *testing.T) {
	s, _ := storeToDamage(t)
	s.inUpdate(t, func(tx *kv.Tx) error {
		for n, id := range map[int64]string{1: "m1", 2: "m2", 3: "m3", 4: "", 5: "lost"} {
			if err := numbers.Put(tx, numberKey(n), &usedNumber{ID: id}); err != nil {
				return err
			}
		}
		return formerStatements.Put(tx, "0123/m1", new(struct{}))
	})
	s.inUpdate(t, Upgrade)
	err := s.db.View(t.Context(), func(tx *kv.Tx) error {
		var left []string
		for key, by := range numbers.All(tx, "") {
			left = append(left, key+" "+by.ID)
		}
		if len(left) != 2 || left[0] != numberKey(4)+" " || left[1] != numberKey(5)+" " {
			t.Errorf("the numbers %q", left)
		}
		for key := range formerStatements.All(tx, "") {
			t.Errorf("who says what is still there: %s", key)
		}
		return tx.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range s.problems(t) {
		t.Error(p)
	}
}

package concepts_test

import (
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// TestPRIV16_AConceptIsAsSureAsItsMemoriesAreForTheReader: what a memory contests that is private now counts for local readers
// alone.
func TestPRIV16_AConceptIsAsSureAsItsMemoriesAreForTheReader(t *testing.T) {
	h := open(t)
	fact := h.fact("The tide turns at noon.", "tide")
	other := h.fact("It turns at one.")
	before := h.get(h.remote, "tide").AverageQuality
	must(t, h.mem.Revise(ctx(), func(tx *kv.Tx) ([]string, error) {
		_, _, err := h.mem.ReviseTx(tx, fact, false, func(m *memory.Record, _ time.Time) error {
			m.Confidence /= 2
			m.Status, m.Contradicts = record.MemoryContested, []string{other}
			return nil
		})
		return nil, err
	}))
	contested := h.get(h.remote, "tide").AverageQuality
	private := true
	_, err := h.mem.Update(ctx(), h.local, memory.Patch{ID: other, Private: &private}, nil)
	must(t, err)
	if local := h.get(h.local, "tide").AverageQuality; local != contested || contested >= before {
		t.Errorf("a local reader is told %v, of %v before and %v contested", local, before, contested)
	}
	if remote := h.get(h.remote, "tide").AverageQuality; remote != before {
		t.Errorf("a remote reader is told %v, want %v", remote, before)
	}
}

// TestPRIV16_AnEntityThatBecomesPublicIsAConceptAgain: whether or not what a memory says was read while the entity was private.
func TestPRIV16_AnEntityThatBecomesPublicIsAConceptAgain(t *testing.T) {
	h := open(t)
	h.entity("bees", "Apiary", true, nil)
	h.entity("secret", "Vault", true, nil)
	h.remember(memory.Draft{Statement: "The scales of @Vault broke.", EntityIDs: []string{"bees"}})
	h.want(h.remote, "")
	h.entity("bees", "Apiary", false, nil)
	h.want(h.remote, "Apiary 1/1")
	h.entity("bees", "Apiary", true, nil)
	h.want(h.remote, "")
}

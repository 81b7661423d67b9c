package words

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestPERF6_BlocksAreReadAsTheyWereWritten packs postings of all sizes, and reads
// what is left of a damaged block without going past its end.
func TestPERF6_BlocksAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, postingBlockSize).Draw(t, "postings")
		gap := rapid.Uint32Range(1, 1<<rapid.IntRange(0, 22).Draw(t, "gap"))
		tf := rapid.Uint32Range(1, 1<<rapid.IntRange(0, 31).Draw(t, "tf"))
		var docs, tfs []uint32
		doc := rapid.Uint32Range(0, 1<<20).Draw(t, "first")
		for range n {
			docs, tfs = append(docs, doc), append(tfs, tf.Draw(t, "tf"))
			doc += gap.Draw(t, "gap")
		}
		check := func(what string, b postingBlock) {
			t.Helper()
			var d, f [postingBlockSize + 1]uint32
			if k := b.Decode(&d, &f); !slices.Equal(d[:k], docs) || !slices.Equal(f[:k], tfs) {
				t.Fatalf("%s: %v %v is read as %v %v", what, docs, tfs, d[:k], f[:k])
			}
		}
		b := encode(docs, tfs, func(docID, uint32) float32 { return 0 })
		check("encoded", b)
		packed := postingBlock{First: docID(docs[0]), Last: b.Last, N: b.N, Packed: true, Data: pack(nil, docs, tfs)}
		check("packed", packed)
		loose := packed
		loose.loosen()
		check("loosened", loose)
		loose.settle()
		check("settled", loose)

		short := packed
		short.Data = packed.Data[:rapid.IntRange(0, len(packed.Data)-1).Draw(t, "left"):len(packed.Data)]
		short.Data = slices.Clip(slices.Clone(short.Data))
		func() {
			defer func() { _ = recover() }()
			var d, f [postingBlockSize + 1]uint32
			short.Decode(&d, &f)
		}()
	})
}

// BenchmarkUnpack reads full blocks of words that stand in every twentieth note, so
// many that no processor learns them by heart.
func BenchmarkUnpack(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	forms := map[string][]postingBlock{}
	for range 2000 {
		var docs, tfs []uint32
		doc := uint32(0)
		for range postingBlockSize {
			doc += 1 + uint32(rng.ExpFloat64()*20)
			docs, tfs = append(docs, doc), append(tfs, 1+uint32(rng.ExpFloat64()/1.2))
		}
		full := encode(docs, tfs, func(docID, uint32) float32 { return 0 })
		loose := full
		loose.loosen()
		forms["packed"], forms["loose"] = append(forms["packed"], full), append(forms["loose"], loose)
	}
	for name, list := range forms {
		b.Run(name, func(b *testing.B) {
			var d, f [postingBlockSize + 1]uint32
			i, size := 0, 0
			for b.Loop() {
				list[i%len(list)].Decode(&d, &f)
				size += len(list[i%len(list)].Data)
				i++
			}
			b.ReportMetric(float64(size)/float64(i), "bytes")
		})
	}
}

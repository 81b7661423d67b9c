package lexical_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/search/lexical"
	"github.com/ctxd/ctxd/context/search/notedoc"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// largeWrite is how much text a call can bring.
const largeWrite = 14_500_000

// BenchmarkLargeWrite writes as much text as a call can bring, in scripts that are split in
// different ways, and says how long the part of the index in the commit takes (turn-ms),
// how long another writer waits at most for a small note meanwhile (other-ms), and how long
// the write takes as a whole. In no script shall it be more than five times what it is in
// English.
func BenchmarkLargeWrite(b *testing.B) {
	for _, c := range []struct{ name, said string }{
		{"english", "The beekeepers weighed their hives in the evening and wrote the figures down, because a colony that grows lighter in spring may starve."},
		{"hindi", "मधुमक्खी पालकों ने शाम को अपने छत्तों का वज़न किया और आँकड़े लिख लिए, क्योंकि वसंत में हल्का होने वाला छत्ता भूखा रह सकता है।"},
		{"thai", "คนเลี้ยงผึ้งชั่งน้ำหนักรังผึ้งในตอนเย็นและจดตัวเลขไว้ เพราะรังที่เบาลงในฤดูใบไม้ผลิอาจอดอาหารได้"},
		{"chinese", "养蜂人在傍晚称了蜂箱的重量，并记下了数字，因为春天变轻的蜂群可能会饿死。"},
		{"korean", "양봉가들은 저녁에 벌통의 무게를 재고 숫자를 적어 두었다. 봄에 가벼워지는 봉군은 굶을 수 있기 때문이다."},
	} {
		for _, notes := range []int{4, 500} {
			b.Run(fmt.Sprintf("%s/%d", c.name, notes), func(b *testing.B) { benchLargeWrite(b, c.said, notes) })
		}
	}
}

func benchLargeWrite(b *testing.B, said string, count int) {
	var turn, other, whole time.Duration
	for b.Loop() {
		b.StopTimer()
		drafts := largeDrafts(said, count)
		ctx := context.Background()
		db, err := kv.Open(kv.InMemory, kv.Options{Format: 2, SnapshotAfter: -1})
		if err != nil {
			b.Fatal(err)
		}
		ents, err := entities.Open(db, entities.Options{})
		if err != nil {
			b.Fatal(err)
		}
		ns, err := notes.Open(db, ents, notes.Options{})
		if err != nil {
			b.Fatal(err)
		}
		accepted := make(chan struct{}, 1)
		db.OnPrepare(func(cs *kv.ChangeSet) {
			if len(cs.Changes) == count {
				accepted <- struct{}{}
			}
		})
		var began time.Time
		db.OnCommit(func(*kv.ChangeSet) { began = time.Now() })
		lexical.Open(db, notedoc.New(ns, notedoc.Options{}), lexical.Options{})
		db.OnCommit(func(cs *kv.ChangeSet) {
			if len(cs.Changes) == count {
				turn += time.Since(began)
			}
		})
		b.StartTimer()
		start := time.Now()
		done := make(chan error, 1)
		go func() {
			_, err := ns.PutMany(ctx, drafts)
			done <- err
		}()
		<-accepted
		asked := time.Now()
		_, err = ns.Put(ctx, notes.Draft{Body: "A small note."}, nil)
		other += time.Since(asked)
		if err != nil {
			b.Fatal(err)
		}
		err = <-done
		if err != nil {
			b.Fatal(err)
		}
		whole += time.Since(start)
		b.StopTimer()
		err = db.Close()
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	perLoop := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / float64(b.N) }
	b.ReportMetric(perLoop(turn), "turn-ms")
	b.ReportMetric(perLoop(other), "other-ms")
	b.ReportMetric(perLoop(whole), "write-ms")
}

// largeDrafts are so many notes out of the words of a sentence, or of its characters where
// it has no blanks.
func largeDrafts(said string, count int) (drafts []notes.Draft) {
	blank := " "
	words := strings.Fields(said)
	if len(words) < 8 {
		words, blank = strings.Split(said, ""), ""
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range count {
		var body strings.Builder
		fmt.Fprintf(&body, "# Note %d\n\n", i)
		for body.Len() < largeWrite/count {
			body.WriteString(words[r.IntN(len(words))] + blank)
		}
		drafts = append(drafts, notes.Draft{ID: fmt.Sprint("n", i), Body: body.String()})
	}
	return drafts
}

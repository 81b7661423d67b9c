package learn_test

import (
	"testing"

	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/context/search"
)

func judge(older, newer string, like float64) learn.Judgement {
	return learn.JudgePair(learn.ReadStatement(older), learn.ReadStatement(newer), like)
}

func TestMEM59_NothingIsMergedThatSaysMore(t *testing.T) {
	for _, c := range []struct {
		older, newer string
		want         learn.Verdict
	}{
		{"I eat meat.", "I do not eat meat.", learn.VerdictContradiction},
		{"I have 25 days of leave.", "I have 28 days of leave.", learn.VerdictContradiction},
		{"Tom lent money to Anna.", "Anna lent money to Tom.", learn.VerdictUnsure},
		{"I drink coffee.", "I drink coffee only at weekends.", learn.VerdictBoth},
		{"I prefer tea.", "I prefer tea.", learn.VerdictDuplicate},
		{"Ida's passport is in the drawer.", "My passport is in the drawer.", learn.VerdictUnsure},
		{"I like tea.", "I now like coffee too.", learn.VerdictBoth},
		{"I don't hate loud bars.", "I like loud bars.", learn.VerdictUnsure},
		{"", "", learn.VerdictUnsure},
		{"…", "?", learn.VerdictUnsure},
	} {
		if got := judge(c.older, c.newer, 1); got.Verdict != c.want {
			t.Errorf("%q and %q are %s (%s), want %s", c.older, c.newer, got.Verdict, got.Why, c.want)
		}
	}
}

func TestMEM58_StatementsOfOneTopicAreCompared(t *testing.T) {
	topics := func(s string) string {
		list := learn.ReadStatement(s).Topics()
		if len(list) == 0 {
			return ""
		}
		return list[0]
	}
	for _, same := range [][2]string{
		{"I live in Leeds.", "I moved to York."},
		{"Ich wohne in Leipzig.", "Ich bin nach Dresden umgezogen."},
		{"My sister lives in Oslo.", "My sister moved to Bergen."},
		{"J'habite à Lyon.", "J'ai déménagé à Nantes."},
	} {
		if a, b := topics(same[0]), topics(same[1]); a != b || a == "" {
			t.Errorf("%q is of %q, and %q of %q", same[0], a, same[1], b)
		}
	}
	if a, b := topics("I live in Leeds."), topics("My sister lives in Oslo."); a == b {
		t.Errorf("both are of %q", a)
	}
	if got := judge("I live in Leeds.", "I moved to York.", 0); got.Verdict != learn.VerdictUpdate {
		t.Errorf("%+v", got)
	}
}

func TestMEM58_LevelsOfAModelThatWasNotMeasured(t *testing.T) {
	if search.LevelsOf("nobody's") != search.LevelsOf(search.BuiltInModel) {
		t.Error("it has other levels than the built-in one")
	}
	l := search.LevelsOf(search.BuiltInModel)
	for _, like := range []float64{0, 0.25, 1} {
		if got := l.Likeness(l.Cosine(like)); got < like-1e-9 || got > like+1e-9 {
			t.Errorf("%v became %v", like, got)
		}
	}
	if l.Likeness(-1) != 0 || l.Likeness(1) != 1 {
		t.Error("it is not between 0 and 1")
	}
}

func FuzzJudge(f *testing.F) {
	f.Add("I can't stand 2 loud restaurants", "Ich hasse laute Restaurants, l'été", 0.9)
	f.Add("Ida's is in the", "my on @ ''n't", 0.2)
	f.Fuzz(func(t *testing.T, a, b string, like float64) {
		ab, ba := judge(a, b, like), judge(b, a, like)
		if (ab.Verdict == learn.VerdictDuplicate) != (ba.Verdict == learn.VerdictDuplicate) {
			t.Errorf("%s one way, %s the other", ab.Verdict, ba.Verdict)
		}
		if same := judge(a, a, like); same.Verdict == learn.VerdictContradiction || same.Verdict == learn.VerdictUpdate {
			t.Errorf("it is a %s of itself: %s", same.Verdict, same.Why)
		}
		if ab.Why == "" || ab.Differs == nil {
			t.Errorf("%+v", ab)
		}
	})
}

package doctor

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/cmd/ctxd/inspect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func TestSRCH12_DoctorJudgesTheFilesOfTheIndexes(t *testing.T) {
	now, before := embed.Model{Name: "new", Dims: 3, SHA256: "a"}, embed.Model{Name: "old", Dims: 3, SHA256: "b"}
	daemon := &inspect.IndexView{}
	daemon.Index.Meanings.Model = &protocol.VectorModel{Name: "new", Dims: 3, SHA256: "a"}
	words := search.File{Name: "words", Kind: search.KindWords, Notes: 2, Seq: 7}
	vectors := func(name, kind string, m *embed.Model, wrong string) search.File {
		return search.File{Name: name, Kind: kind, Model: m, Vectors: 4, Notes: 2, Wrong: wrong}
	}
	damaged := words
	damaged.Wrong = "a part of it is damaged"
	for name, c := range map[string]struct {
		files  []search.File
		seq    uint64
		served *inspect.IndexView
		state  string
		found  string // the beginning
		hint   string
	}{
		"sound":                     {[]search.File{words, vectors("vectors-1", "vectors", &now, "")}, 7, nil, stateOK, "", ""},
		"behind the store":          {[]search.File{words}, 900, nil, stateOK, "", ""},
		"later than the store":      {[]search.File{words}, 6, nil, stateWarning, "the index of words is newer", "nothing is lost"},
		"a store nobody could read": {[]search.File{words}, 0, nil, stateOK, "", ""},
		"damaged":                   {[]search.File{damaged}, 7, nil, stateWarning, "a file is damaged: words, a part of it", "nothing is lost"},
		"damaged beside a daemon":   {[]search.File{damaged}, 7, daemon, stateWarning, "a file is damaged: words", hintReindex},
		"just being written":        {[]search.File{vectors("vectors-1", "vectors", &now, "8 bytes of it are damaged")}, 7, daemon, stateOK, "", ""},
		"left over":                 {[]search.File{vectors("vectors-0", "vectors", &before, ""), vectors("vectors-1", "vectors", &now, "")}, 7, daemon, stateWarning, "vectors of an earlier model remain: vectors-0", "ctxd stop"},
		"another model is made":     {[]search.File{vectors("vectors-0.part", "building", &before, ""), vectors("vectors-1", "vectors", &now, "")}, 7, daemon, stateOK, "", ""},
		"two without a daemon":      {[]search.File{vectors("vectors-0", "vectors", &before, ""), vectors("vectors-1", "vectors", &now, "")}, 7, nil, stateOK, "", ""},
		"worst first":               {[]search.File{{Name: "words.tmp", Kind: search.KindUnfinished}, damaged}, 7, nil, stateWarning, "a file is damaged", "nothing is lost"},
	} {
		got := &checkup{State: stateOK}
		got.judgeFiles("index", c.files, c.seq, c.served)
		if got.State != c.state || !strings.HasPrefix(got.Found, c.found) || c.found == "" && got.Found != "" || !strings.HasPrefix(got.Hint, c.hint) || len(got.More) != len(c.files) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestSRCH24_WatchEndsWhenNothingIsLeft(t *testing.T) {
	whole := func() *inspect.IndexView {
		v := &inspect.IndexView{Health: protocol.IndexHealth{Ready: true}, Embedder: protocol.EmbedderInfo{Kind: "builtin", Name: "m", Dims: 3}}
		v.Index.Words.Notes, v.Index.Meanings.Notes = 5, 5
		v.Index.Meanings.Model = &protocol.VectorModel{Name: "m", Dims: 3}
		return v
	}
	for name, c := range map[string]struct {
		change func(v *inspect.IndexView)
		over   bool
	}{
		"whole":                      {func(*inspect.IndexView) {}, true},
		"words wait":                 {func(v *inspect.IndexView) { v.Index.Words.Waiting = 1 }, false},
		"not ready":                  {func(v *inspect.IndexView) { v.Health.Ready = false }, false},
		"vectors wait":               {func(v *inspect.IndexView) { v.Index.Meanings.Waiting = 1 }, false},
		"another model is made":      {func(v *inspect.IndexView) { v.Index.Meanings.Building = &protocol.VectorsAnew{} }, false},
		"the model is not known yet": {func(v *inspect.IndexView) { v.Embedder.Name, v.Embedder.Dims = "", 0 }, false},
		"vectors of another model":   {func(v *inspect.IndexView) { v.Index.Meanings.Model.Dims = 4 }, false},
		"no vectors yet":             {func(v *inspect.IndexView) { v.Index.Meanings.Model = nil }, false},
		"no embedder": {func(v *inspect.IndexView) {
			v.Embedder, v.Index.Meanings = protocol.EmbedderInfo{}, protocol.MeaningStats{Waiting: 3}
		}, true},
		"no notes": {func(v *inspect.IndexView) {
			v.Index.Words.Notes, v.Index.Meanings, v.Embedder.Name = 0, protocol.MeaningStats{}, ""
		}, true},
	} {
		v := whole()
		c.change(v)
		if v.Settled() != c.over {
			t.Errorf("%s: settled is %t", name, !c.over)
		}
	}
}

func TestOverwritten_TakesThePlaceOfTheViewBefore(t *testing.T) {
	var out bytes.Buffer
	o := &term.Overwritten{Screen: &term.Screen{Writer: &out, Terminal: true, Width: 80}}
	show := func(lines ...string) string {
		out.Reset()
		err := o.Draw(func(s *term.Screen) {
			for _, l := range lines {
				s.Say(term.Text(l))
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if got := show("one", "two"); got != "\rone\x1b[K\n\rtwo\x1b[K\n\x1b[J" {
		t.Errorf("%q", got)
	}
	if got := show("three"); got != "\x1b[2A\rthree\x1b[K\n\x1b[J" {
		t.Errorf("%q", got)
	}
	if got := show("four", "five"); !strings.HasPrefix(got, "\x1b[1A\rfour") {
		t.Errorf("%q", got)
	}
}

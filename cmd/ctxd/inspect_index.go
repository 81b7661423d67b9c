package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type inspectIndexCmd struct {
	Watch bool `short:"w" help:"Follow it until every note is in both indexes; Ctrl-C ends it before."`
}

func (inspectIndexCmd) Help() string {
	return "Two indexes find notes: one of their words, which has a note as soon as it is stored, and one of their meaning, " +
		"for which an embedder makes a vector of each part of a note in the background. This shows how far they are, what they take, and what is left out."
}

func (inspectIndexCmd) Examples() []example {
	return []example{
		{"ctxd inspect index", "how far the indexes are"},
		{"ctxd inspect index --watch", "until they are complete"},
		{"ctxd inspect index --json | jq .index.queue", "notes that wait for their vectors"},
	}
}

// indexView is how the indexes stand at one time.
type indexView struct {
	Health   protocol.IndexHealth  `json:"health"`
	Index    protocol.IndexStats   `json:"index"`
	Embedder protocol.EmbedderInfo `json:"embedder"`
}

func (c *inspectIndexCmd) Run(a *app) error {
	return a.with(func(cl *client.Client) error {
		if !c.Watch {
			v, err := readIndex(a.ctx, cl)
			if err != nil {
				return err
			}
			return v.show(a)
		}
		return c.watch(a, cl)
	})
}

// readIndex asks the daemon.
func readIndex(ctx context.Context, cl *client.Client) (*indexView, error) {
	var h protocol.Health
	if err := cl.Call(ctx, "admin.health", nil, &h); err != nil {
		return nil, err
	}
	var stats protocol.Stats
	if err := cl.Call(ctx, "admin.stats", nil, &stats); err != nil {
		return nil, err
	}
	return &indexView{Health: h.Index, Index: stats.Index, Embedder: h.Embedder}, nil
}

// watch shows how far the indexes are until they are complete. On a terminal a
// view takes the place of the one before, and the last one stays; elsewhere there
// is a line for each change, and the view at the end.
func (c *inspectIndexCmd) watch(a *app, cl *client.Client) error {
	frame, last := &overwritten{screen: a.out}, ""
	tick := time.NewTicker(watchPace)
	defer tick.Stop()
	for {
		v, err := readIndex(a.ctx, cl)
		if a.ctx.Err() != nil {
			return nil // the user has seen enough
		}
		if err != nil {
			return a.lost(cl, err)
		}
		over := v.settled()
		switch {
		case a.JSON:
			err = a.out.json(v)
		case a.out.terminal:
			err = frame.draw(v.draw)
		case over:
			v.draw(a.out)
		case v.line() != last:
			last = v.line()
			a.out.say(text(last))
		}
		if err = errors.Join(err, a.out.flush()); err != nil || over {
			return err
		}
		select {
		case <-tick.C:
		case <-a.ctx.Done():
			return nil
		}
	}
}

// line says in one line how far the indexes are.
func (v *indexView) line() string {
	w, m := &v.Index.Words, &v.Index.Meanings
	l := fmt.Sprintf("words %s of %s, meaning %s of %s", number(w.Notes), number(w.Notes+w.Waiting), number(m.Notes), number(m.Notes+m.Waiting))
	if b := m.Building; b != nil {
		l += fmt.Sprintf(", %s %s of %s", b.Model.Name, number(b.Done), number(b.Total))
	}
	if m.LastError != "" {
		l += "; " + m.LastError
	}
	return l
}

const watchPace = 250 * time.Millisecond

// settled reports whether nothing is left to wait for.
func (v *indexView) settled() bool {
	i := &v.Index
	return v.Health.Ready && i.Words.Waiting == 0 && (v.Embedder.Kind == "" || v.agreed() && i.Meanings.Waiting == 0 && i.Meanings.Building == nil)
}

// agreed reports whether the vectors are of the model that the embedder has. It is
// asked for it some time after the start.
func (v *indexView) agreed() bool {
	m := v.Index.Meanings.Model
	return v.Index.Words.Notes == 0 || m != nil && m.Name == v.Embedder.Name && m.Dims == v.Embedder.Dims
}

func (v *indexView) show(a *app) error {
	if a.JSON {
		return a.out.json(v)
	}
	v.draw(a.out)
	return nil
}

func (v *indexView) draw(s *screen) {
	v.drawWords(s)
	v.drawMeanings(s)
}

// indexState says how far an index is.
func indexState(whole bool, why string) span {
	switch {
	case whole:
		return styled(good, "complete")
	case why != "":
		return styled(bad, "held up")
	}
	return styled(warn, "being made")
}

func (v *indexView) drawWords(s *screen) {
	w := &v.Index.Words
	s.say(styled(strong, "Words  "), indexState(w.Waiting == 0, ""))
	drawShare(s, w.Notes, w.Notes+w.Waiting)
	f := &facts{table{indent: 2}}
	f.addf("notes", "%s, archived ones included", number(w.Notes))
	f.addf("terms", "%s, in %s", number(w.Terms), count(w.Postings, "posting"))
	f.addf("memory", "%s", size(w.MemoryBytes))
	file := "not written yet"
	if w.DiskBytes > 0 {
		file = size(w.DiskBytes)
		if w.Unsaved > 0 {
			file += fmt.Sprintf(", without %s that changed since", count(w.Unsaved, "note"))
		}
	}
	f.add("file", file)
	f.add("started", startedInWords(w))
	f.draw(s)
}

// startedInWords says what the start of the daemon did with the file of the words.
func startedInWords(w *protocol.WordStats) string {
	switch {
	case w.Anew != "":
		return "made anew; its file was of no use: " + w.Anew
	case w.Kept == 0 && w.Differed == 0:
		return ""
	case w.Differed == 0:
		return "from its file"
	}
	return fmt.Sprintf("from its file, and %s that changed after it was written", count(w.Differed, "note"))
}

func (v *indexView) drawMeanings(s *screen) {
	m, e := &v.Index.Meanings, &v.Embedder
	if e.Kind == "" && m.Model == nil {
		s.heading("Meaning  ", styled(faint, "none: no embedder is configured"))
		return
	}
	s.heading("Meaning  ", indexState(m.Waiting == 0 && (m.Model != nil || v.Index.Words.Notes == 0), firstOf(m.LastError, e.Why)))
	drawShare(s, m.Notes, m.Notes+m.Waiting)
	f := &facts{table{indent: 2}}
	f.add("embedder", embedderInWords(e))
	if e.Kind == embedderBuiltin {
		f.add("instead", e.Why)
	} else {
		f.add("failed", e.Why)
	}
	if m.Model != nil && (m.Model.Name != e.Name || m.Model.Dims != e.Dims) {
		f.addf("model", "%s, %d dimensions", m.Model.Name, m.Model.Dims)
	}
	f.addf("notes", "%s, %s", number(m.Notes), count(m.Vectors, "vector"))
	f.addf("memory", "%s", size(m.MemoryBytes))
	disk := size(m.DiskBytes)
	if m.DeadBytes > 0 {
		disk += fmt.Sprintf(", %s of it of no use any more", size(m.DeadBytes))
	}
	f.add("files", disk)
	v.addQueue(f)
	f.draw(s)
	if b := m.Building; b != nil {
		s.say(styled(faint, "  next  "), text(fmt.Sprintf("%s, %d dimensions, takes over when it is complete", b.Model.Name, b.Model.Dims)))
		drawShare(s, b.Done, b.Total)
	}
}

// addQueue says what waits, and what is left out.
func (v *indexView) addQueue(f *facts) {
	m := &v.Index.Meanings
	if m.Waiting > 0 {
		f.addf("queue", "%s, the oldest for %s", count(m.Waiting, "note"), millis(float64(m.OldestMS)))
	}
	if m.RatePerSecond > 0 {
		f.addf("rate", "%s texts a second; %s made and %s known already since the start", number(int(m.RatePerSecond+0.5)), number(m.Embedded), number(m.Reused))
	}
	if m.LastError != "" {
		again := ""
		if m.RetryMS > 0 {
			again = "; tried again in " + millis(float64(m.RetryMS))
		}
		f.add("trouble", m.LastError+again)
	}
	if m.HeldBack > 0 {
		f.addf("held back", "%s, kept from a model on another machine", count(m.HeldBack, "private note"))
	}
	if m.Refused > 0 {
		f.addf("refused", "%s by the embedder, until they change", count(m.Refused, "note"))
	}
}

// embedderInWords says what makes vectors, and on what.
func embedderInWords(e *protocol.EmbedderInfo) string {
	if e.Kind == "" {
		return "none: notes are found by their words alone"
	}
	out := e.Kind
	if e.Name != "" {
		out = fmt.Sprintf("%s: %s, %d dimensions", e.Kind, e.Name, e.Dims)
	}
	if e.Device != "" {
		out += ", on " + e.Device
	}
	if e.Layers > 0 {
		out += fmt.Sprintf(", %d of %d layers on the GPU", e.OffloadedLayers, e.Layers)
	}
	if e.Remote {
		out += ", another machine"
	}
	switch e.State {
	case "idle":
		out += "; starts when it is asked"
	case "starting", "failed":
		out += "; " + e.State
	}
	if e.Restarts > 0 {
		out += fmt.Sprintf("; started again %s", count(e.Restarts, "time"))
	}
	return out
}

// drawShare draws how much of a whole is done, nothing when all is.
func drawShare(s *screen, done, total int) {
	if done >= total {
		return
	}
	width := max(minBar, min(barWidth, s.columns()-budgetTexts))
	l := bar(done, total, width)
	l[0].style = accent // being nearly done is no reason to warn
	s.say(append(append(line{text("  ")}, l...), text(fmt.Sprintf("  %s of %s", number(done), number(total))))...)
}

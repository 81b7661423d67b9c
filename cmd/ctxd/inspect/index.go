package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/page"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type indexCmd struct {
	Watch bool `short:"w" help:"Show progress until every note is in both indexes, or until Ctrl-C."`
}

func (indexCmd) Help() string {
	return "Notes are in two indexes: " +
		"one of words, which has a note as soon as it is stored, and one of vectors, which an embedder makes of " +
		"each part of a note in the background. Memories have two of their own, and so have messages. " +
		"This shows the progress and size of both, and which notes are missing."
}

func (indexCmd) Examples() []term.Example {
	return []term.Example{
		{"ctxd inspect index", "progress and size of the indexes"},
		{"ctxd inspect index --watch", "progress until they are complete"},
		{"ctxd inspect index --json | jq .index.queue", "notes that wait for their vectors"},
	}
}

// IndexView is how the indexes stand at one time.
type IndexView struct {
	Health   protocol.IndexHealth  `json:"health"`
	Index    protocol.IndexStats   `json:"index"`
	Embedder protocol.EmbedderInfo `json:"embedder"`
}

func (c *indexCmd) Run(a *Options) error {
	return a.With(func(cl *client.Client) error {
		if !c.Watch {
			v, err := ReadIndex(a.Ctx, cl)
			if err != nil {
				return err
			}
			return v.show(a)
		}
		return c.watch(a, cl)
	})
}

// ReadIndex asks the daemon.
func ReadIndex(ctx context.Context, cl *client.Client) (*IndexView, error) {
	var h protocol.Health
	if err := cl.Call(ctx, "admin.health", nil, &h); err != nil {
		return nil, err
	}
	var stats protocol.Stats
	if err := cl.Call(ctx, "admin.stats", nil, &stats); err != nil {
		return nil, err
	}
	return &IndexView{Health: h.Index, Index: stats.Index, Embedder: h.Embedder}, nil
}

// watch shows how far the indexes are until they are complete. On a terminal a
// view takes the place of the one before, and the last one stays; elsewhere there
// is a line for each change, and the view at the end.
func (c *indexCmd) watch(a *Options, cl *client.Client) error {
	frame, last := &term.Overwritten{Screen: a.Out}, ""
	tick := time.NewTicker(watchPace)
	defer tick.Stop()
	for {
		v, err := ReadIndex(a.Ctx, cl)
		if a.Ctx.Err() != nil {
			return nil // the user has seen enough
		}
		if err != nil {
			return a.Lost(cl, err)
		}
		over := v.Settled()
		switch {
		case a.JSON:
			err = a.Out.JSON(v)
		case a.Out.Terminal:
			err = frame.Draw(v.draw)
		case over:
			v.draw(a.Out)
		case v.line() != last:
			last = v.line()
			a.Out.Say(term.Text(last))
		}
		err = errors.Join(err, a.Out.Flush())
		if err != nil || over {
			return err
		}
		select {
		case <-tick.C:
		case <-a.Ctx.Done():
			return nil
		}
	}
}

// line says in one line how far the indexes are.
func (v *IndexView) line() string {
	w, m := &v.Index.Words, &v.Index.Meanings
	l := fmt.Sprintf("words %s of %s, meaning %s of %s", term.Number(w.Notes), term.Number(w.Notes+w.Waiting),
		term.Number(m.Notes), term.Number(m.Notes+m.Waiting))
	if b := m.Building; b != nil {
		l += fmt.Sprintf(", %s %s of %s", b.Model.Name, term.Number(b.Done), term.Number(b.Total))
	}
	if m.LastError != "" {
		l += "; " + m.LastError
	}
	return l
}

const watchPace = 250 * time.Millisecond

// Settled reports whether nothing is left to wait for.
func (v *IndexView) Settled() bool {
	i := &v.Index
	return v.Health.Ready && i.Words.Waiting == 0 &&
		!slices.ContainsFunc(i.Others, func(o protocol.OtherIndex) bool { return o.Waiting+v.queued(&o) > 0 }) &&
		(i.Tokens == nil || i.Tokens.Waiting == 0) &&
		(v.Embedder.Kind == "" || v.agreed() && i.Meanings.Waiting == 0 && i.Meanings.Building == nil)
}

// agreed reports whether the vectors are of the model that the embedder has. It is
// asked for it some time after the start.
func (v *IndexView) agreed() bool {
	m := v.Index.Meanings.Model
	return v.Index.Words.Notes == 0 || m != nil && m.Name == v.Embedder.Name && m.Dims == v.Embedder.Dims
}

func (v *IndexView) show(a *Options) error {
	if a.JSON {
		return a.Out.JSON(v)
	}
	v.draw(a.Out)
	return nil
}

func (v *IndexView) draw(s *term.Screen) {
	v.drawWords(s)
	v.drawMeanings(s)
	v.drawTokens(s)
	for i := range v.Index.Others {
		if o := &v.Index.Others[i]; o.Documents+o.Waiting > 0 {
			v.drawOther(s, o)
		}
	}
}

// queued is how many documents of another index wait for vectors that can be made.
func (v *IndexView) queued(o *protocol.OtherIndex) int {
	if v.Embedder.Kind == "" {
		return 0
	}
	return o.Queue
}

// drawOther shows the index of documents that are no notes.
func (v *IndexView) drawOther(s *term.Screen, o *protocol.OtherIndex) {
	queued := v.queued(o)
	s.Heading(strings.ToUpper(o.Kind[:1])+o.Kind[1:]+"  ", indexState(o.Waiting+queued == 0, o.LastError))
	drawShare(s, o.Documents, o.Documents+o.Waiting)
	f := &term.Facts{Table: term.Table{Indent: 2}}
	f.Addf("by words", "%s", term.Number(o.Documents))
	f.Addf("by meaning", "%s, %s", term.Number(max(0, o.Documents-o.Queue-o.HeldBack-o.Refused)),
		term.Count(o.Vectors, "vector"))
	f.Addf("memory", "%s", term.Size(o.MemoryBytes))
	f.Addf("files", "%s", term.Size(o.DiskBytes))
	if queued > 0 {
		f.Addf("queue", "%s", term.Number(queued))
	}
	f.Add("trouble", o.LastError)
	if o.HeldBack > 0 {
		f.Addf("held back", "%s private ones, kept from a model on another machine", term.Number(o.HeldBack))
	}
	if o.Refused > 0 {
		f.Addf("refused", "%s by the embedder; it tries again when they change", term.Number(o.Refused))
	}
	f.Draw(s)
}

// indexState says how far an index is.
func indexState(whole bool, why string) term.Span {
	switch {
	case whole:
		return term.Styled(term.Good, "complete")
	case why != "":
		return term.Styled(term.Bad, "held up")
	}
	return term.Styled(term.Warn, "being made")
}

func (v *IndexView) drawWords(s *term.Screen) {
	w := &v.Index.Words
	s.Say(term.Styled(term.Strong, "Words  "), indexState(w.Waiting == 0, ""))
	drawShare(s, w.Notes, w.Notes+w.Waiting)
	f := &term.Facts{Table: term.Table{Indent: 2}}
	f.Addf("notes", "%s, archived ones included", term.Number(w.Notes))
	f.Addf("terms", "%s, in %s", term.Number(w.Terms), term.Count(w.Postings, "posting"))
	f.Addf("memory", "%s", term.Size(w.MemoryBytes))
	file := "not written yet"
	if w.DiskBytes > 0 {
		file = term.Size(w.DiskBytes)
		if w.Unsaved > 0 {
			file += fmt.Sprintf(", without %s that changed since", term.Count(w.Unsaved, "note"))
		}
	}
	f.Add("file", file)
	f.Add("started", StartedInWords(w))
	f.Draw(s)
}

// StartedInWords says what the start of the daemon did with the file of the words.
func StartedInWords(w *protocol.WordStats) string {
	switch {
	case w.Anew != "":
		return "rebuilt; its file could not be used: " + w.Anew
	case w.Kept == 0 && w.Differed == 0:
		return ""
	case w.Differed == 0:
		return "from its file"
	}
	return fmt.Sprintf("from its file, plus %s that changed after it was written", term.Count(w.Differed, "note"))
}

func (v *IndexView) drawMeanings(s *term.Screen) {
	m, e := &v.Index.Meanings, &v.Embedder
	if e.Kind == "" && m.Model == nil {
		s.Heading("Meaning  ", term.Styled(term.Faint, "none: no embedder is configured"))
		return
	}
	s.Heading("Meaning  ", indexState(m.Waiting == 0 && (m.Model != nil || v.Index.Words.Notes == 0),
		cmp.Or(m.LastError, e.Why)))
	drawShare(s, m.Notes, m.Notes+m.Waiting)
	f := &term.Facts{Table: term.Table{Indent: 2}}
	f.Add("embedder", embedderInWords(e))
	if e.Kind == string(embed.KindBuiltin) {
		f.Add("instead", e.Why)
	} else {
		f.Add("failed", e.Why)
	}
	if m.Model != nil && (m.Model.Name != e.Name || m.Model.Dims != e.Dims) {
		f.Addf("model", "%s, %d dimensions", m.Model.Name, m.Model.Dims)
	}
	f.Addf("notes", "%s, %s", term.Number(m.Notes), term.Count(m.Vectors, "vector"))
	f.Addf("memory", "%s", term.Size(m.MemoryBytes))
	disk := term.Size(m.DiskBytes)
	if m.DeadBytes > 0 {
		disk += fmt.Sprintf(", %s of it no longer used", term.Size(m.DeadBytes))
	}
	f.Add("files", disk)
	v.addQueue(f)
	f.Draw(s)
	if b := m.Building; b != nil {
		s.Say(term.Styled(term.Faint, "  next  "),
			term.Text(fmt.Sprintf("%s, %d dimensions, used as soon as it is complete", b.Model.Name, b.Model.Dims)))
		drawShare(s, b.Done, b.Total)
	}
}

// drawTokens tells of the token vectors; nothing without the encoder.
func (v *IndexView) drawTokens(s *term.Screen) {
	t := v.Index.Tokens
	if t == nil {
		return
	}
	s.Heading("Tokens   ", indexState(t.Waiting == 0, t.LastError))
	drawShare(s, t.Notes, t.Notes+t.Waiting)
	f := &term.Facts{Table: term.Table{Indent: 2}}
	if t.Model != nil {
		f.Addf("encoder", "%s, %d dimensions, on %s", t.Model.Name, t.Model.Dims, t.Device)
	}
	f.Addf("notes", "%s, %s", term.Number(t.Notes), term.Count(t.Passages, "passage"))
	f.Addf("memory", "%s", term.Size(t.MemoryBytes))
	f.Addf("files", "%s", term.Size(t.DiskBytes))
	if t.Waiting > 0 {
		left := ""
		if t.LeftMS > 0 {
			left = fmt.Sprintf(", about %v left", (time.Duration(t.LeftMS) * time.Millisecond).Round(time.Second))
		}
		f.Addf("queue", "%s%s; words and vectors rank them until then", term.Count(t.Waiting, "note"), left)
	}
	if t.RatePerSecond > 0 {
		f.Addf("rate", "%.1f passages a second", t.RatePerSecond)
	}
	f.Add("trouble", t.LastError)
	f.Draw(s)
}

// addQueue says what waits, and what is left out.
func (v *IndexView) addQueue(f *term.Facts) {
	m := &v.Index.Meanings
	if m.Waiting > 0 {
		f.Addf("queue", "%s, the oldest for %s", term.Count(m.Waiting, "note"), term.Millis(float64(m.OldestMS)))
	}
	if m.RatePerSecond > 0 {
		f.Addf("rate", "%s texts a second; since the start %s embedded, %s unchanged",
			term.Number(int(m.RatePerSecond+0.5)), term.Number(m.Embedded), term.Number(m.Reused))
	}
	if m.LastError != "" {
		again := ""
		if m.RetryMS > 0 {
			again = "; next try in " + term.Millis(float64(m.RetryMS))
		}
		f.Add("trouble", m.LastError+again)
	}
	if m.HeldBack > 0 {
		f.Addf("held back", "%s, kept from a model on another machine", term.Count(m.HeldBack, "private note"))
	}
	if m.Refused > 0 {
		f.Addf("refused", "%s by the embedder; it tries again when they change", term.Count(m.Refused, "note"))
	}
}

// embedderInWords says what makes vectors, and on what.
func embedderInWords(e *protocol.EmbedderInfo) string {
	if e.Kind == "" {
		return "none: notes are found only by their words"
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
		out += "; starts when it is used"
	case "starting", "failed":
		out += "; " + e.State
	}
	if e.Restarts > 0 {
		out += fmt.Sprintf("; restarted %s", term.Count(e.Restarts, "time"))
	}
	return out
}

// rerankerInWords says what scores hits anew, and on what.
func rerankerInWords(r *protocol.RerankerInfo) string {
	out := r.Kind
	if r.Name != "" {
		out += ": " + r.Name
	}
	if r.Device != "" {
		out += ", on " + r.Device
	}
	if r.Remote {
		out += ", nothing private is sent to it"
	}
	switch r.State {
	case "idle":
		out += "; starts when it is used"
	case "starting", "failed":
		out += "; " + r.State
	}
	if r.Restarts > 0 {
		out += fmt.Sprintf("; restarted %s", term.Count(r.Restarts, "time"))
	}
	return out
}

// drawShare draws how much of a whole is done, nothing when all is.
func drawShare(s *term.Screen, done, total int) {
	if done >= total {
		return
	}
	width := max(page.MinBudgetBar, min(page.BudgetBarWidth, s.Columns()-page.BudgetTextWidth))
	l := term.Bar(done, total, width)
	l[0].Style = term.Accent // being nearly done is no reason to warn
	s.Say(append(append(term.Line{term.Text("  ")}, l...),
		term.Text(fmt.Sprintf("  %s of %s", term.Number(done), term.Number(total))))...)
}

package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/daemon"
	"github.com/ctxd/ctxd/cmd/ctxd/inspect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// hintReindex makes the indexes anew in a daemon that runs.
const hintReindex = "ctxd call admin.reindex"

// checkIndex reads the files of the indexes. Nothing is lost with them: they are
// made of the store.
func checkIndex(x *examination) (*checkup, error) {
	c := &checkup{Name: "index", State: stateOK}
	served, err := x.served()
	if err != nil {
		return nil, err
	}
	found := 0
	for _, folder := range daemon.IndexFolders {
		files, err := search.Inspect(filepath.Join(x.conf.Data, folder))
		if err != nil {
			c.State, c.Found, c.Hint = stateError, "the folder "+folder+" cannot be read: "+config.Reason(err),
				"check its permissions"
			return c, nil
		}
		found += len(files)
		c.judgeFiles(folder, files, x.storeSeq(), served)
	}
	if served != nil {
		c.judgeServed(served)
	}
	if c.Found == "" {
		c.Found = "sound"
		if found == 0 {
			c.Found = "not on disk yet; a daemon creates it"
		}
	}
	return c, nil
}

// judgeFiles says what the files of a folder hold, and what is wrong with them.
func (c *checkup) judgeFiles(folder string, files []search.File, seq uint64, served *inspect.IndexView) {
	fix := "nothing is lost: the next start rebuilds it"
	if served != nil {
		fix = hintReindex
	}
	spare := slices.ContainsFunc(files,
		func(f search.File) bool { return f.Kind == search.KindVectors && servedBy(&f, served) })
	for i := range files {
		f := &files[i]
		name, of := f.Name, "note"
		if folder != daemon.IndexFolders[0] {
			name, of = path.Join(folder, f.Name), "document"
		}
		c.More = append(c.More, name+": "+fileInWords(f, of))
		switch {
		case f.Wrong != "" && served != nil && f.Kind != search.KindWords: // a daemon just writes to it
		case f.Wrong != "":
			c.worsen(stateWarning, "a file is damaged: "+name+", "+f.Wrong, fix)
		case f.Kind == search.KindWords && seq > 0 && f.Seq > seq:
			c.worsen(stateWarning, "the index of words is newer than the store, as after restoring the folder", fix)
		case f.Kind == search.KindVectors && served != nil && spare && !servedBy(f, served):
			c.worsen(stateWarning, "vectors of an earlier model remain: "+name,
				"ctxd stop, then delete "+term.ShellQuoted(path.Join(folder, f.Name))+" in the folder of the store")
		case f.Kind == search.KindUnfinished && served == nil:
			c.worsen(stateOK, "a write was interrupted; the next start removes its temporary file", "")
		case f.Kind == search.KindUnknown:
			c.worsen(stateWarning, "its folder contains another file: "+name, "move it elsewhere")
		}
	}
}

// servedBy reports whether a file holds the vectors that a daemon searches.
func servedBy(f *search.File, v *inspect.IndexView) bool {
	if v == nil || v.Index.Meanings.Model == nil || f.Model == nil {
		return false
	}
	return protocol.VectorModel(*f.Model) == *v.Index.Meanings.Model
}

// worsen notes what was found, if nothing worse was found before.
func (c *checkup) worsen(state, found, hint string) {
	if c.Found == "" || c.State == stateOK && state != stateOK {
		c.State, c.Found, c.Hint = state, found, hint
	}
}

// fileInWords says what a file of an index of some documents holds.
func fileInWords(f *search.File, of string) string {
	bytes := term.Size(f.Bytes)
	switch f.Kind {
	case search.KindWords:
		return fmt.Sprintf("the words of %s, %s", term.Count(f.Notes, of), bytes)
	case search.KindVectors, search.KindTokens, search.KindBuilding:
		if f.Model == nil {
			return "vectors, " + bytes
		}
		parts := "vector"
		if f.Kind == search.KindTokens {
			parts = "encoded passage"
		}
		what := fmt.Sprintf("%s of %s by %s, %d dimensions, %s", term.Count(f.Vectors, parts),
			term.Count(f.Notes, of), f.Model.Name, f.Model.Dims, bytes)
		if f.Kind == search.KindBuilding {
			what += ", being made"
		}
		return what
	case search.KindUnfinished:
		return "not finished, " + bytes
	}
	return "not of ctxd, " + bytes
}

// judgeServed adds what the daemon says of its indexes.
func (c *checkup) judgeServed(v *inspect.IndexView) {
	w, m := &v.Index.Words, &v.Index.Meanings
	if w.Waiting > 0 {
		c.More = append(c.More, fmt.Sprintf("%s are not found by their words yet", term.Count(w.Waiting, "note")))
	}
	if how := inspect.StartedInWords(w); how != "" {
		c.More = append(c.More, "words: "+how)
	}
	switch {
	case m.LastError != "":
		c.worsen(stateWarning, fmt.Sprintf("%s wait for their vectors: %s", term.Count(m.Waiting, "note"), m.LastError),
			"ctxd inspect index")
	case m.Waiting > 0:
		c.More = append(c.More,
			fmt.Sprintf("%s wait for their vectors: ctxd inspect index --watch", term.Count(m.Waiting, "note")))
	}
	if m.Refused > 0 {
		c.More = append(c.More,
			fmt.Sprintf("%s were refused by the embedder, and are found by their words alone",
				term.Count(m.Refused, "note")))
	}
	if m.HeldBack > 0 {
		c.More = append(c.More,
			fmt.Sprintf("%s are kept from the embedder on another machine", term.Count(m.HeldBack, "private note")))
	}
}

// served is what the daemon of the store says of its indexes, nil when none has
// it, or the one that has does not answer; other checks say so.
func (x *examination) served() (*inspect.IndexView, error) {
	if x.store == nil || x.store.Daemon == nil || x.store.Daemon.Health == nil || !x.store.Daemon.Health.Serves() {
		return nil, nil //nolint:nilnil // there is nothing to say
	}
	ctx, cancel := context.WithTimeout(x.app.Ctx, connect.AnswerLimit)
	defer cancel()
	cl, err := client.Dial(ctx, x.store.Daemon.Socket, client.Options{Name: "ctxd-cli", Version: term.ProgramVersion()})
	if err != nil {
		return nil, x.app.Ctx.Err()
	}
	defer func() { _ = cl.Close() }() // the answer is here
	v, err := inspect.ReadIndex(ctx, cl)
	if err != nil {
		return nil, x.app.Ctx.Err()
	}
	return v, nil
}

// trialLimit is how long a trial of the embedder may take. A model is loaded in
// it.
const trialLimit = time.Minute

// trialText is what the embedder is tried with.
const trialText = "How heavy is the bridge?"

// checkEmbedder has a text embedded by the embedder of the configuration, as a
// daemon would that starts now.
func checkEmbedder(x *examination) (*checkup, error) {
	c := &checkup{Name: "embedder", State: stateOK}
	e, err := daemon.OpenEmbedder(x.conf.Embedder, slog.New(slog.DiscardHandler))
	if err != nil {
		c.State, c.Found, c.Hint = stateError, term.ExplainError(err).Message, term.ExplainError(err).Hint
		return c, nil
	}
	err = c.try(x, e)
	c.judgeTable(&x.conf.Embedder, e)
	c.judgeRunner(x.conf.Embedder, e)
	return c, errors.Join(err, e.Close())
}

// judgeTable tells whether the table of the configuration is the one that serves.
func (c *checkup) judgeTable(conf *config.Embedder, e embed.Embedder) {
	st := e.Status()
	if conf.Table == "" || st.Kind != embed.KindBuiltin || st.Why == "" {
		return
	}
	c.More = append(c.More, "the built-in table is used instead of "+conf.Table)
	if c.State == stateOK {
		c.State, c.Found = stateWarning, st.Why
		c.Hint = "make one with task model:multilingual in a clone of the repository, or correct embedding.table"
	}
}

// judgeRunner tells what the model runner needs and lacks, where one was chosen
// or a part of one is there.
func (c *checkup) judgeRunner(conf config.Embedder, e embed.Embedder) {
	if conf.Kind != embed.KindRunner && conf.Kind != config.Auto {
		return
	}
	_, parts := embed.FindRunner(daemon.RunnerOptions(&conf.Runner, nil))
	if conf.Kind == config.Auto && !slices.ContainsFunc(parts, func(p embed.RunnerPart) bool { return p.Found }) {
		return
	}
	for _, p := range parts {
		line := "runner's " + p.Name + ": " + p.What
		if p.Mend != "" {
			line += "; " + p.Mend + " makes it"
		}
		c.More = append(c.More, line)
	}
	if r, ok := e.(*embed.Runner); ok && c.State != stateOK {
		c.Hint = "rebuild it with task runner and task model, or choose another embedder"
		c.addLastWords(r.LastWords())
	}
}

// addLastWords adds the last lines that a child wrote before it failed.
func (c *checkup) addLastWords(words string) {
	if words == "" {
		return
	}
	last := strings.Split(words, "\n")
	for _, line := range last[max(0, len(last)-3):] {
		c.More = append(c.More, "its last message: "+line)
	}
}

// try times two texts: the first may have to load the model.
func (c *checkup) try(x *examination, e embed.Embedder) error {
	ctx, cancel := context.WithTimeout(x.app.Ctx, trialLimit)
	defer cancel()
	p := term.NewProgress(x.app.Err)
	p.Report("trying the embedder", 0, 0)
	defer p.Finish()
	var took [2]time.Duration
	var model embed.Model
	for i := range took {
		start := time.Now()
		m, vectors, err := e.Embed(ctx, embed.Passage, []string{trialText}) // a query does not wait for a load
		took[i], model = time.Since(start), m
		switch {
		case x.app.Ctx.Err() != nil:
			return x.app.Ctx.Err()
		case err == nil && vectors[0] == nil:
			err = fault.New(fault.Unavailable, "it returns no vector for plain English")
		case fault.KindOf(err) == fault.Deadline:
			err = fault.New(fault.Unavailable, "it did not answer within %s", trialLimit)
		}
		if err != nil {
			f := term.ExplainError(err)
			c.State, c.Found = stateError, string(e.Status().Kind)+": "+f.Message
			c.Hint = cmp.Or(f.Hint, "choose another embedder in "+x.conf.Path)
			return nil
		}
	}
	st := e.Status()
	c.Found = fmt.Sprintf("%s is ready: %s, %d dimensions", st.Kind, model.Name, model.Dims)
	if st.Device != "" {
		c.Found += ", on " + st.Device
	}
	if st.Layers > 0 {
		c.Found += fmt.Sprintf(", %d of %d layers on the GPU", st.OffloadedLayers, st.Layers)
	}
	c.More = append(c.More, fmt.Sprintf("%s a text; the first one took %s", term.Elapsed(took[1]),
		term.Elapsed(took[0])))
	if st.Remote {
		c.More = append(c.More, "texts of notes leave this machine; those of private notes never do")
	}
	return nil
}

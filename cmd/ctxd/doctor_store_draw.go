package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/kv"
)

// stateStyles are the colours of the states.
var stateStyles = map[string]style{stateOK: good, stateWarning: warn, stateError: bad}

func (d *diagnosis) draw(s *screen) {
	in := d.Store
	for _, l := range wrap(clean("The store is "+d.Verdict+"."), s.columns()) {
		s.say(styled(stateStyles[d.State], l))
	}
	s.sayWhole(labelled("folder"), text(in.Dir))
	if in.Refused == "" {
		drawWrapped(s, "holds", recordsInWords(in.Collections))
		s.say(labelled("state"), text(fmt.Sprintf("transaction %s, records of format %d", number(in.Seq), in.Format)))
		drawLines(s, "a start", recoveredInWords(in.Start))
	}
	if in.Refused != "" {
		drawWrapped(s, "a start", "is refused: "+in.Refused)
	}
	switch sv := d.Salvage; {
	case sv == nil:
	case sv.Records == 0:
		s.say(labelled("--salvage"), text("would find nothing that is intact"))
	default:
		drawWrapped(s, "--salvage", "would put together "+recordsInWords(sv.Collections))
		drawLines(s, "", recoveredInWords(sv.Start))
	}
	d.Daemon.draw(s)
	d.drawCompared(s)
	drawFiles(s, in.Files)
}

func (h *holder) draw(s *screen) {
	if h == nil {
		return
	}
	s.say(labelled("daemon"), text(fmt.Sprintf("ctxd %s has it, pid %d, up %s", h.Version, h.PID, time.Since(h.Started).Round(time.Second))))
	s.sayWhole(labelled(""), text("on "+h.Socket))
	if h.Health == nil {
		s.say(labelled(""), styled(warn, h.Silent))
		return
	}
	st := h.Health.Store
	s.say(labelled(""), styled(moods[h.Health.Status], h.Health.Status), text(fmt.Sprintf("; %s, %s, transaction %s", st.Mode, st.Durability, number(st.Seq))))
	for _, w := range h.Health.Warnings {
		drawWrapped(s, "", "! "+w)
	}
}

// drawWrapped shows a text under a name, on as many lines as it needs.
func drawWrapped(s *screen, name, value string) {
	for _, l := range wrap(clean(value), s.columns()-columns(labelled("").text)) {
		s.say(labelled(name), text(l))
		name = ""
	}
}

// drawLines shows lines under a name.
func drawLines(s *screen, name string, lines []line) {
	for _, l := range lines {
		s.say(append(line{labelled(name)}, l...)...)
		name = ""
	}
}

// conditionStyles are the colours of the conditions of a file.
var conditionStyles = map[string]style{kv.Torn: warn, kv.Damaged: bad}

func drawFiles(s *screen, files []kv.InspectedFile) {
	s.heading("Files")
	t := &table{indent: 2, head: []string{"name", "size", "holds", "condition"}, right: []int{1}, keep: []int{1, 2, 3}}
	var notes []string
	aside := false
	for i := range files {
		f := &files[i]
		condition := line{styled(conditionStyles[f.Condition], f.Condition)}
		switch {
		case f.Kind == fileAside:
			aside = true
			condition = line{styled(faint, f.Kind)}
		case f.DamagedAt > 0:
			notes = append(notes, fmt.Sprintf("%s begins to be %s at byte %s.", f.Name, f.Condition, number(f.DamagedAt)))
		}
		t.row(line{text(f.Name)}, line{text(size(f.Bytes))}, line{text(contents(f))}, condition)
	}
	t.draw(s)
	if aside {
		notes = append(notes, "What earlier starts set aside is not read again. Delete it when nothing more is to be got out of it.")
	}
	if len(notes) > 0 {
		s.say()
	}
	for _, n := range notes {
		drawPlain(s, n)
	}
}

// drawPlain shows a text on as many lines as it needs.
func drawPlain(s *screen, what string) {
	for _, l := range wrap(clean(what), s.columns()-2) {
		s.say(styled(faint, "  "+l))
	}
}

// fileAside is the kind of the files that a start has found damaged and kept.
const fileAside = "set aside"

// fileWords say what the files are that hold neither transactions nor a state.
var fileWords = map[string]string{
	"marker": "mark of the last stop", "unfinished": "not finished", "backup": "a backup", "lock": "who has the store",
}

// contents says what a file of a store is, and which transactions it holds.
func contents(f *kv.InspectedFile) string {
	if words, ok := fileWords[f.Kind]; ok {
		return words
	}
	switch {
	case strings.Contains(f.Name, "snapshot-"):
		return "state at transaction " + number(f.Last)
	case f.Intact == 0:
		return "no transaction"
	case f.Intact == 1:
		return "transaction " + number(f.Last)
	}
	return fmt.Sprintf("transactions %s to %s", number(f.First), number(f.Last))
}

func (d *diagnosis) drawCompared(s *screen) {
	c := d.Compared
	if c == nil {
		return
	}
	if c.OK {
		s.say(labelled("compared"), text("the daemon serves what is stored"), styled(faint, "  in "+millis(float64(c.MS))))
	}
	name := "compared"
	for _, f := range c.Drift {
		drawWrapped(s, name, fmt.Sprintf("%s: %s differed and put right, such as %s", f.View, count(f.Found, "record"), strings.Join(f.IDs[:min(3, len(f.IDs))], ", ")))
		name = ""
	}
}

package doctor

import (
	"fmt"
	"strings"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/inspect"
	"github.com/ctxd/ctxd/cmd/ctxd/store"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/kv"
)

// stateStyles are the colours of the states.
var stateStyles = map[string]term.Style{stateOK: term.Good, stateWarning: term.Warn, stateError: term.Bad}

func (d *diagnosis) draw(s *term.Screen) {
	in := d.Store
	for _, l := range term.Wrap(term.Clean("The store is "+d.Verdict+"."), s.Columns()) {
		s.Say(term.Styled(stateStyles[d.State], l))
	}
	s.SayWhole(term.Labelled("folder"), term.Text(in.Dir))
	if in.Refused == "" {
		term.DrawWrapped(s, "holds", store.RecordsInWords(in.Collections))
		s.Say(term.Labelled("state"),
			term.Text(fmt.Sprintf("transaction %s, records of format %d", term.Number(in.Seq), in.Format)))
		term.DrawLines(s, "a start", store.RecoveredInWords(in.Start))
	}
	if in.Refused != "" {
		term.DrawWrapped(s, "a start", "is refused: "+in.Refused)
	}
	switch sv := d.Salvage; {
	case sv == nil:
	case sv.Records == 0:
		s.Say(term.Labelled("--salvage"), term.Text("would find nothing intact"))
	default:
		term.DrawWrapped(s, "--salvage", "would recover "+store.RecordsInWords(sv.Collections))
		term.DrawLines(s, "", store.RecoveredInWords(sv.Start))
	}
	d.Daemon.draw(s)
	d.drawCompared(s)
	drawFiles(s, in.Files)
}

func (h *holder) draw(s *term.Screen) {
	if h == nil {
		return
	}
	up := h.Uptime().Round(time.Second)
	s.Say(term.Labelled("daemon"), term.Text(fmt.Sprintf("ctxd %s has it, pid %d, up %s", h.Version, h.PID, up)))
	s.SayWhole(term.Labelled(""), term.Text("on "+h.Socket))
	if h.Health == nil {
		s.Say(term.Labelled(""), term.Styled(term.Warn, h.Silent))
		return
	}
	st := h.Health.Store
	s.Say(term.Labelled(""), term.Styled(inspect.Moods[h.Health.Status], h.Health.Status),
		term.Text(fmt.Sprintf("; %s, %s, transaction %s", st.Mode, st.Durability, term.Number(st.Seq))))
	for _, w := range h.Health.Warnings {
		term.DrawWrapped(s, "", "! "+w)
	}
}

// conditionStyles are the colours of the conditions of a file.
var conditionStyles = map[string]term.Style{kv.Torn: term.Warn, kv.Damaged: term.Bad}

func drawFiles(s *term.Screen, files []kv.InspectedFile) {
	s.Heading("Files")
	t := &term.Table{
		Indent: 2, Head: []string{"name", "size", "holds", "condition"}, Right: []int{1},
		Keep: []int{1, 2, 3},
	}
	var notes []string
	aside := false
	for i := range files {
		f := &files[i]
		condition := term.Line{term.Styled(conditionStyles[f.Condition], f.Condition)}
		switch {
		case f.Kind == fileAside:
			aside = true
			condition = term.Line{term.Styled(term.Faint, f.Kind)}
		case f.DamagedAt > 0:
			notes = append(notes,
				fmt.Sprintf("%s begins to be %s at byte %s.", f.Name, f.Condition, term.Number(f.DamagedAt)))
		}
		t.Row(term.Line{term.Text(f.Name)}, term.Line{term.Text(term.Size(f.Bytes))}, term.Line{term.Text(contents(f))},
			condition)
	}
	t.Draw(s)
	if aside {
		notes = append(notes,
			"Files that earlier starts set aside are not read again. Delete them when you no longer need them.")
	}
	if len(notes) > 0 {
		s.Say()
	}
	for _, n := range notes {
		term.DrawPlain(s, n)
	}
}

// fileAside is the kind of the files that a start has found damaged and kept.
const fileAside = "set aside"

// fileWords say what the files are that hold neither transactions nor a state.
var fileWords = map[string]string{
	"marker": "marker of a clean stop", "unfinished": "not finished", "backup": "a backup", "lock": "owner of the store",
}

// contents says what a file of a store is, and which transactions it holds.
func contents(f *kv.InspectedFile) string {
	if words, ok := fileWords[f.Kind]; ok {
		return words
	}
	switch {
	case strings.Contains(f.Name, "snapshot-"):
		return "state at transaction " + term.Number(f.Last)
	case f.Intact == 0:
		return "no transaction"
	case f.Intact == 1:
		return "transaction " + term.Number(f.Last)
	}
	return fmt.Sprintf("transactions %s to %s", term.Number(f.First), term.Number(f.Last))
}

func (d *diagnosis) drawCompared(s *term.Screen) {
	c := d.Compared
	if c == nil {
		return
	}
	if c.OK {
		s.Say(term.Labelled("compared"), term.Text("the daemon serves what is stored"),
			term.Styled(term.Faint, "  in "+term.Millis(float64(c.MS))))
	}
	name := "compared"
	for _, f := range c.Drift {
		term.DrawWrapped(s, name,
			fmt.Sprintf("%s: %s differed and were repaired, such as %s", f.View, term.Count(f.Found, "record"),
				strings.Join(f.IDs[:min(3, len(f.IDs))], ", ")))
		name = ""
	}
}

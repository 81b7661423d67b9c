package gather_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/notes/markdown"
)

// found lists what a message refers to, and returns it as it is searched for.
func (w *resolverWorld) found(v *audience.View, text string) (lines []string, clean string) {
	w.Helper()
	var list []gather.FoundReference
	m := markdown.ReadMessage(text)
	for f, err := range w.refs.InMessage(w.Context(), v, &m) {
		must(w, err)
		list = append(list, f)
		line := fmt.Sprintf("%s →", f.Raw)
		switch {
		case f.Target != nil:
			line += fmt.Sprintf(" %s %s", f.Target.Type, f.Target.ID)
			for _, id := range f.Target.Memories {
				line += " " + id
			}
		case f.Err != nil:
			line += " " + failure(f.Err)
		default:
			line += fmt.Sprintf(" %q of %d", f.Name, len(f.Entities))
		}
		lines = append(lines, line)
	}
	return lines, gather.CleanMessage(text, list)
}

func TestREF7_ReferencesOfAMessage(t *testing.T) {
	w := openResolver(t)
	w.life()
	w.entity("go", "Go", false)
	w.entity("run", "Running", false)
	w.entity("twin1", "Twin", false)
	w.entity("twin2", "Twin", false)
	w.entity("long", "Health Goals Office", false)
	w.context("goplan", "Go to Market", "")
	w.context("tie", "Kim Lee", "")
	w.entity("kim", "Kim Lee", false)
	w.add(memory.Draft{ID: "alicen", Handle: "alice", Statement: "A handle that is shorter"})
	for _, c := range []struct {
		text  string
		want  string
		clean string
	}{
		{"What do @running and #2 say?", "@running → memory run run | #2 → memory sleep sleep", "What do and say?"},
		{"ask @Alice Novak now", "@Alice Novak → entity alice boss", "ask Alice Novak now"},
		{"ask @alice now", "@alice → memory alicen alicen", "ask now"},
		{"ask @[Alice Novak] now", "@[Alice Novak] → entity alice boss", "ask [Alice Novak] now"},
		{"@Go to market, @Go", "@Go to market → context goplan | @Go → entity go", ", Go"},
		{"see @health goals today", "@health goals → context health sleep run", "see today"},
		{"see @health goals office", "@health goals office → entity long", "see health goals office"},
		{"see @my_health_goals", `@my_health_goals → "my_health_goals" of 0`, "see @my_health_goals"},
		{"see (@health_goals)", "@health_goals → context health sleep run", "see"},
		{"@fitness_tag and @health_domain", "@fitness_tag → tag fitness boss run | @health_domain → domain health sleep", "and"},
		{"@Kim Lee?", "@Kim Lee → conflict entity/kim context/tie", "Kim Lee?"},
		{"@Twin?", `@Twin → "Twin" of 2`, "Twin?"},
		{"[[Kickoff|the kickoff]] #99", "[[Kickoff|the kickoff]] → note kick | #99 → not_found", "the kickoff #99"},
		{"@conv_fix_bus_1a2b_msg_1 @conv_fix_bus_1a2b_msg_9 @fix_bus_1a2b", "@conv_fix_bus_1a2b_msg_1 → conversation_message said1 | " +
			"@conv_fix_bus_1a2b_msg_9 → not_found | @fix_bus_1a2b → conversation fix fact", "@conv_fix_bus_1a2b_msg_9"},
		{"@memory:run @mem:nobody", "@memory:run → memory run run | @mem:nobody → not_found", "@mem:nobody"},
		{"ids: @kick @boss 3", `@kick → "kick" of 0 | @boss → "boss" of 0`, "ids: @kick @boss 3"},
		{"请看@running是什么", "@running → memory run run", "请看是什么"},
		{"`@running` x@running \\@running", "", "`@running` x@running \\@running"},
		{"🙂 @RUNNING", "@RUNNING → memory run run", "🙂"},
	} {
		lines, clean := w.found(w.local, c.text)
		if got := strings.Join(lines, " | "); got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.text, got, c.want)
		}
		if clean != c.clean {
			t.Errorf("%q is searched for as %q, want %q", c.text, clean, c.clean)
		}
	}
}

// TestREF7_PlacesOfAnyText follow each other, and hold what stands there.
func TestREF7_PlacesOfAnyText(t *testing.T) {
	w := openResolver(t)
	w.life()
	pieces := []string{
		"@running", "@Alice", " Novak", "@Health ", "goals", "@[Alice Novak]", "#2", "#", "[[Kickoff]]", "[[", "]]", " ", "\n", "`", "@", "语", "\\",
		"@conv_fix_bus_1a2b_msg_1", "@mem:run", ".", "(", ")", "é", "\xff", "    ", "@fitness_tag", "_", "-",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 15).Draw(t, "pieces"), "")
		end := 0
		m := markdown.ReadMessage(text)
		for f, err := range w.refs.InMessage(w.Context(), w.local, &m) {
			if err != nil || f.Start < end || f.End <= f.Start || text[f.Start:f.End] != f.Raw {
				t.Fatalf("%q: %+v behind %d: %v", text, f, end, err)
			}
			end = f.End
		}
	})
}

// TestREF9_AMessageDoesNotTell what is private: it reads as if that were not there.
func TestREF9_AMessageDoesNotTell(t *testing.T) {
	texts := []string{"@hidden one and @shh_one, #1", "@Spy @spy_person_entity @own_tag", "@Hidden", "[[Secret]]"}
	without, with := openResolver(t), openResolver(t)
	with.people()
	without.people()
	with.entity("spy", "Spy", true)
	with.put(memory.ContextDraft{ID: "hid", Name: "Hidden One", Private: true})
	with.add(memory.Draft{ID: "shh", Handle: "shh_one", Statement: "nobody knows", Private: true, Tags: []string{"own"}})
	for _, text := range texts {
		want, wantClean := without.found(without.remote, text)
		got, gotClean := with.found(with.remote, text)
		if strings.Join(got, "\n") != strings.Join(want, "\n") || gotClean != wantClean {
			t.Errorf("%q is read as\n%q %q, want\n%q %q", text, got, gotClean, want, wantClean)
		}
	}
}

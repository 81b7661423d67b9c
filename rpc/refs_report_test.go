package rpc_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc"
)

// expected is what a report has to say of memories, by their ids: "" of one that is shown, or was left out for want of room.
type expected map[string]prompt.Reason

// TestCTX32_TheReportOfReferencesIsExact assembles messages that refer to memories, with little room, and compares the
// report with a plain model of what belongs into the prompt, and each of its numbers with the text. Nothing is found by
// a search: the messages ask nothing.
func TestCTX32_TheReportOfReferencesIsExact(t *testing.T) {
	db, err := kv.Open(kv.InMemory, kv.Options{})
	must(t, err)
	defer func() { _ = db.Close() }()
	rooms, err := roomsOver(db) // once: that takes longer than all the rest
	must(t, err)
	local := rooms.Audience.View(audience.Local)
	rapid.Check(t, func(rt *rapid.T) {
		drafts := someMemories(rt)
		added, err := rooms.Memory.Add(t.Context(), local, drafts)
		must(t, err)
		group, err := rooms.Memory.PutContext(t.Context(), local, memory.ContextDraft{Name: "Some Group"}, nil)
		must(t, err)
		defer func() {
			for _, d := range drafts {
				must(t, rooms.Memory.Delete(t.Context(), local, d.ID, true, nil))
			}
			_, _, err := rooms.Memory.DeleteContext(t.Context(), local, group.ID, false)
			must(t, err)
		}()
		p, want := refersTo(rt, t, rooms, added, group.ID)
		res, err := assemble(t.Context(), rooms, p)
		must(t, err)
		addsUp(rt, res)
		once := make(map[string]bool)
		says := func(id string, reason prompt.Reason) {
			wanted, known := want[id]
			switch {
			case once[id] || !known:
				rt.Fatalf("%s is in the report of %q twice, or it says too much: %v", id, p.Text, once)
			case wanted != reason && (wanted != "" || reason != prompt.OverBudget):
				rt.Fatalf("%s is reported as %q, want %q", id, reason, wanted)
			}
			once[id] = true
		}
		for _, s := range res.Report.Sections {
			for _, item := range s.Items {
				says(item.ID, "")
			}
		}
		for _, d := range res.Report.Dropped {
			if d.Reason != prompt.Duplicate {
				says(cmp.Or(d.ID, d.Title), d.Reason)
			}
		}
		for id := range want {
			if !once[id] {
				rt.Fatalf("%s is not in the report of %q: %+v", id, p.Text, res.Report)
			}
		}
	})
}

func someMemories(rt *rapid.T) (list []memory.Draft) {
	for i := range rapid.IntRange(1, 12).Draw(rt, "memories") {
		// A reference that leads to nothing is searched for as words: no statement has those of one.
		text := fmt.Sprintf("statement %c ", 'a'+i)
		d := memory.Draft{
			ID: fmt.Sprintf("m%02d", i), Handle: fmt.Sprintf("handle_%02d", i), Pinned: rapid.IntRange(0, 3).Draw(rt, "pinned") == 0,
			Private: rapid.IntRange(0, 3).Draw(rt, "private") == 0, Kind: record.MemoryFact,
			Statement: text + strings.TrimSpace(strings.Repeat("ü 👩‍👩‍👧 [x](y)\n", rapid.IntRange(0, 6).Draw(rt, "length"))),
		}
		if rapid.IntRange(0, 3).Draw(rt, "goal") == 0 {
			d.Kind = record.MemoryGoal
		}
		if rapid.Bool().Draw(rt, "question") {
			d.Questions = []string{"What is 𝄞?"}
		}
		list = append(list, d)
	}
	return list
}

// refersTo returns what asks for a prompt, and what its report must say of memories.
func refersTo(rt *rapid.T, t *testing.T, rooms *rpc.Deps, list []memory.Added, group string) (p gather.Params, want expected) {
	local := rooms.Audience.View(audience.Local)
	status := make([]string, len(list))
	var inside []string
	for i, added := range list {
		d, err := added.Memory, error(nil)
		switch rapid.IntRange(0, 6).Draw(rt, "status") {
		case 0:
			status[i] = record.MemoryArchived
			_, err = rooms.Memory.Archive(t.Context(), local, d.ID, nil)
		case 1:
			status[i] = record.MemoryRetracted
			_, err = rooms.Memory.Retract(t.Context(), local, d.ID, nil)
		}
		must(t, err)
		if rapid.Bool().Draw(rt, "inside") {
			inside = append(inside, d.ID)
			_, err = rooms.Memory.Link(t.Context(), local, group, []string{d.ID}, true)
			must(t, err)
		}
	}
	remote := rapid.Bool().Draw(rt, "remote")
	p = gather.Params{
		Audience: gather.Local, Format: rapid.SampledFrom([]string{gather.Markdown, gather.XML}).Draw(rt, "format"),
		Memories: rapid.SampledFrom([]int{0, 10}).Draw(rt, "memories"), Budgets: &gather.Budgets{},
	}
	if remote {
		p.Audience = gather.Remote
	}
	want = make(expected)
	named := func(i int) {
		d := list[i].Memory
		if remote && d.Private {
			want[d.ID] = prompt.Private
		} else {
			want[d.ID] = ""
		}
	}
	for range rapid.IntRange(0, 6).Draw(rt, "references") {
		i := rapid.IntRange(0, len(list)).Draw(rt, "to")
		switch {
		case i == len(list):
			p.Text += "@some_group_context "
			for at := range list {
				if status[at] == "" && slices.Contains(inside, list[at].Memory.ID) {
					named(at)
				}
			}
		case status[i] == record.MemoryRetracted: // which no reference leads to
			p.Text += "#999999 "
			want["#999999"] = prompt.Unknown
		default:
			p.Text += rapid.SampledFrom([]string{fmt.Sprintf("#%d ", list[i].Memory.Number), "@" + list[i].Memory.Handle + " "}).Draw(rt, "as")
			named(i)
		}
	}
	for range rapid.IntRange(0, 4).Draw(rt, "attached") {
		i := rapid.IntRange(0, len(list)).Draw(rt, "attached one")
		switch {
		case i == len(list):
			p.AttachedMemoryIDs = append(p.AttachedMemoryIDs, "ghost")
			want["ghost"] = prompt.Unknown
			continue
		case status[i] == record.MemoryRetracted && (!remote || !list[i].Memory.Private):
			want[list[i].Memory.ID] = prompt.Deleted
		default:
			named(i)
		}
		p.AttachedMemoryIDs = append(p.AttachedMemoryIDs, list[i].Memory.ID)
	}
	for i, added := range list {
		d := added.Memory
		if p.Memories > 0 && status[i] == "" && (d.Pinned || d.Kind == record.MemoryGoal) {
			want[d.ID] = ""
			if remote && d.Private { // the person who reads the report is told
				want[d.ID] = prompt.Private
			}
		}
	}
	for _, budget := range []**int{&p.Budgets.Total, &p.Budgets.Referenced, &p.Budgets.Memory} {
		if rapid.Bool().Draw(rt, "set") {
			chars := rapid.IntRange(0, 1500).Draw(rt, "budget")
			*budget = &chars
		}
	}
	return p, want
}

// addsUp compares all numbers of a report with its text.
func addsUp(rt *rapid.T, res *prompt.Result) {
	units := utf16.Encode([]rune(res.System))
	part := func(start, end int) string { return string(utf16.Decode(units[start:end])) }
	hash := sha256.Sum256([]byte(res.System))
	if res.Report.Hash != hex.EncodeToString(hash[:]) || len(res.Sections) != len(res.Report.Sections) {
		rt.Fatalf("hash %s, %d sections of %d", res.Report.Hash, len(res.Report.Sections), len(res.Sections))
	}
	at, sum := 0, 0
	for i, s := range res.Sections {
		rep := res.Report.Sections[i]
		if i > 0 {
			if part(at, at+1) != "\n" {
				rt.Fatalf("before %s stands %q", s.Name, part(at, at+1))
			}
			at++
			sum++
		}
		text := part(s.Start, s.End)
		if s.Start != at || s.Name != rep.Name || prompt.Chars(text) != rep.Chars || rep.Chars > rep.Budget || len(rep.Items) == 0 {
			rt.Fatalf("section %+v has %d characters, its report is %+v", s, prompt.Chars(text), rep)
		}
		end := rep.Items[0].Start
		chars := prompt.Chars(part(s.Start, end))
		for _, item := range rep.Items {
			text := part(item.Start, item.End)
			if item.Start != end || prompt.Chars(text) != item.Chars || !strings.Contains(text, item.ID) {
				rt.Fatalf("%+v is %q", item, text)
			}
			end = item.End
			chars += item.Chars
		}
		if chars += prompt.Chars(part(end, s.End)); chars != rep.Chars {
			rt.Fatalf("the parts of %s have %d characters of %d", s.Name, chars, rep.Chars)
		}
		at = s.End
		sum += rep.Chars
	}
	if at != len(units) || sum != res.Report.Chars || sum != prompt.Chars(res.System) || sum > res.Report.Budget {
		rt.Fatalf("the sections have %d characters, the report says %d of %d, the text has %d", sum, res.Report.Chars,
			res.Report.Budget, prompt.Chars(res.System))
	}
}

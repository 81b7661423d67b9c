package send_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/fixtures/provider"
	"github.com/ctxd/ctxd/notes"
)

// BenchmarkCHAT20 has messages answered among 2,000 notes of 4 KB that link to each other and of which some are private:
// usual ones that link to two notes and whose answer links to one and read one, and ones that refer to many, with ten
// links in the question, five in the answer and a search that shows twenty notes; and usual ones in a conversation of eight
// turns. It prints how long references take of
// an answer, and all of it but the provider, in a store in memory.
func BenchmarkCHAT20(b *testing.B) {
	h := open(b)
	const total = 2_000
	var drafts []notes.Draft
	for i := range total {
		body := fmt.Sprintf("Note %d speaks of [[Title %d]] and of bees and honey.\n\n", i, (i*7)%total) +
			strings.Repeat(fmt.Sprintf("More about [[Title %d|it]] in the year %d. ", (i*13)%total, i), 80)
		drafts = append(drafts, notes.Draft{
			ID: fmt.Sprint("n", i), Title: fmt.Sprint("Title ", i), Path: fmt.Sprintf("folder/note-%d.md", i), Body: body, Private: i%20 == 7,
		})
	}
	for part := range slices.Chunk(drafts, 1_000) {
		_, err := h.notes.PutMany(context.Background(), part)
		must(b, err)
	}
	links := func(from, n int) (text string) {
		for i := range n {
			text += fmt.Sprintf("[[Title %d]], ", (from*31+i*97)%total)
		}
		return text
	}
	for _, of := range []struct {
		name, tool, args string
		question, answer int
		least            int // references
		follows          bool
	}{
		{"usual", "read_note", `{"id":"n1"}`, 2, 1, 3, false},
		{"many", "search_notes", `{"query":"bees honey","limit":20}`, 10, 5, 20, false},
		{"following", "read_note", `{"id":"n1"}`, 2, 1, 3, true},
	} {
		b.Run(of.name, func(b *testing.B) {
			h.far.says(func(r *provider.Request, to *provider.Reply) {
				if strings.HasPrefix(r.Last(), "What of") {
					to.Call(of.tool, of.args)
					return
				}
				to.Text("As said in ", links(r.N, of.answer))
			})
			took := make(map[string][]float64)
			id := "" // of the conversation, of eight turns
			for i := 0; b.Loop(); i++ {
				m := turn.ChatSend{Text: "What of " + links(i, of.question) + "?", SearchNotes: ptr(0)}
				if of.follows && i%8 > 0 {
					m.ConversationID, m.Text = id, "What of the bees and the honey, and why is it "+links(i, of.question)+"?"
				}
				res, err := h.pipe.Send(context.Background(), h.local, m, &heard{})
				must(b, err)
				id = res.ConversationID
				if len(res.References) < of.least {
					b.Fatalf("%d references", len(res.References))
				}
				for _, stage := range []string{"references", "own"} {
					took[stage] = append(took[stage], res.Timings[stage])
				}
			}
			for stage, list := range took {
				slices.Sort(list)
				b.ReportMetric(list[len(list)/2]*1e3, stage+"-p50-µs")
				b.ReportMetric(list[len(list)*99/100]*1e3, stage+"-p99-µs")
			}
		})
	}
}

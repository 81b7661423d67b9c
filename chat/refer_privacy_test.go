package chat_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/notes"
)

// TestPRIV6_PrivateNotesLeaveNoTrace: what a remote reader is shown of references, and what a remote model is told, is
// the same without private notes that nothing refers to, and with private notes of other names where the links are
// renamed alike.
func TestPRIV6_PrivateNotesLeaveNoTrace(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		texts := rapid.SliceOfN(rapid.SampledFrom([]string{
			"[[Open]]", "[[open|as it is called]]", "[[Ghost]]", "[[docs/two]]", "[[Twin]]", "![[Open#Part]]", "[[Old]]", "😀 é", "`[[Open]]`", "[[#here]]",
		}), 1, 12).Draw(rt, "text")
		secret := rapid.SliceOfN(rapid.SampledFrom([]string{"[[{secret}]]", "[[{secret}|{secret}]]", "@[{secret}]", "![[{file}]]", "[x]({file}.md)"}), 0, 4).
			Draw(rt, "links to what is private")
		at := rapid.IntRange(0, len(texts)).Draw(rt, "place")
		body := rapid.SampledFrom([]string{"Plain.", "Meets {private}.", "See [[Ghost]] and {private}"}).Draw(rt, "text of the note")
		names := []struct{ secret, file string }{{"Zanzibar Trading Company 😀", "vault/zanzibar"}, {"Q", "q"}, {}}
		var got []string
		for _, n := range names {
			rename := strings.NewReplacer("{secret}", n.secret, "{file}", n.file)
			parts := append(append(append([]string{}, texts[:at]...), secret...), texts[at:]...)
			private := "[[" + n.secret + "]]"
			if n.secret == "" { // nothing refers to what there is not
				if len(secret) > 0 || strings.Contains(body, "{private}") {
					continue
				}
			}
			w := openReferences(t)
			w.put(notes.Draft{ID: "open", Title: "Open", Path: "open.md", Body: strings.ReplaceAll(body, "{private}", private)})
			w.put(notes.Draft{ID: "two", Title: "Two", Path: "docs/two.md", Body: "Second."})
			w.put(notes.Draft{ID: "t1", Title: "Twin", Path: "a/t1.md"})
			w.put(notes.Draft{ID: "t2", Title: "Twin", Path: "b/t2.md"})
			if n.secret != "" {
				w.put(notes.Draft{ID: "secret", Title: n.secret, Path: n.file + ".md", Body: "Closed.", Private: true})
			}
			text := rename.Replace(strings.Join(parts, " and "))
			lists, err := chat.ReadReferences(t.Context(), w.local, w.remote, summarise, func(x *chat.ReferenceReader) ([]chat.Reference, bool) { return x.Links(text) })
			mustRefer(t, err)
			members := make(map[string]json.RawMessage)
			mustRefer(t, lists.Keep(nil, func(name string, value json.RawMessage) { members[name] = value }))
			list := shown(w.remote, chat.StoredReferences(members, w.remote), text)
			told := (&chat.ReferenceNotice{Bytes: chat.MaxReferenceNotice}).List(chat.RenderReferences(w.remote, chat.StoredReferences(members, w.remote), &chat.RenderedMessage{Replay: true}, nil))
			data, err := json.Marshal(list)
			mustRefer(t, err)
			got = append(got, fmt.Sprintf("%s\n%s\n%s", w.remote.TextOf("", text), data, told))
		}
		for _, other := range got[1:] {
			if other != got[0] {
				rt.Fatalf("of one store a remote reader has\n%s\nand of another one\n%s", got[0], other)
			}
		}
	})
}

// summarise is body, which the test has another thing of that name beside.
var summarise = body

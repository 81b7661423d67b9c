package rpc_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ctxd/ctxd/fixtures/campaign"
	families "github.com/ctxd/ctxd/fixtures/steps"
	"github.com/ctxd/ctxd/rpc/client"
)

// longestTurn is what another writer waits for at most.
const longestTurn = 150 * time.Millisecond

// hostileWriters are the methods that store texts, each with what it stores of one that is as large as a message of the
// protocol takes. Each key is a name of its own.
var hostileWriters = []struct {
	name  string
	calls func(t *testing.T, key string, text func(size int) string) [][2]string
}{
	{"notes.put", func(t *testing.T, key string, text func(int) string) [][2]string {
		return [][2]string{{"notes.put", inJSON(t, map[string]any{"id": key, "body": fit(text, 4<<20)})}}
	}},
	{"notes.putMany", func(t *testing.T, key string, text func(int) string) [][2]string {
		var list []any
		for i, body := range messagesOf(text, 4, 4<<20) {
			list = append(list, map[string]any{"id": fmt.Sprintf("%s-%d", key, i), "body": body})
		}
		return [][2]string{{"notes.putMany", inJSON(t, map[string]any{"notes": list})}}
	}},
	{"notes.putMany of small notes", func(t *testing.T, key string, text func(int) string) [][2]string {
		var list []any
		for i, body := range messagesOf(text, 1000, 15<<10) {
			list = append(list, map[string]any{"id": fmt.Sprintf("%s-%d", key, i), "body": body})
		}
		return [][2]string{{"notes.putMany", inJSON(t, map[string]any{"notes": list})}}
	}},
	{"notes.patch", func(t *testing.T, key string, text func(int) string) [][2]string {
		return [][2]string{
			{"notes.put", inJSON(t, map[string]any{"id": key, "body": "a"})},
			{"notes.patch", inJSON(t, map[string]any{"id": key, "body": "---\na: b\n---\n" + fit(text, 4<<20-20)})},
			{"notes.patch", inJSON(t, map[string]any{"id": key, "title": "Another " + key})},
			{"notes.archive", inJSON(t, map[string]any{"id": key})},
			{"notes.restore", inJSON(t, map[string]any{"id": key})},
			{"notes.delete", inJSON(t, map[string]any{"id": key})},
		}
	}},
	{"chat.append", func(t *testing.T, key string, text func(int) string) [][2]string {
		var list []any
		for i, content := range messagesOf(text, 15, 1<<20) {
			list = append(list, map[string]any{"role": []string{"user", "assistant"}[i%2], "content": content})
		}
		return [][2]string{{"chat.append", inJSON(t, map[string]any{"title": key, "messages": list})}}
	}},
	{"chat.patch", func(t *testing.T, key string, text func(int) string) [][2]string {
		return [][2]string{
			{"chat.put", inJSON(t, map[string]any{"id": key, "title": key, "systemPrompt": fit(text, 60<<10)})},
			{"chat.patch", inJSON(t, map[string]any{"id": key, "systemPrompt": "a" + fit(text, 60<<10)})},
			{"chat.archive", inJSON(t, map[string]any{"id": key})},
			{"chat.restore", inJSON(t, map[string]any{"id": key})},
			{"chat.delete", inJSON(t, map[string]any{"id": key})},
		}
	}},
	{"chat.import", func(t *testing.T, key string, text func(int) string) [][2]string {
		var list []any
		for i, content := range messagesOf(text, 15, 1<<20) {
			list = append(list, map[string]any{
				"uuid": fmt.Sprintf("%s-%d", key, i), "sender": []string{"human", "assistant"}[i%2], "text": content,
				"created_at": "2026-01-31T09:30:00Z",
			})
		}
		file := filepath.Join(t.TempDir(), "conversations.json")
		must(t, os.WriteFile(file, []byte(inJSON(t, []any{map[string]any{
			"uuid": key, "name": key, "created_at": "2026-01-31T09:30:00Z", "chat_messages": list,
		}})), 0o600))
		return [][2]string{{"chat.import", inJSON(t, map[string]any{"path": file})}}
	}},
	{"memory.addMany", func(t *testing.T, key string, text func(int) string) [][2]string {
		return [][2]string{{"memory.addMany", inJSON(t, map[string]any{"memories": memoriesOf(text, key)})}}
	}},
	{"memory.import", func(t *testing.T, key string, text func(int) string) [][2]string {
		var b strings.Builder
		for i := range 2000 {
			b.WriteString(firstOf(strings.Join(strings.Fields(statementOf(text, i)), " "), 1900) + "\n")
		}
		file := filepath.Join(t.TempDir(), "memories.txt")
		must(t, os.WriteFile(file, []byte(strings.ToValidUTF8(b.String(), "")), 0o600))
		return [][2]string{{"memory.import", inJSON(t, map[string]any{"path": file, "format": "lines"})}}
	}},
	{"memory.patch", func(t *testing.T, key string, text func(int) string) [][2]string {
		calls := [][2]string{{"memory.add", inJSON(t, map[string]any{"id": key, "statement": "I like " + key, "tier": "history"})}}
		return append(calls, [2]string{"memory.patch", inJSON(t, map[string]any{"id": key, "statement": statementOf(text, 0), "summary": key})})
	}},
	{"books.add", func(t *testing.T, key string, text func(int) string) [][2]string {
		return [][2]string{{"books.add", inJSON(t, map[string]any{
			"content": base64.StdEncoding.EncodeToString([]byte(key + " " + fit(text, 700<<10))), "mimeType": "text/plain", "name": key + ".txt",
		})}}
	}},
	{"books.add of a file", func(t *testing.T, key string, text func(int) string) [][2]string {
		file := filepath.Join(t.TempDir(), key+".md")
		must(t, os.WriteFile(file, []byte(key+"\n\n"+fit(text, 40<<20)), 0o600))
		return [][2]string{{"books.add", inJSON(t, map[string]any{"path": file})}}
	}},
	{"personality.put", func(t *testing.T, key string, text func(int) string) [][2]string {
		return [][2]string{{"personality.put", inJSON(t, map[string]any{
			"id": key, "template": "identity:\n  name: " + key + "\n  background: " + inJSON(t, fit(text, 60<<10)) + "\ncommunication:\n  tone: warm\n",
		})}}
	}},
	{"entities.putMany", func(t *testing.T, key string, text func(int) string) [][2]string {
		var list []any
		for i, said := range messagesOf(text, 230, 64<<10) {
			list = append(list, map[string]any{"id": fmt.Sprintf("%s-%d", key, i), "type": "Said", "name": fmt.Sprintf("%s %d", key, i), "fields": map[string]any{"said": said}})
		}
		return [][2]string{{"entities.putMany", inJSON(t, map[string]any{"entities": list})}}
	}},
	{"vault.import", func(t *testing.T, key string, text func(int) string) [][2]string {
		root := filepath.Join(t.TempDir(), key)
		must(t, os.Mkdir(root, 0o700))
		for i, body := range messagesOf(text, 8, 4<<20) {
			must(t, os.WriteFile(filepath.Join(root, fmt.Sprintf("%s-%d.md", key, i)), []byte(body), 0o600))
		}
		return [][2]string{{"vault.import", inJSON(t, map[string]any{"path": root, "name": key})}}
	}},
}

// fit returns the family at a size, of which JSON makes no more than a message has.
func fit(text func(int) string, size int) string {
	return strings.ToValidUTF8(strings.ReplaceAll(firstOf(text(size), size), "\x00", "\x01"), "?")
}

// messagesOf returns texts that fill a message of the protocol together, each different.
func messagesOf(text func(int) string, n, size int) (list []string) {
	said := fit(text, size-20)
	quoted, _ := json.Marshal(said)
	n = max(1, min(n, (15<<20)/len(quoted)))
	for i := range n {
		list = append(list, fmt.Sprintf("a%d\n%s", i, said))
	}
	return list
}

func memoriesOf(text func(int) string, key string) (list []any) {
	for i := range 1000 {
		said := statementOf(text, i)
		if quoted, _ := json.Marshal(said); len(quoted) > 15<<10 && i > (15<<20)/len(quoted) {
			break
		}
		list = append(list, map[string]any{"id": fmt.Sprintf("%s-%d", key, i), "statement": said, "summary": "of a text", "tier": "history"})
	}
	return list
}

func statementOf(text func(int) string, i int) string {
	runes := []rune(fit(text, 32_000))
	return fmt.Sprintf("I%d like %s", i, string(runes[:min(len(runes), 7_900)]))
}

// TestCampaignREL14_OthersWriteMeanwhile stores hostile texts by every method that takes texts, while another client
// writes small notes: none of these waits longer than longestTurn. The short form looks at some of the families and only
// tells how long they waited.
func TestCampaignREL14_OthersWriteMeanwhile(t *testing.T) {
	campaign.Only(t)
	chosen := []string{"brackets that open", "one word", "tags and words, all different"}
	if campaign.Full() {
		chosen = slices.Sorted(func(yield func(string) bool) {
			for name := range families.Families {
				if !yield(name) {
					return
				}
			}
		})
	}
	for _, w := range hostileWriters {
		for i, family := range chosen {
			t.Run(w.name+"/"+family, func(t *testing.T) {
				d := start(t)
				d.do("types.put", `{"name":"Said","fields":[{"name":"said","type":"text"}]}`)
				calls := w.calls(t, fmt.Sprintf("k%d", i), families.Families[family])
				longest, n := waits(t, d, func() {
					for _, c := range calls {
						began := time.Now()
						_, err := d.try(c[0], c[1])
						t.Logf("%-16s %6d ms %.100v", c[0], time.Since(began).Milliseconds(), err)
					}
				})
				d.do("notes.search", `{"query":"small"}`) // waits for what is entered behind it
				t.Logf("%-20s %-32s longest wait of %d: %d ms", w.name, family, n, longest.Milliseconds())
				if campaign.Full() && longest > longestTurn {
					t.Errorf("%s of %s: another writer waited %d ms", w.name, family, longest.Milliseconds())
				}
			})
		}
	}
}

// waits says how long another client waited at most that wrote n small notes while a call ran.
func waits(t *testing.T, d *daemon, call func()) (longest time.Duration, n int) {
	other, err := client.Dial(context.Background(), d.path, client.Options{Name: "other"})
	must(t, err)
	defer func() { _ = other.Close() }()
	done := make(chan struct{})
	var writing sync.WaitGroup
	writing.Go(func() {
		for ended := false; !ended; n++ {
			select {
			case <-done:
				ended = true // and once more, for what the call left behind
			default:
			}
			began := time.Now()
			err := other.Call(context.Background(), "notes.put", map[string]any{"id": "small", "title": "Small", "body": fmt.Sprint("n", n)}, nil)
			if err != nil {
				t.Error(err)
				return
			}
			longest = max(longest, time.Since(began))
		}
	})
	call()
	close(done)
	writing.Wait()
	return longest, n
}

func firstOf(s string, size int) string { return s[:min(len(s), size)] }

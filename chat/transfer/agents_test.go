package transfer_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/transfer"
	"github.com/ctxd/ctxd/entities/kv"
)

// told are the conversations of an export, each as its source, id and title, and what was said by whom.
func told(t *testing.T, export string) string {
	t.Helper()
	var b strings.Builder
	_, err := transfer.ReadForeign(t.Context(), strings.NewReader(export), int64(len(export)), func(c transfer.ForeignConversation) error {
		b.WriteString(c.Source + " " + c.ID + " " + c.Title + "\n")
		for _, m := range c.Messages {
			b.WriteString(m.Role + " " + m.CreatedAt.Format("15:04") + ": " + m.Text + "\n")
		}
		return nil
	}, nil)
	if err != nil {
		t.Errorf("%v\n%s", err, export)
	}
	return b.String()
}

func lines(list ...string) string { return strings.Join(list, "\n") + "\n" }

// TestCHAT51_SessionsOfAgents reads logs as each program writes them.
func TestCHAT51_SessionsOfAgents(t *testing.T) {
	for name, c := range map[string]struct{ export, want string }{
		"Claude Code": {lines(
			`{"type":"summary","summary":"The huts","leafUuid":"x"}`,
			`{"type":"file-history-snapshot","messageId":"q"}`,
			`{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"<command-name>/clear</command-name>"},"uuid":"a0","timestamp":"2026-01-02T10:00:00Z","sessionId":"s1","cwd":"/x"}`,
			`{"parentUuid":"a0","isMeta":true,"type":"user","message":{"role":"user","content":"Caveat"},"uuid":"a1","timestamp":"2026-01-02T10:01:00Z","sessionId":"s1"}`,
			`{"parentUuid":"a1","type":"user","message":{"role":"user","content":"Which hut?"},"uuid":"a2","timestamp":"2026-01-02T10:02:00Z","sessionId":"s1"}`,
			`{"parentUuid":"a2","type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"thinking","thinking":"hm"}]},"uuid":"a3","timestamp":"2026-01-02T10:03:00Z","sessionId":"s1"}`,
			`{"parentUuid":"a3","type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"I look."}]},"uuid":"a4","timestamp":"2026-01-02T10:03:00Z","sessionId":"s1"}`,
			`{"parentUuid":"a4","type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t","name":"Read","input":{}}]},"uuid":"a5","timestamp":"2026-01-02T10:03:00Z","sessionId":"s1"}`,
			`{"parentUuid":"a5","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"found"}]},"uuid":"a6","timestamp":"2026-01-02T10:04:00Z","sessionId":"s1"}`,
			`{"parentUuid":"a6","type":"assistant","message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"The upper one."}]},"uuid":"a7","timestamp":"2026-01-02T10:05:00Z","sessionId":"s1"}`,
		), "claude-code s1 The huts\nuser 10:02: Which hut?\nassistant 10:03: I look.\nassistant 10:05: The upper one.\n"},
		"Codex CLI": {lines(
			`{"timestamp":"2026-01-02T10:00:00Z","type":"session_meta","payload":{"id":"c1","timestamp":"2026-01-02T10:00:00Z","cwd":"/x","instructions":"be brief"}}`,
			`{"timestamp":"2026-01-02T10:00:00Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x</environment_context>"}]}}`,
			`{"timestamp":"2026-01-02T10:01:00Z","type":"event_msg","payload":{"type":"user_message","message":"Which hut?"}}`,
			`{"timestamp":"2026-01-02T10:01:00Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Which hut?"}]}}`,
			`{"timestamp":"2026-01-02T10:02:00Z","type":"response_item","payload":{"type":"reasoning","summary":[]}}`,
			`{"timestamp":"2026-01-02T10:02:00Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{}"}}`,
			`{"timestamp":"2026-01-02T10:03:00Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"The upper one."}]}}`,
		), "codex c1 \nuser 00:00: Which hut?\nassistant 00:00: The upper one.\n"},
		"Codex CLI, older": {lines(
			`{"id":"c2","timestamp":"2025-06-02T10:00:00Z","instructions":null}`, `{"record_type":"state"}`,
			`{"type":"message","role":"user","content":[{"type":"input_text","text":"Which hut?"}]}`,
			`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"The upper one."}]}`,
		), "codex c2 \nuser 00:00: Which hut?\nassistant 00:00: The upper one.\n"},
		"Gemini CLI": {
			`{"sessionId":"g1","projectHash":"h","startTime":"2026-01-02T10:00:00Z","messages":[
			{"id":"1","timestamp":"2026-01-02T10:01:00Z","type":"user","content":"Which hut?"},
			{"id":"2","timestamp":"2026-01-02T10:02:00Z","type":"info","content":"x"},
			{"id":"3","timestamp":"2026-01-02T10:03:00Z","type":"gemini","content":"The upper one.","thoughts":[{"subject":"a"}],"toolCalls":[]}]}`,
			"gemini g1 \nuser 10:01: Which hut?\nassistant 10:03: The upper one.\n",
		},
		"Gemini CLI, in lines": {
			lines(`{"sessionId":"g2","projectHash":"h","startTime":"2026-01-02T10:00:00Z"}`,
				`{"id":"1","timestamp":"2026-01-02T10:01:00Z","type":"user","content":[{"text":"Which hut?"}]}`, `{"$set":{"lastUpdated":"x"}}`,
				`{"id":"3","timestamp":"2026-01-02T10:03:00Z","type":"gemini","content":"The upper one."}`),
			"gemini g2 \nuser 10:01: Which hut?\nassistant 10:03: The upper one.\n",
		},
		"OpenCode": {
			`{"info":{"id":"ses_1","title":"Huts","time":{"created":1767348000000}},"messages":[
			{"info":{"id":"msg_1","role":"user","time":{"created":1767348060000}},"parts":[{"type":"text","text":"Which hut?"},{"type":"text","synthetic":true,"text":"file"}]},
			{"info":{"id":"msg_2","role":"assistant","time":{"created":1767348120000}},"parts":[{"type":"step-start"},{"type":"reasoning","text":"hm"},{"type":"tool","tool":"read"},{"type":"text","text":"The upper one."}]}]}`,
			"opencode ses_1 Huts\nuser 10:01: Which hut?\nassistant 10:02: The upper one.\n",
		},
		"AI Studio": {
			`{"runSettings":{"temperature":1},"systemInstruction":{},"chunkedPrompt":{"chunks":[{"text":"Which hut?","role":"user"},{"text":"hm","role":"model","isThought":true},{"text":"The upper one.","role":"model"}],"pendingInputs":[]}}`,
			"user 00:00: Which hut?\nassistant 00:00: The upper one.\n",
		},
		"activity of Gemini": {
			`[{"header":"Gemini Apps","title":"Prompted Which hut?","time":"2026-01-02T10:01:00.123Z","products":["Gemini Apps"],"safeHtmlItem":[{"html":"<p>The <b>upper</b> one.</p><ul><li>warm</li><li>dry &amp; near</li></ul>"}]}]`,
			"user 10:01: Which hut?\nassistant 10:01: The upper one.\n\n- warm\n- dry & near\n",
		},
		"one conversation of Claude": {`{"uuid":"c","name":"Huts","chat_messages":[{"uuid":"1","sender":"human","text":"Which hut?"}]}`, "claude c Huts\nuser 00:00: Which hut?\n"},
		"one conversation of ChatGPT": {
			"\ufeff " + `{"id":"g","title":"Huts","current_node":"1","mapping":{"1":{"id":"1","parent":null,"message":{"id":"1","author":{"role":"user"},"content":{"parts":["Which hut?"]}}}}}`,
			"chatgpt g Huts\nuser 00:00: Which hut?\n",
		},
	} {
		if got := told(t, c.export); !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestCHAT51_ALogThatIsBeingWritten ends within a line, and has a damaged one.
func TestCHAT51_ALogThatIsBeingWritten(t *testing.T) {
	export := lines(
		`{"parentUuid":null,"type":"user","message":{"role":"user","content":"Which hut?"},"uuid":"a1","sessionId":"s1"}`, `{"parentUuid": broken}`,
		`{"parentUuid":"a1","type":"assistant","message":{"id":"m","role":"assistant","content":"The upper one."},"uuid":"a2","sessionId":"s1"}`,
	) + `{"parentUuid":"a2","type":"us`
	if got := told(t, export); !strings.HasSuffix(got, "Which hut?\nassistant 00:00: The upper one.\n") {
		t.Error(got)
	}
}

// TestCHAT51_FilesOfMessages: what was pasted, attached and made stays with its message.
func TestCHAT51_FilesOfMessages(t *testing.T) {
	message := func(members string) string {
		return `[{"uuid":"c","name":"","chat_messages":[{"uuid":"1","sender":"` + members + `}]}]`
	}
	block := func(kind, members string) string { return `{"type":"` + kind + `",` + members + `}` }
	for name, c := range map[string]struct {
		export string
		want   []string
	}{
		"typed and pasted":    {message(`human","text":"Sum it up","content":[` + block("text", `"text":"Sum it up"`) + `],"attachments":[{"file_name":"paste.txt","extracted_content":"PASTED quartz"}]`), []string{"Sum it up\n\n[file: paste.txt]\n\n```\nPASTED quartz\n```"}},
		"two files":           {message(`human","text":"Compare","content":[],"attachments":[{"file_name":"a.md","extracted_content":"a ` + "```" + ` b"},{"file_name":"b.txt","extracted_content":"granite"}]`), []string{"[file: a.md]\n\n````\na ``` b\n````", "[file: b.txt]\n\n```\ngranite\n```"}},
		"pasted alone":        {message(`human","text":"","content":[],"attachments":[{"file_name":"p.txt","extracted_content":"marble"}]`), []string{": marble\n"}},
		"a file without text": {message(`human","text":"See","content":[],"attachments":[{"file_name":"p.pdf"}],"files":[{"file_name":"i.png"}]`), []string{"See\n\n[file: p.pdf]\n\n[file: i.png]\n"}},
		"an artifact": {message(`assistant","text":"","content":[` + block("text", `"text":"Here:"`) + `,` +
			block("tool_use", `"name":"artifacts","input":{"command":"create","id":"x","title":"Plan","language":"python","content":"a = 1"}`) + `,` +
			block("tool_use", `"name":"artifacts","input":{"command":"update","id":"x","old_str":"1","new_str":"2"}`) + `]`), []string{"Here:\n\n[file: Plan]\n\n```python\na = 1\n```\n\n[file: Plan]\n\n```python\na = 2\n```"}},
		"an older artifact": {message(`assistant","text":"Here: <antThinking>hm</antThinking><antArtifact identifier=\"x\" type=\"text/markdown\" title=\"Plan\">\nGo up.\n</antArtifact>","content":[]`), []string{"[file: Plan]\n\n```\n\nGo up.\n```"}},
		"a created file":    {message(`assistant","text":"","content":[` + block("tool_use", `"name":"create_file","input":{"path":"/out/plan.md","file_text":"Go up."}`) + `]`), []string{"[file: plan.md]\n\n```\nGo up.\n```"}},
	} {
		got := told(t, c.export)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q has no %q", name, got, want)
			}
		}
	}
}

// TestCHAT51_MarksOfChatGPT are not shown, their targets are.
func TestCHAT51_MarksOfChatGPT(t *testing.T) {
	const b, s, e = "\ue200", "\ue202", "\ue201"
	refs := `{"content_references":[{"matched_text":"` + b + "cite" + s + "turn0search3" + e + `","items":[{"title":"Iron [ages]","url":"https://a.example/x"},{"title":"","url":"https://b.example"},{"title":"x","url":"javascript:alert(1)"}]}],
		"citations":[{"matched_text":"【3†source】","metadata":{"title":"Old","url":"https://c.example"}}]}`
	for said, want := range map[string]string{
		"Iron came late. " + b + "cite" + s + "turn0search3" + e + " So it is.":    "Iron came late. ([Iron (ages)](https://a.example/x), [https://b.example](https://b.example)) So it is.",
		"Iron came late. " + b + "cite" + s + "turn0search9" + e + " So it is.":    "Iron came late. So it is.",
		"Iron came late " + b + "cite" + s + "turn0search9" + e + ". So.":          "Iron came late. So.",
		"Iron came late " + b + "cite" + s + "turn0search9" + e:                    "Iron came late",
		"By " + b + "entity" + s + `["people","Jo Doe",0]` + e + " it says.":       "By Jo Doe it says.",
		"By " + b + "entity" + s + `["people` + e + " it says.":                    "By it says.",
		"See " + b + "navlist" + s + "More" + s + "turn0news1" + e + " below.":     "See below.",
		"On page 3 " + b + "filecite" + s + "turn1file0" + s + "L1-L9" + e + ".":   "On page 3.",
		"At " + b + "url" + s + "the [site]" + s + "https://d.example/a" + e + ".": "At [the (site)](https://d.example/a).",
		"It is so【12†source】.":                                                     "It is so.", "It is so【3†source】.": "It is so([Old](https://c.example)).", "It is so 【4:0†plan.pdf】.": "It is so (plan.pdf).",
		"\ue203Iron came late.\ue204 Yes.": "Iron came late. Yes.", "an end \ue201 and a begin \ue200 alone": "an end  and a begin  alone",
		"† is a dagger, 【a】 a bracket": "† is a dagger, 【a】 a bracket", "a\u0000b" + "\ue203": "a\ufffdb",
	} {
		text, _ := json.Marshal(said)
		got := told(t, `[{"id":"g","title":"","current_node":"1","mapping":{"1":{"id":"1","parent":null,"message":{"id":"1","author":{"role":"assistant"},"metadata":`+refs+`,"content":{"content_type":"text","parts":[`+string(text)+`]}}}}}]`)
		if got != "chatgpt g \nassistant 00:00: "+want+"\n" {
			t.Errorf("%q became %q, want %q", said, got, want)
		}
	}
}

// TestCHAT51_AFolderOfSessions is imported, and again adds what is new; OpenCode keeps a session in many files.
func TestCHAT51_AFolderOfSessions(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	first := `{"parentUuid":null,"type":"user","message":{"role":"user","content":"Which hut?"},"uuid":"a1","sessionId":"s1"}` + "\n"
	write("p/s1.jsonl", first)
	write("p/settings.json", `{"theme":"dark"}`)
	write("p/notes.md", "# Notes")
	write("storage/session/p/ses_1.json", `{"id":"ses_1","title":"Huts"}`)
	write("storage/message/ses_1/msg_1.json", `{"id":"msg_1","role":"user","time":{"created":1767348060000}}`)
	write("storage/part/msg_1/prt_1.json", `{"type":"text","text":"Is it warm?"}`)
	w := openImport(t, kv.InMemory, chat.Limits{})
	defer w.close()
	got, err := transfer.ImportFile(t.Context(), w.chat, w.view, dir, transfer.FileImportOptions{})
	if err != nil || got.Conversations != 2 || got.Messages != 2 {
		t.Fatalf("%+v %v", got, err)
	}
	write("p/s1.jsonl", first+`{"parentUuid":"a1","type":"assistant","message":{"id":"m","role":"assistant","content":"The upper one."},"uuid":"a2","sessionId":"s1"}`+"\n")
	got, err = transfer.ImportFile(t.Context(), w.chat, w.view, dir, transfer.FileImportOptions{})
	if err != nil || got.Conversations != 0 || got.Messages != 1 || got.Known != 2 {
		t.Errorf("%+v %v", got, err)
	}
	if _, err = transfer.ImportFile(t.Context(), w.chat, w.view, t.TempDir(), transfer.FileImportOptions{}); err == nil {
		t.Error("an empty folder is no error")
	}
}

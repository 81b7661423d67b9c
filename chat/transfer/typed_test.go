package transfer_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// claudeSession is a log of Claude Code of messages of a person, each a text or a list of blocks, and its answer.
func claudeSession(t *testing.T, typed ...any) string {
	t.Helper()
	var list []string
	line := func(v map[string]any) {
		raw, err := json.Marshal(v)
		must(t, err)
		list = append(list, string(raw))
	}
	parent := ""
	for i, content := range append(typed, nil) {
		id := "u" + string(rune('a'+i))
		message := map[string]any{"role": "user", "content": content}
		if content == nil {
			message = map[string]any{"role": "assistant", "id": "m", "content": "basalt"}
		}
		line(map[string]any{"type": message["role"], "uuid": id, "parentUuid": parent, "sessionId": "s", "message": message})
		parent = id
	}
	return lines(list...)
}

func textBlocks(texts ...string) (list []any) {
	for _, s := range texts {
		list = append(list, map[string]any{"type": "text", "text": s})
	}
	return list
}

// saidIn are the messages of an export, without their times.
func saidIn(t *testing.T, export string) string {
	t.Helper()
	_, said, _ := strings.Cut(told(t, export), "\n")
	return strings.ReplaceAll(said, " 00:00", "")
}

// TestCHAT51_WhatAProgramPutIn goes, and what the person typed stays.
func TestCHAT51_WhatAProgramPutIn(t *testing.T) {
	const q, note = "Which quartz?", "<system-reminder>\ngranite\n\nmore\n</system-reminder>"
	for name, c := range map[string]struct {
		typed any
		want  string
	}{
		"before, in one text":         {note + "\n" + q, q},
		"before, on its line":         {"<system-reminder>granite</system-reminder>" + q, q},
		"behind":                      {q + "\n\n" + note, q},
		"before and behind":           {note + note + "\n" + q + "\n" + note + "\n", q},
		"between":                     {q + "\n" + note + "\nAnd why?", q + "\n\nAnd why?"},
		"a block before":              {textBlocks(note, q), q},
		"a block behind":              {textBlocks(q, note), q},
		"an open file":                {textBlocks("<ide_opened_file>The user opened /granite.py in the IDE.</ide_opened_file>", q), q},
		"a selection":                 {"<ide_selection>granite\nfrom 1 to 2</ide_selection>\n" + q, q},
		"plugins":                     {"<recommended_plugins>granite</recommended_plugins>\n" + q, q},
		"a task":                      {q + "\n<task-notification>\n<task-id>granite</task-id>\n</task-notification>", q},
		"an interruption":             {q + "\n[Request interrupted by user for tool use]", q},
		"an editor's context":         {"# Context from my IDE setup:\n\n## Active file: granite.go\n\n## My request for Codex:\n" + q, q},
		"instructions, then asked":    {"# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\ngranite\n</INSTRUCTIONS>\n" + q, q},
		"a command":                   {"<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>the quartz file</command-args>", "/review the quartz file"},
		"a command, its name first":   {"<command-name>/review</command-name>\n <command-message>review</command-message>\n <command-args>a\nb</command-args>", "/review a\nb"},
		"a command of no words":       {textBlocks("<command-name>/init</command-name><command-args></command-args>", q), q},
		"elements of the person":      {"<div>quartz</div> why is this red?", "<div>quartz</div> why is this red?"},
		"an element without its end":  {"<system-reminder> what is it?", "<system-reminder> what is it?"},
		"within a line":               {"What does <system-reminder>x</system-reminder> do?", "What does <system-reminder>x</system-reminder> do?"},
		"quoted in a fence":           {"Explain:\n```\n<system-reminder>x</system-reminder>\n```", "Explain:\n```\n<system-reminder>x</system-reminder>\n```"},
		"blanks of the person's own":  {"  " + q + "\n\n\nAnd [why]?\n", "  " + q + "\n\n\nAnd [why]?\n"},
		"Codex's image, wrapped":      {textBlocks("<image name=[Image #1]>", "</image>", q), q},
		"a caveat before the command": {"Caveat: The messages below were generated.\n" + q, q},
	} {
		if got, want := saidIn(t, claudeSession(t, c.typed)), "user: "+c.want+"\nassistant: basalt\n"; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for _, alone := range []string{
		note, "[Request interrupted by user]", "<bash-input>ls</bash-input>", "<bash-stdout>x</bash-stdout><bash-stderr></bash-stderr>",
		"<command-name>/clear</command-name>", "<local-command-stdout>x</local-command-stdout>", "# AGENTS.md instructions for /x",
	} {
		if got := saidIn(t, claudeSession(t, alone)); got != "assistant: basalt\n" {
			t.Errorf("%q is left as %q", alone, got)
		}
	}
}

// TestCHAT51_ErrorsOfTheProgramAreNoAnswer: neither of the network, nor of a limit, nor that there was nothing to say.
func TestCHAT51_ErrorsOfTheProgramAreNoAnswer(t *testing.T) {
	for _, said := range []string{"API Error: 529 overloaded", "Claude usage limit reached", "No response requested."} {
		export := lines(
			`{"type":"summary","summary":"<system-reminder>x</system-reminder>\nHuts"}`,
			`{"parentUuid":null,"type":"user","message":{"role":"user","content":"Which hut?"},"uuid":"a","sessionId":"s"}`,
			`{"parentUuid":"a","type":"assistant","isApiErrorMessage":true,"message":{"id":"e","model":"<synthetic>","role":"assistant","content":[{"type":"text","text":"`+said+`"}]},"uuid":"b","sessionId":"s"}`,
			`{"parentUuid":"b","type":"assistant","message":{"id":"m","role":"assistant","content":"The upper one."},"uuid":"c","sessionId":"s"}`,
		)
		if got := told(t, export); got != "claude-code s Huts\nuser 00:00: Which hut?\nassistant 00:00: The upper one.\n" {
			t.Error(got)
		}
	}
}

// TestCHAT51_CodexItems: lines of what Codex shows count once with those of what it sends, in whatever order they come.
func TestCHAT51_CodexItems(t *testing.T) {
	const meta = `{"timestamp":"2026-01-02T10:00:00Z","type":"session_meta","payload":{"id":"c","timestamp":"2026-01-02T10:00:00Z","cwd":"/x"}}`
	sent := func(role, content string) string {
		return `{"type":"response_item","payload":{"type":"message","role":"` + role + `","content":[` + content + `]}}`
	}
	item := func(kind, content string) string {
		return `{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"` + kind + `","id":"i` + kind + `","content":[` + content + `]}}}`
	}
	user, image := `{"type":"input_text","text":"Which hut?"}`, `{"type":"input_image","image_url":"data:,"}`
	env := sent("user", `{"type":"input_text","text":"<environment_context>x</environment_context>"}`)
	answer := sent("assistant", `{"type":"output_text","text":"The upper one."}`)
	shownUser, shownAnswer := item("UserMessage", `{"type":"text","text":"Which hut?"}`), item("AgentMessage", `{"type":"Text","text":"The upper one."}`)
	const want = "user: Which hut?\nassistant: The upper one.\n"
	for name, c := range map[string]struct{ export, want string }{
		"alone":          {lines(meta, env, shownUser, item("Reasoning", ""), shownAnswer), want},
		"behind":         {lines(meta, env, sent("user", user), shownUser, answer, shownAnswer), want},
		"before":         {lines(meta, shownUser, sent("user", user), shownAnswer, answer), want},
		"one side alone": {lines(meta, shownUser, answer), want},
		"asked twice":    {lines(meta, sent("user", user), shownUser, answer, shownAnswer, sent("user", user), shownUser), want + "user: Which hut?\n"},
		"with an image":  {lines(meta, sent("user", user+","+image), shownUser, answer), "user: Which hut?\n\n[image]\nassistant: The upper one.\n"},
	} {
		if got := saidIn(t, c.export); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestCHAT51_GeminiWritesAMessageAgain, and the later one counts, in its place.
func TestCHAT51_GeminiWritesAMessageAgain(t *testing.T) {
	const head, user = `{"sessionId":"g","projectHash":"h","startTime":"x"}`, `{"id":"1","type":"user","content":[{"text":"Which hut?"}]}`
	answer := func(id, kind, said string) string {
		return `{"id":"` + id + `","type":"` + kind + `","content":` + said + `}`
	}
	const want = "user: Which hut?\nassistant: The upper one.\n"
	for name, c := range map[string]struct{ export, want string }{
		"longer":          {lines(head, user, answer("2", "gemini", `"The"`), answer("2", "gemini", `"The upper one."`)), want},
		"alike":           {lines(head, user, answer("2", "gemini", `"The upper one."`), answer("2", "gemini", `"The upper one."`)), want},
		"later, behind":   {lines(head, user, answer("2", "gemini", `"The"`), answer("3", "gemini", `"Go."`), answer("2", "gemini", `"The upper one."`)), want + "assistant: Go.\n"},
		"then without":    {lines(head, user, answer("2", "gemini", `"The upper one."`), answer("2", "gemini", `""`)), want},
		"type model":      {lines(head, user, answer("2", "model", `[{"text":"The upper one."}]`)), want},
		"in one object":   {`{"sessionId":"g","projectHash":"h","messages":[` + user + `,` + answer("2", "gemini", `"The"`) + `,` + answer("2", "model", `"The upper one."`) + `]}`, want},
		"without any ids": {lines(head, answer("", "user", `"Which hut?"`), answer("", "gemini", `"The upper one."`)), want},
	} {
		if got := saidIn(t, c.export); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestCHAT51_ActivityOfGeminiInAnyLanguage is found in its archive, and of its titles the question stays.
func TestCHAT51_ActivityOfGeminiInAnyLanguage(t *testing.T) {
	const answered = `,"safeHtmlItem":[{"html":"<p>The upper one.</p>"}]`
	record := func(title, more string) string {
		raw, err := json.Marshal(title)
		must(t, err)
		return `{"header":"Gemini-Apps","title":` + string(raw) + `,"time":"2026-01-02T10:01:00Z","products":["Gemini-Apps"]` + more + `}`
	}
	const both = "user: Which hut?\nassistant: The upper one.\n"
	for name, c := range map[string]struct {
		records []string
		want    string // of what the first one says
	}{
		"MyActivity.json":       {[]string{record("Prompted Which hut?", answered)}, both},
		"MeineAktivitäten.json": {[]string{record("Eingegebener Prompt: Which hut?", answered)}, both},
		"MonActivité.json":      {[]string{record("Requête : Which hut?", answered)}, both},
		"マイアクティビティ.json":        {[]string{record("入力：Which hut?", answered), record("入力：b", ""), record("入力：c", ""), record("Gemini", "")}, both},
		"MijnActiviteit.json":   {[]string{record("Ingevoerd: Which hut?", answered), record("Ingevoerd: Is it: so?", answered), record("Ingevoerd: c", answered)}, both},
		"a/colon/alone.json":    {[]string{record("Say: Which hut?", answered), record("b", answered), record("c", answered)}, "user: Say: Which hut?\nassistant: The upper one.\n"},
		"MinAktivitet.json": {[]string{
			record("Du skrev inn Which hut?", answered), record("Du skrev inn Which way?", answered), record("Du skrev inn b", answered),
			record("Du skrev inn Can I?", answered), record("Du skrev inn e", answered), record("Brukte Gemini", ""),
		}, both},
		"no/words/before.json": {[]string{
			record("Which hut?", answered), record("Which way?", answered), record("c", answered), record("d d", answered),
			record("e e", answered),
		}, both},
		"what/was/done.json": {[]string{
			record("Brukte Gemini i dag", ""), record("Brukte Gemini i går", ""), record("Brukte Gemini nå", ""),
			record("Brukte Gemini a", ""), record("Brukte Gemini b", ""), record("Which hut?", answered),
		}, both},
		"a/lone/question.json":   {[]string{record("Prompted Which hut?", "")}, "user: Which hut?\n"},
		"and/what/was/none.json": {[]string{record("Used an Assistant feature", ""), record("Prompted Which hut?", "")}, "user: Which hut?\n"},
	} {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for file, holds := range map[string]string{"Takeout/" + name: "[" + strings.Join(c.records, ",") + "]", "Takeout/b/watch.json": `[{"header":"YouTube","title":"Watched Gemini","time":"x"}]`} {
			w, err := z.Create(file)
			must(t, err)
			_, err = w.Write([]byte(holds))
			must(t, err)
		}
		must(t, z.Close())
		got := strings.ReplaceAll(strings.ReplaceAll(saidIn(t, b.String()), " 10:01", ""), "\n\n", "\n")
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

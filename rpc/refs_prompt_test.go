package rpc_test

import (
	"fmt"
	"strings"
	"testing"
)

// referredTo returns the lines of the section of what the user referred to, and what was left out.
func (d *daemon) referredTo(params string) (lines []string, dropped string) {
	d.t.Helper()
	res := d.do("context.assemble", params)
	_, section, _ := strings.Cut(at(res, "system").(string), "## What the user referred to\n")
	for _, line := range strings.Split(section, "\n") {
		if strings.HasPrefix(line, "- ") {
			lines = append(lines, line)
		}
	}
	for _, of := range at(res, "report.dropped").([]any) {
		item := of.(map[string]any)
		dropped += fmt.Sprintf("%v %v %v %v|", item["kind"], item["id"], item["title"], item["reason"])
	}
	return lines, strings.ReplaceAll(dropped, "<nil>", "-")
}

// life writes memories, contexts and a conversation for messages to refer to, and returns its handle.
func (d *daemon) life() (handle string) {
	d.t.Helper()
	d.do("types.put", `{"name":"Person","fields":[]}`)
	d.do("entities.put", `{"id":"alice","type":"Person","name":"Alice Novak"}`)
	d.do("entities.put", `{"id":"bob","type":"Person","name":"Bob"}`)
	d.do("contexts.put", `{"id":"health","name":"Health Goals"}`)
	d.do("contexts.put", `{"id":"sport","name":"Sport","parentId":"health"}`)
	d.do("memory.add", `{"id":"run","handle":"running","statement":"I run on Mondays","contexts":["sport"],"tags":["fitness"]}`)
	d.do("memory.add", `{"id":"nap","handle":"sleeping","statement":"I sleep [well]\n## Not","contexts":["health"],"questions":["How do I sleep?"]}`)
	d.do("memory.add", `{"id":"boss","statement":"My boss is Alice Novak","domains":["work"]}`)
	d.do("memory.add", `{"id":"secret","handle":"my_secret","statement":"nobody knows","contexts":["health"],"private":true}`)
	talk := d.do("chat.append", `{"title":"Fix bus","messages":[{"role":"user","content":"is it late?"},{"role":"assistant","content":"it is"}]}`)
	return at(d.do("chat.get", `{"ref":"`+at(talk, "conversationId").(string)+`"}`), "conversation.handle").(string)
}

// TestREF10_WhatTheMessageRefersTo stands in the prompt: messages first, then memories in the order of the
// message, each once with its highest label, attached ones behind them.
func TestREF10_WhatTheMessageRefersTo(t *testing.T) {
	d := start(t)
	handle := d.life()
	const (
		run   = "[fact] I run on Mondays [id:run]"
		sleep = `[fact] I sleep \[well\]`
		boss  = "[fact] My boss is Alice Novak [id:boss]"
	)
	for text, want := range map[string][]string{
		"@running and #2?":                    {"- [REFERENCED @running] " + run, "- [REFERENCED #2] " + sleep},
		"#2, then @running":                   {"- [REFERENCED #2] " + sleep, "- [REFERENCED @running] " + run},
		"@health_goals_context":               {"- [REFERENCED @health_goals_context] " + sleep, "- [REFERENCED @health_goals_context] " + run},
		"@running of @Health Goals":           {"- [REFERENCED @running] " + run, "- [REFERENCED @Health Goals] " + sleep},
		"@fitness_tag":                        {"- [REFERENCED @fitness_tag] " + run},
		"@work_domain":                        {"- [REFERENCED @work_domain] " + boss},
		"what does @Alice Novak do?":          {"- [REFERENCED @Alice Novak] " + boss},
		"what does @Bob do?":                  nil,
		"@running @conv_" + handle + "_msg_2": {"- [REFERENCED @conv_" + handle + "_msg_2] [conversation_message, assistant, ", "- [REFERENCED @running] " + run},
		"`@running` and a@running":            nil,
	} {
		lines, dropped := d.referredTo(`{"text":` + quoted(text) + `}`)
		if len(lines) != len(want) {
			t.Errorf("%s: %q, want %q", text, lines, want)
			continue
		}
		for i := range want {
			if !strings.HasPrefix(lines[i], want[i]) {
				t.Errorf("%s: line %d is %q, want %q", text, i, lines[i], want[i])
			}
		}
		if strings.Contains(dropped, "running") {
			t.Errorf("%s: %s", text, dropped)
		}
	}
	lines, dropped := d.referredTo(`{"text":"@running","attachedMemoryIds":["boss","run"]}`)
	if want := []string{"- [REFERENCED @running] " + run, "- [ATTACHED] " + boss}; fmt.Sprint(lines) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", lines, want)
	}
	if dropped != "memory run - duplicate|" {
		t.Error(dropped)
	}
	xml := at(d.do("context.assemble", `{"text":"@running","format":"xml"}`), "system").(string)
	if !strings.Contains(xml, `<memory id="run" source="referenced" kind="fact" tier="memoryBank" status="active" ref="@running"`) {
		t.Error(xml)
	}
}

// TestREF7_WhatLeadsNowhereIsReported, and what several records are called; a mention of an entity is what it was.
func TestREF7_WhatLeadsNowhereIsReported(t *testing.T) {
	d := start(t)
	handle := d.life()
	d.do("contexts.put", `{"id":"twin","name":"Bob"}`)
	for text, want := range map[string]string{
		"#99 and #99":                "memory - #99 unknown|",
		"@mem:nobody":                "memory - mem:nobody unknown|",
		"@nobody_knows":              "entity - nobody_knows unknown|",
		"@Bob":                       "entity - Bob ambiguous|",
		"@conv_" + handle + "_msg_9": "memory - conv_" + handle + "_msg_9 unknown|",
	} {
		lines, dropped := d.referredTo(`{"text":` + quoted(text) + `}`)
		if len(lines) > 0 || dropped != want {
			t.Errorf("%s: %q, left out %s, want %s", text, lines, dropped, want)
		}
	}
}

// TestREF9_APromptForARemoteModel has nothing that is private; who may know it is told what was left out.
func TestREF9_APromptForARemoteModel(t *testing.T) {
	d := start(t)
	d.life()
	for text, want := range map[string]string{
		"@my_secret":            "memory secret - private|",
		"#4":                    "memory secret - private|",
		"@health_goals_context": "memory secret - private|",
	} {
		lines, dropped := d.referredTo(`{"text":` + quoted(text) + `}`)
		if strings.Contains(strings.Join(lines, ""), "nobody knows") || dropped != want {
			t.Errorf("%s: %q, left out %s", text, lines, dropped)
		}
		lines, dropped = d.referredTo(`{"text":` + quoted(text) + `,"audience":"local"}`)
		if !strings.Contains(strings.Join(lines, ""), "nobody knows") || dropped != "" {
			t.Errorf("%s, for a local model: %q, left out %s", text, lines, dropped)
		}
	}
}

// TestREF13_WholeItemsOfTheLargestGroupGoFirst where there is no room for all.
func TestREF13_WholeItemsOfTheLargestGroupGoFirst(t *testing.T) {
	d := start(t)
	d.do("contexts.put", `{"id":"big","name":"Big one"}`)
	for i := range 12 {
		d.do("memory.add", fmt.Sprintf(`{"id":"m%02d","statement":"%d %s","summary":"s","contexts":["big"]}`, i, i, strings.Repeat("word ", 600)))
	}
	d.do("memory.add", `{"id":"small","handle":"small_one","statement":"small"}`)
	lines, dropped := d.referredTo(`{"text":"@big_one_context and @small_one"}`)
	if n := len(lines); n < 7 || n > 9 || !strings.HasPrefix(lines[n-1], "- [REFERENCED @small_one]") {
		t.Errorf("%d lines: %.80q", n, lines)
	}
	if strings.Count(dropped, " budget|") != 13-len(lines) {
		t.Error(dropped)
	}
}

// TestREF6_TheQueryIsWithoutReferences: a note is found by what is asked of a memory, not by its handle, but by
// the name of an entity and by what leads nowhere.
func TestREF6_TheQueryIsWithoutReferences(t *testing.T) {
	d := start(t)
	d.life()
	d.do("notes.put", `{"id":"n1","title":"Handles","body":"running running running"}`)
	d.do("notes.put", `{"id":"n2","title":"Kitchen","body":"the kitchen is blue"}`)
	d.do("notes.put", `{"id":"n3","title":"Zebra","body":"zebra zebra"}`)
	for text, want := range map[string][2]bool{
		"@running and the kitchen":  {false, true},
		"@zebra_one of the kitchen": {false, true},
		"running in the kitchen":    {true, true},
	} {
		system := at(d.do("context.assemble", `{"searchNotes":5,"text":`+quoted(text)+`}`), "system").(string)
		got := [2]bool{strings.Contains(system, "[[Handles]]"), strings.Contains(system, "[[Kitchen]]")}
		if got != want {
			t.Errorf("%s: notes found %v, want %v", text, got, want)
		}
	}
}

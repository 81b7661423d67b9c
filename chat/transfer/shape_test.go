package transfer_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat/transfer"
)

// said are the texts of the messages.
func said(c transfer.ForeignConversation) []string {
	var out []string
	for _, m := range c.Messages {
		out = append(out, m.Text)
	}
	return out
}

func messageIDs(c transfer.ForeignConversation) []string {
	var out []string
	for _, m := range c.Messages {
		out = append(out, m.ID)
	}
	return out
}

// chatGPTNode is a node of a mapping, with a message of the user.
func chatGPTNode(id, parent string) string {
	if parent != "null" {
		parent = `"` + parent + `"`
	}
	return `"` + id + `":{"id":"` + id + `","message":{"author":{"role":"user"},"content":{"parts":["` + id +
		`"]}},"parent":` + parent + `}`
}

func TestCHAT36_TreesOfChatGPT(t *testing.T) {
	for name, test := range map[string]struct {
		nodes      []string
		rest       string
		want       []string
		branches   int
		incomplete int
	}{
		"a line": {
			nodes: []string{chatGPTNode("a", "null"), chatGPTNode("b", "a"), chatGPTNode("c", "b")},
			rest:  `,"current_node":"c"`, want: []string{"a", "b", "c"},
		},
		"in any order": {
			nodes: []string{chatGPTNode("c", "b"), chatGPTNode("a", "null"), chatGPTNode("b", "a")},
			rest:  `,"current_node":"c"`, want: []string{"a", "b", "c"},
		},
		"branches": {
			nodes: []string{
				chatGPTNode("a", "null"), chatGPTNode("b", "a"), chatGPTNode("b2", "a"), chatGPTNode("c", "b"),
				chatGPTNode("c2", "b"),
			},
			rest: `,"current_node":"c"`, want: []string{"a", "b", "c"}, branches: 2,
		},
		"it ends at a message with answers": {
			nodes: []string{chatGPTNode("a", "null"), chatGPTNode("b", "a"), chatGPTNode("c", "b")},
			rest:  `,"current_node":"b"`, want: []string{"a", "b"}, branches: 1,
		},
		"no current node": {
			nodes: []string{chatGPTNode("a", "null"), chatGPTNode("b", "a"), chatGPTNode("c", "a")},
			want:  []string{"a", "c"}, branches: 1,
		},
		"an unknown current node": {
			nodes: []string{chatGPTNode("a", "null"), chatGPTNode("b", "a")},
			rest:  `,"current_node":"z"`, want: []string{"a", "b"},
		},
		"the current node is no string": {
			nodes: []string{chatGPTNode("a", "null"), chatGPTNode("b", "a")},
			rest:  `,"current_node":{"b":1}`, want: []string{"a", "b"},
		},
		"the newest without a current node": {
			nodes: []string{
				chatGPTNode("a", "null"),
				`"b":{"message":{"author":{"role":"user"},"create_time":9,"content":{"parts":["b"]}},"parent":"a"}`,
				`"c":{"message":{"author":{"role":"user"},"create_time":8,"content":{"parts":["c"]}},"parent":"a"}`,
			},
			want: []string{"a", "b"}, branches: 1,
		},
		"a cycle": {
			nodes: []string{chatGPTNode("a", "c"), chatGPTNode("b", "a"), chatGPTNode("c", "b")},
			rest:  `,"current_node":"c"`, want: []string{"a", "b", "c"}, incomplete: 1,
		},
		"a cycle without a current node": {
			nodes: []string{chatGPTNode("a", "b"), chatGPTNode("b", "a")},
			want:  []string{"a", "b"}, incomplete: 1,
		},
		"its own parent": {
			nodes: []string{chatGPTNode("a", "a")},
			rest:  `,"current_node":"a"`, want: []string{"a"}, incomplete: 1,
		},
		"a missing parent": {
			nodes: []string{chatGPTNode("a", "null"), chatGPTNode("b", "gone"), chatGPTNode("c", "b")},
			rest:  `,"current_node":"c"`, want: []string{"b", "c"}, branches: 1, incomplete: 1,
		},
		"children in place of parents": {
			nodes: []string{
				`"a":{"message":{"author":{"role":"user"},"content":{"parts":["a"]}},"children":["b",5,"a"]}`,
				`"b":{"message":{"author":{"role":"user"},"content":{"parts":["b"]}}}`,
			},
			rest: `,"current_node":"b"`, want: []string{"a", "b"},
		},
		"null messages and nodes": {
			nodes: []string{`"r":null`, `"a":{"message":null,"parent":"r"}`, chatGPTNode("b", "a"), `"x":{"message":5,"parent":"b"}`},
			rest:  `,"current_node":"x"`, want: []string{"b"},
		},
		"an id twice": {
			nodes: []string{
				`"a":{"message":{"author":{"role":"user"},"content":{"parts":["the first"]}},"parent":null}`,
				chatGPTNode("a", "null"), chatGPTNode("b", "a"),
			},
			rest: `,"current_node":"b"`, want: []string{"a", "b"}, branches: 1,
		},
		"a stray node without a current node": {
			nodes: []string{chatGPTNode("a", "null"), `"x":{"message":null,"parent":null}`},
			want:  []string{"a"},
		},
		"a null answer without a current node": {
			nodes: []string{chatGPTNode("a", "null"), `"x":{"message":null,"parent":"a"}`, `"y":{"message":null,"parent":null}`},
			want:  []string{"a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			export := `[{"id":"x","mapping":{` + strings.Join(test.nodes, ",") + `}` + test.rest + `}]`
			found, report := readGood(t, export)
			if len(found) != 1 || !slices.Equal(said(found[0]), test.want) {
				t.Fatalf("read %v", found)
			}
			if report.Branches != test.branches || report.Incomplete != test.incomplete {
				t.Errorf("%d branches and %d incomplete, want %d and %d",
					report.Branches, report.Incomplete, test.branches, test.incomplete)
			}
		})
	}
}

func TestCHAT36_TreesOfClaude(t *testing.T) {
	message := func(id, rest string) string {
		return `{"uuid":"` + id + `","sender":"human","text":"` + id + `"` + rest + `}`
	}
	root := `,"parent_message_uuid":"00000000-0000-4000-8000-000000000000"`
	after := func(id string) string { return `,"parent_message_uuid":"` + id + `"` }
	for name, test := range map[string]struct {
		messages   []string
		rest       string
		want       []string
		branches   int
		incomplete int
	}{
		"a list": {messages: []string{message("a", ""), message("b", "")}, want: []string{"a", "b"}},
		"branches": {
			messages: []string{message("a", root), message("b", after("a")), message("c", after("a"))},
			want:     []string{"a", "c"}, branches: 1,
		},
		"a current message": {
			messages: []string{message("a", root), message("b", after("a")), message("c", after("a"))},
			rest:     `,"current_leaf_message_uuid":"b"`, want: []string{"a", "b"}, branches: 1,
		},
		"older messages name no parent": {
			messages: []string{message("a", ""), message("b", ""), message("c", after("b"))},
			want:     []string{"a", "b", "c"},
		},
		"two beginnings": {
			messages: []string{message("a", root), message("b", root)},
			want:     []string{"b"}, branches: 1,
		},
		"a missing parent": {
			messages: []string{message("a", root), message("b", after("gone"))},
			want:     []string{"b"}, branches: 1, incomplete: 1,
		},
		"a cycle": {
			messages: []string{message("a", after("b")), message("b", after("a"))},
			want:     []string{"a", "b"}, incomplete: 1,
		},
		"null messages": {messages: []string{"null", message("a", ""), "[]", message("b", "")}, want: []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			export := `[{"uuid":"x","chat_messages":[` + strings.Join(test.messages, ",") + `]` + test.rest + `}]`
			found, report := readGood(t, export)
			if len(found) != 1 || !slices.Equal(said(found[0]), test.want) {
				t.Fatalf("read %v", found)
			}
			if report.Branches != test.branches || report.Incomplete != test.incomplete {
				t.Errorf("%d branches and %d incomplete, want %d and %d",
					report.Branches, report.Incomplete, test.branches, test.incomplete)
			}
		})
	}
}

// A member of a wrong type counts as absent, and the rest of the conversation is read.
func TestCHAT36_WrongTypesAreTolerated(t *testing.T) {
	for _, wrong := range []string{"null", "5", "true", `"x"`, "[]", "{}", `[null,{"a":[]}]`, "1e999", "-0"} {
		chatGPT := `[{"title":W,"create_time":W,"update_time":W,"current_node":W,"conversation_id":W,"x":W,
			"mapping":{"w":W,"a":{"id":W,"children":W,"parent":null,"message":{"id":W,"author":{"role":"user","name":W,"metadata":W},
			"create_time":W,"content":{"content_type":"text","parts":["said"]},"metadata":W,"status":W}},
			"b":{"message":W,"parent":"a"},"c":{"message":{"author":W,"content":W,"recipient":W},"parent":"b"}},"current_node":"c"}]`
		found, report := readGood(t, strings.ReplaceAll(chatGPT, "W", wrong))
		if len(found) != 1 || found[0].Messages[0].Text != "said" || report.Skipped != 0 {
			t.Errorf("ChatGPT with %s: %v, %+v", wrong, found, report)
		}
		claude := `[{"uuid":W,"name":W,"created_at":W,"updated_at":W,"current_leaf_message_uuid":W,"chat_messages":[W,
			{"uuid":"1","sender":"human","text":"said","content":[],"created_at":W,"attachments":W,"files":W,"parent_message_uuid":null},
			{"uuid":"2","sender":"assistant","text":"answered","content":[W,{"type":W,"text":W}],"attachments":[W],"files":[]}]}]`
		found, report = readGood(t, strings.ReplaceAll(claude, "W", wrong))
		if len(found) != 1 || !strings.HasPrefix(found[0].Messages[0].Text, "said") || report.Skipped != 0 {
			t.Errorf("Claude with %s: %v, %+v", wrong, found, report)
		}
		for _, c := range found {
			checkConversation(t, c)
		}
	}
}

// The member that holds the messages is the one that a conversation must have.
func TestCHAT36_ElementsThatAreNoConversations(t *testing.T) {
	for element, reason := range map[string]transfer.ProblemReason{
		"null": transfer.ReasonNoConversation, "7": transfer.ReasonNoConversation, `"x"`: transfer.ReasonNoConversation,
		"[]": transfer.ReasonNoConversation, "{}": transfer.ReasonNoConversation,
		`{"mapping":null}`: transfer.ReasonWithoutText, `{"mapping":[]}`: transfer.ReasonWithoutText,
		`{"chat_messages":{}}`: transfer.ReasonWithoutText, `{"chat_messages":"x"}`: transfer.ReasonWithoutText,
	} {
		found, report := readGood(t, "["+element+","+claudeTalk("a", "1")+"]")
		want := transfer.ReadProblem{Number: 1, Offset: 1, End: int64(1 + len(element)), Reason: reason}
		if len(found) != 1 || len(report.Problems) != 1 || report.Problems[0] != want {
			t.Errorf("%s: read %d, %+v", element, len(found), report)
		}
	}
}

func TestCHAT36_Texts(t *testing.T) {
	for written, want := range map[string]string{
		`"plain"`:              "plain",
		`"\u00e4\ud83d\ude00"`: "ä😀",
		`"a\ud83db"`:           "a\ufffdb",
		`"\udc00\ud800"`:       "\ufffd\ufffd",
		`"a\u0000b"`:           "a\ufffdb",
		"\"a\xffb\"":           "a\ufffdb",
		"\"a\xff\\nb\"":        "a\ufffd\nb",
		`"\"\\\/\b\f\n\r\t"`:   "\"\\/\b\f\n\r\t",
		`"  two lines\n"`:      "  two lines\n",
		`"` + strings.Repeat("x", 3*transfer.WindowSize) + `"`: strings.Repeat("x", 3*transfer.WindowSize),
	} {
		found, _ := readGood(t, `[{"uuid":"u","chat_messages":[{"sender":"human","text":`+written+`}]}]`)
		if len(found) != 1 || found[0].Messages[0].Text != want {
			t.Errorf("%.40s: read %.80v", written, found)
		}
	}
	for _, blank := range []string{`""`, `" \n\t"`, "null"} {
		found, report := readGood(t, `[{"uuid":"u","chat_messages":[{"sender":"human","text":`+blank+`}]}]`)
		if len(found) != 0 || report.Empty != 1 || report.LeftOut.Blank != 1 {
			t.Errorf("%s: read %v, %+v", blank, found, report)
		}
	}
}

func TestCHAT36_Times(t *testing.T) {
	at := time.Date(2026, 1, 5, 3, 32, 10, 285031000, time.UTC)
	for written, want := range map[string]time.Time{
		"1767583930.285031":                  at,
		`"1767583930.285031"`:                at,
		`"2026-01-05T03:32:10.285031Z"`:      at,
		`"2026-01-05T04:32:10.285031+01:00"`: at,
		`"2026-01-05T03:32:10.285031"`:       at,
		`"2026-01-05 03:32:10.285031"`:       at,
		`"2026-01-05 03:32:10.285031+00:00"`: at,
		"0":                                  {},
		"-5":                                 {},
		"1e300":                              {},
		"99999999999999":                     {},
		`"NaN"`:                              {},
		`"Infinity"`:                         {},
		`"yesterday"`:                        {},
		`"0000-00-00T00:00:00Z"`:             {},
		`"1900-01-01T00:00:00Z"`:             {},
		"null":                               {},
	} {
		found, _ := readGood(t, `[{"uuid":"u","created_at":`+written+`,"chat_messages":[{"sender":"human","text":"t"}]}]`)
		if got := found[0].CreatedAt; !got.Equal(want) {
			t.Errorf("%s: %v, want %v", written, got, want)
		}
	}
}

// Ids are what makes a second import find the messages of the first.
func TestCHAT36_IDs(t *testing.T) {
	long := strings.Repeat("x", 5000)
	read := func(export string) transfer.ForeignConversation {
		t.Helper()
		found, _ := readGood(t, export)
		if len(found) != 1 {
			t.Fatalf("read %v", found)
		}
		checkConversation(t, found[0])
		return found[0]
	}
	message := func(id, text string) string { return `{"uuid":` + id + `,"sender":"human","text":"` + text + `"}` }
	c := read(`[{"uuid":"u","chat_messages":[` + message(`"a"`, "1") + "," + message(`"a"`, "2") + "," +
		message("null", "3") + "," + message(`"a#2"`, "4") + `]}]`)
	if got := messageIDs(c); !slices.Equal(got, []string{"a", "a#2", "#3", "a#2#2"}) {
		t.Errorf("ids %q", got)
	}
	// Many messages of one id cost no more than others.
	c = read(`[{"uuid":"u","chat_messages":[` + strings.Repeat(message(`"a"`, "1")+",", 50_000) + message(`"b"`, "2") + `]}]`)
	if got := messageIDs(c); len(got) != 50_001 || got[49_999] != "a#50000" || got[50_000] != "b" {
		t.Errorf("%d ids, the last ones %q", len(got), got[len(got)-2:])
	}
	c = read(`[{"uuid":"` + long + `","chat_messages":[` + message(`"`+long+`"`, "1") + `]}]`)
	if len(c.ID) > 64 || len(c.Messages[0].ID) > 64 {
		t.Errorf("long ids: %q, %q", c.ID, c.Messages[0].ID)
	}
	short := read(`[{"name":"n","chat_messages":[` + message(`"a"`, "1") + `]}]`)
	grown := read(`[{"chat_messages":[` + message(`"a"`, "1") + "," + message(`"b"`, "2") + `],"name":"n"}]`)
	other := read(`[{"name":"n","chat_messages":[` + message(`"c"`, "1") + `]}]`)
	if short.ID == "" || short.ID != grown.ID || short.ID == other.ID {
		t.Errorf("made ids: %q, grown %q, of another %q", short.ID, grown.ID, other.ID)
	}
}

func TestCHAT36_RepeatedConversationsAreCounted(t *testing.T) {
	found, report := readGood(t, "["+claudeTalk("a", "1")+","+claudeTalk("b", "1")+","+claudeTalk("a", "2")+"]")
	if len(found) != 3 || report.Repeated != 1 {
		t.Errorf("read %d, %+v", len(found), report)
	}
}

// A fence is longer than those in its code, so the code stays one block.
func TestCHAT36_CodeKeepsItsFences(t *testing.T) {
	found, _ := readGood(t, `[{"id":"x","mapping":{"a":{"message":{"author":{"role":"assistant"},`+
		`"content":{"content_type":"code","language":"a\nb","text":"`+"```\\nx\\n```"+`"}},"parent":null}}}]`)
	if want := "````\n```\nx\n```\n````"; found[0].Messages[0].Text != want {
		t.Errorf("text %q, want %q", found[0].Messages[0].Text, want)
	}
}

// Who speaks and to whom decides what counts as said, whatever kind of content it is.
func TestCHAT36_WhatCountsAsSaid(t *testing.T) {
	for message, want := range map[string]transfer.SkippedMessages{
		`"author":{"role":"tool"}`:                           {Tool: 1},
		`"author":{"role":"assistant"},"recipient":"python"`: {Tool: 1},
		`"author":{"role":"assistant"},"recipient":"all"`:    {},
		`"author":{"role":"assistant"},"recipient":null`:     {},
		`"author":{"role":"system"}`:                         {},
		`"author":{"role":"critic"}`:                         {Hidden: 1},
		`"author":{}`:                                        {Hidden: 1},
		`"author":{"role":"user"},"metadata":{"is_visually_hidden_from_conversation":true}`:          {Hidden: 1},
		`"author":{"role":"user"},"metadata":{"is_visually_hidden_from_conversation":false}`:         {},
		`"author":{"role":"system"},"metadata":{"is_user_system_message":true}`:                      {Hidden: 1},
		`"author":{"role":"tool"},"metadata":{"is_visually_hidden_from_conversation":true,"x":null}`: {Hidden: 1},
	} {
		found, report := readGood(t, `[{"id":"x","mapping":{"a":{"message":{`+message+`,"content":{"parts":["t"]}},"parent":null}}}]`)
		if report.LeftOut != want || (len(found) == 1) != (want == transfer.SkippedMessages{}) {
			t.Errorf("%s: read %v, left out %+v", message, found, report.LeftOut)
		}
	}
}

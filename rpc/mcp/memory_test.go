package mcp_test

import (
	"strings"
	"testing"

	"github.com/ctxd/ctxd/rpc/mcp"
)

// TestMEM5_NothingIsDeletedHere: memories are written, changed and put away over their
// whole way, and what was put away can be restored.
func TestMEM5_NothingIsDeletedHere(t *testing.T) {
	d := start(t)
	h := d.open(mcp.Options{AllowWrite: true})
	text := h.call("remember", `{"statement":"The user\nkeeps bees","kind":"identity","tags":["#garden"],"questions":["Who keeps bees?"]}`)
	h.contains("new", text, "Remembered [id:memory-1].")
	h.contains("again", h.call("remember", `{"statement":"the user keeps bees."}`), "That is known already: [identity, 2026-01-31] The user keeps bees [id:memory-1]")
	m, err := d.rooms.Memory.Get(d.rooms.Audience.View("local"), "memory-1")
	must(t, err)
	if m.Source.Kind != "assistant" || m.Source.Client != mcp.ClientName || m.Tags[0] != "garden" || m.Use.Mentioned != 1 {
		t.Errorf("%+v", m)
	}
	h.contains("changed", h.call("update_memory", `{"memory":"#1","statement":"The user keeps three hives","confidence":0.9,"tags":[]}`),
		"Changed the memory [id:memory-1], which is at version 2 now.")
	h.contains("profile", h.call("memory_profile", `{}`), "- [identity, 2026-01-31] The user keeps three hives [id:memory-1]\n")
	h.call("update_memory", `{"memory":"[id:memory-1]","contested":true}`)
	h.contains("contested", h.call("remember", `{"statement":"The user keeps three hives"}`), "[identity, 2026-01-31, contested] The user")
	h.contains("put away", h.call("forget_memory", `{"memory":"@`+m.Handle+`"}`), "Archived the memory [id:memory-1]", "Nothing was deleted")
	h.contains("none left", h.call("memory_profile", `{}`), "Nothing yet.")
	d.put("memory.restore", `{"id":"memory-1"}`)
	h.contains("it is back", h.call("memory_profile", `{}`), "three hives")
	h.contains("wrong", h.call("forget_memory", `{"memory":"memory-1","wrong":true}`), "Retracted the memory [id:memory-1]", "Nothing was deleted")
	if v, err := d.rooms.Memory.Get(d.rooms.Audience.View("local"), "memory-1"); err != nil || v.Status != "retracted" {
		t.Errorf("%+v %v", v, err)
	}
	for _, c := range []struct{ tool, args, want string }{
		{"remember", `{"statement":" "}`, "statement"},
		{"remember", `{"statement":"x","supersedes":["#9"]}`, `no memory has the id, handle or number in "supersedes"`},
		{"update_memory", `{"memory":"#9","tags":[]}`, "memory_profile shows memories with their ids"},
		{"update_memory", `{"memory":" "}`, "memory is needed"},
		{"update_memory", `{"memory":"memory-1","statement":"x"}`, "retracted"},
		{"forget_memory", `{"memory":"memory-1"}`, "retracted"},
		{"forget_memory", `{"memory":"claim_9"}`, "no memory has"},
	} {
		h.contains(c.tool+c.args, h.fails(c.tool, c.args), c.want)
	}
}

// TestPRIV8_AMemoryWithWithheldPartsIsNotWrittenBack: another statement would lose them.
func TestPRIV8_AMemoryWithWithheldPartsIsNotWrittenBack(t *testing.T) {
	d := start(t)
	d.put("notes.put", `{"id":"secret","title":"Secret","body":"x","private":true}`,
		"memory.add", `{"id":"m","kind":"goal","statement":"The user finishes [[Secret]] in May"}`)
	h := d.open(mcp.Options{AllowWrite: true})
	h.contains("masked", h.call("memory_profile", `{}`), "The user finishes (private) in May [id:m]")
	h.contains("refused", h.fails("update_memory", `{"memory":"m","statement":"The user finishes (private) in June"}`), "would be lost", "ask the user")
	h.call("update_memory", `{"memory":"m","confidence":0.9}`)
	local := d.open(mcp.Options{AllowWrite: true, IncludePrivate: true})
	local.call("update_memory", `{"memory":"m","statement":"The user finishes [[Secret]] in June"}`)
	if text := h.call("memory_profile", `{}`); strings.Contains(text, "Secret") || !strings.Contains(text, "June") {
		t.Error(text)
	}
}

package records

// This file and memories_*.go are ctxd memory and ctxd contexts: what is remembered about the person, and the parts of
// a life that it belongs to. There is a command for each method of memories, contexts and learning.
//
// A command takes a memory by its id, handle or number, and a context by its id or handle; the daemon says which
// record that is (connect.FindMemory, connect.FindContext), and the call that follows names it by its id. What goes on
// around a memory is ctxd inspect memory, in cmd/ctxd/inspect, whose drawing memories_show.go shares.

import (
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
)

// MemoryCommand is ctxd memory.
type MemoryCommand struct {
	Add           addMemory        `cmd:"" help:"Write a memory down: one statement about you or your world."`
	List          listMemories     `cmd:"" help:"List the memories."`
	Search        searchMemories   `cmd:"" help:"Find the memories that answer a question."`
	Show          showMemory       `cmd:"" help:"Show a memory, and what it said before."`
	Set           updateMemory     `cmd:"" help:"Change parts of a memory; what it said before is kept."`
	Pin           pinMemory        `cmd:"" help:"Pin a memory: it is always in the prompts that show memories."`
	Unpin         unpinMemory      `cmd:"" help:"Unpin a memory."`
	Archive       archiveMemory    `cmd:"" help:"Take a memory out of what is found. ctxd memory restore brings it back."`
	Restore       restoreMemory    `cmd:"" help:"Bring an archived memory back, or what a memory said before."`
	Retract       retractMemory    `cmd:"" help:"Say that a memory was wrong. It stays, and is found by its id alone."`
	Delete        deleteMemory     `cmd:"" help:"Delete a memory for good."`
	Forget        forget           `cmd:"" help:"Delete all memories that stem from a conversation, a note or a program, or all."`
	Similar       similarMemories  `cmd:"" help:"Find the memories that say much the same as one."`
	Synonyms      synonyms         `cmd:"" help:"Say which words mean the same when memories are searched."`
	Profile       profile          `cmd:"" help:"Show what is known about you: what a conversation begins with."`
	Outcome       outcomeOf        `cmd:"" help:"Say how an answer, or memories, worked out: they are scored, and what was learned is kept."`
	Judge         judge            `cmd:"" help:"Have a model say how the answers of a conversation worked out."`
	Promote       promoteMemories  `cmd:"" help:"Move memories that proved themselves to tiers that last, and archive those that failed."`
	Upkeep        upkeepOfFacts    `cmd:"" help:"Keep facts in order: what supports, contradicts and repeats them."`
	Conflicts     conflicts        `cmd:"" help:"Settle the pairs of memories that are in conflict."`
	Events        eventsOf         `cmd:"" help:"List what learning did to memories."`
	Stats         stats            `cmd:"" help:"Count the memories, and show which are used."`
	Concepts      conceptsCmd      `cmd:"" help:"List what memories and messages speak of, draw it, or show one of it."`
	Insights      insightsCmd      `cmd:"" help:"Show what became of memories about the subjects of a text."`
	Effectiveness effectivenessCmd `cmd:"" help:"Show which tools and memories helped with a kind of task."`
	Export        exportMemories   `cmd:"" help:"Write all memories to a file."`
	Import        importMemories   `cmd:"" help:"Read memories from a file, also of other programs."`
}

// Help is what --help says of the command.
func (MemoryCommand) Help() string {
	return "A memory has a number, such as 42, and a handle, such as prefer_morning_workouts_a3f2. " +
		"Every command takes either, or the id; # before a number and @ before a handle may be left out."
}

// Examples are those of --help.
func (MemoryCommand) Examples() []term.Example {
	return []term.Example{
		{`ctxd memory add "I prefer morning workouts" --kind preference`, "remember something"},
		{"ctxd memory list --kind preference", "what is remembered"},
		{"ctxd memory show 42", "one memory, by its number"},
	}
}

// MemoryVars are the variables of the help and the values of the flags.
func MemoryVars() kong.Vars {
	return kong.Vars{
		"memoryTiers": strings.Join(record.Tiers, ","), "memoryKinds": strings.Join(record.MemoryKinds, ","),
		"memoryStatuses": strings.Join(record.MemoryStatuses, ","), "memoryDates": search.Dates,
		"memoryOutcomes": strings.Join(record.Outcomes, ","),
	}
}

// moment reads the date of a flag, nil for none.
func moment(flag, text string) (*time.Time, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // no date, and nothing wrong with that
	}
	at, ok := search.Moment(text, time.Now())
	if !ok {
		return nil, term.Misuse("--"+flag+" "+term.ShellQuoted(text)+" is no date",
			"such as "+search.Dates+", or a time such as 2026-01-31T09:30:00Z")
	}
	return &at, nil
}

// contextIDs returns the ids of the contexts that flags name, nil for none.
func contextIDs(a *MemoryOptions, cl *client.Client, refs []string) (list []string, err error) {
	for _, ref := range refs {
		c, err := connect.FindContext(a.Ctx, cl, ref)
		if err != nil {
			return nil, err
		}
		list = append(list, c.ID)
	}
	return list, nil
}

// memoryIDs returns the ids of the memories that arguments or flags name, nil for none.
func memoryIDs(a *MemoryOptions, cl *client.Client, refs []string) (list []string, err error) {
	for _, ref := range refs {
		m, err := connect.FindMemory(a.Ctx, cl, ref)
		if err != nil {
			return nil, err
		}
		list = append(list, m.ID)
	}
	return list, nil
}

// entityIDs returns the ids of the entities that flags name, nil for none.
func entityIDs(a *MemoryOptions, cl *client.Client, refs []string) (list []string, err error) {
	for _, ref := range refs {
		id, err := connect.FindEntity(a.Ctx, cl, ref)
		if err != nil {
			return nil, err
		}
		list = append(list, id)
	}
	return list, nil
}

// noteIDs returns the ids of the notes that flags name, nil for none.
func noteIDs(a *MemoryOptions, cl *client.Client, refs []string) (list []string, err error) {
	for _, ref := range refs {
		n, err := connect.FindNote(a.Ctx, cl, a.Err, ref)
		if err != nil {
			return nil, err
		}
		list = append(list, n.ID)
	}
	return list, nil
}

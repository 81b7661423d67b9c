package mcp

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/chat/tools/render"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/rpc/client/rows"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// addWriting declares the tools of a host that may write.
func (s *server) addWriting() {
	add(s, replaces, "write_note", "Write a note",
		"Make a note, or with note replace the text of one. A note that comes from a file is written where the user allows it; elsewhere propose_edit makes a diff.",
		inputOf[writeInput](nil), (*call).writeNote)
	add(s, adds, "append_to_note", "Add to a note",
		"Add lines at the end of a note, also while others write to it. A note that comes from a file is written where the user allows it; elsewhere propose_edit makes a diff.",
		inputOf[appendInput](nil), (*call).appendToNote)
	add(s, reads, "propose_edit", "Propose an edit of a file",
		"For a note that comes from a file: make a unified diff that replaces one place (old, new) or the whole text (text). Nothing is changed: apply the diff to the file yourself.",
		inputOf[editInput](nil), (*call).proposeEdit)
	add(s, replaces, "put_entity", "Write an entity",
		"Make an entity of a type, or with entity change the given fields of one. Not for entities that come from files.",
		inputOf[putInput](nil), (*call).putEntity)
	add(s, adds, "remember", "Remember something about the user",
		"Write one statement about the user or their world down, for later conversations. The same statement again is only counted.",
		rememberSchema(), (*call).remember)
	add(s, replaces, "update_memory", "Change a memory",
		"Change what a memory says, or what is said of it. Its former statement is kept.",
		updateSchema(), (*call).updateMemory)
	add(s, adds, "record_response", "Say how an answer went",
		"Score the memories that the last recall has shown by how the answer went for the user, and keep what was learned. What worked is found sooner.",
		responseSchema(), (*call).recordResponse)
	add(s, adds, "record_outcome", "Say how it went with memories",
		"Score memories by how it went with them.",
		outcomeSchema(), (*call).recordOutcome)
	add(s, replaces, "forget_memory", "Put a memory away",
		"Archive a memory that is not needed any more, or retract one that was wrong. Nothing is deleted.",
		inputOf[forgetInput](nil), (*call).forgetMemory)
}

// changesNothing reports whether a call only shows what it would change.
func changesNothing(in any) bool {
	switch in := in.(type) {
	case writeInput:
		return in.DryRun
	case appendInput:
		return in.DryRun
	}
	return false
}

// writeInput are the arguments of write_note.
type writeInput struct {
	Note  string   `json:"note,omitempty" jsonschema:"the note whose text is replaced: its title, path or id; absent for a new one"`
	Title string   `json:"title,omitempty" jsonschema:"title of a new note, or another title"`
	Text  string   `json:"text" jsonschema:"the whole text, Markdown"`
	Path  string   `json:"path,omitempty" jsonschema:"path of a new note, such as Meetings/Kickoff.md"`
	Tags  []string `json:"tags,omitempty" jsonschema:"tags beside those in the text"`
	Vault string   `json:"vault,omitempty" jsonschema:"make a new note as a file of this vault"`

	DryRun bool `json:"dryRun,omitempty" jsonschema:"show what would change, and change nothing"`
}

func (c *call) writeNote(in writeInput) (string, error) {
	var n protocol.NoteSaved
	if in.Note == "" {
		if in.Title == "" {
			return "", fault.Field("title", "title is needed for a new note")
		}
		switch same, err := c.findNote("[[" + in.Title + "]]"); {
		case err == nil:
			return "", fault.Clash(fault.Exists, "there is a note with that title").
				WithHint("give it as note to replace its text, or choose another title").
				WithCandidates(append([]fault.Candidate{{ID: same.ID, Title: same.Title, Path: same.Path}}, same.Others...))
		case fault.KindOf(err) != fault.NotFound:
			return "", err
		}
		err := c.write("notes.put", protocol.NotePut{
			NoteRecord: protocol.NoteRecord{Title: in.Title, Body: in.Text, Path: in.Path, Tags: in.Tags}, Vault: in.Vault,
			Conditions: protocol.Conditions{DryRun: in.DryRun},
		}, &n)
		return savedText("Made the note", &n, in.DryRun), err
	}
	if in.Path+in.Vault != "" {
		return "", fault.Field("path", "path is for a new note, as is vault")
	}
	old, err := c.writable(in.Note)
	if err != nil {
		return "", err
	}
	patch := protocol.NotePatch{ID: old.ID, Body: &in.Text, IfVersion: &old.Version, Conditions: protocol.Conditions{DryRun: in.DryRun}}
	if in.Title != "" {
		patch.Title = protocol.Some(in.Title)
	}
	if in.Tags != nil {
		patch.Tags = protocol.Some(in.Tags)
	}
	err = c.write("notes.patch", patch, &n)
	return savedText("Replaced the text of the note", &n, in.DryRun), err
}

// savedText says what a write to a note did, or would do.
func savedText(what string, n *protocol.NoteSaved, dryRun bool) string {
	switch {
	case !dryRun:
		return writtenText(what, n.ID, n.Version)
	case n.Diff == "":
		return "Nothing that is shown here would change.\n"
	}
	return n.Diff
}

func writtenText(what, id string, version int) string {
	return fmt.Sprintf("%s%s, which is at version %d now.\n", what, render.ID(id), version)
}

// appendInput are the arguments of append_to_note.
type appendInput struct {
	Note string `json:"note" jsonschema:"the note: its title, path or id"`
	Text string `json:"text" jsonschema:"the lines to add, Markdown"`

	DryRun bool `json:"dryRun,omitempty" jsonschema:"show what would change, and change nothing"`
}

func (c *call) appendToNote(in appendInput) (string, error) {
	old, err := c.findNote(in.Note)
	if err != nil {
		return "", err
	}
	var n protocol.NoteSaved
	patch := protocol.NotePatch{ID: old.ID, Append: &in.Text, Conditions: protocol.Conditions{DryRun: in.DryRun}}
	for try := range maxAppends {
		err = c.write("notes.patch", patch, &n)
		if !isChanged(err) || !c.wait(appendWait<<try) {
			break
		}
	}
	return savedText("Added to the note", &n, in.DryRun), err
}

// How often lines are added while others write to the note, and how long the second try waits; each further one waits
// twice as long as the one before.
const (
	maxAppends = 5
	appendWait = 20 * time.Millisecond
)

// isChanged reports whether a record was changed while it was written: nothing was written then.
func isChanged(err error) bool {
	var f *fault.Error
	return errors.As(err, &f) && (f.Reason == fault.Changed || f.Reason == fault.StaleVersion)
}

// wait returns false when the call ends before the time is over.
func (c *call) wait(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.ctx.Done():
		return false
	}
}

// writable returns a note of which everything is shown.
func (c *call) writable(name string) (*protocol.NoteFull, error) {
	n, err := c.findNote(name)
	if err != nil {
		return nil, err
	}
	return n, c.wholly(n)
}

// wholly returns an error for a note of which parts are not shown: written back, they
// would be lost.
func (c *call) wholly(n *protocol.NoteFull) error {
	if c.opts.IncludePrivate || !strings.Contains(n.Body, record.Withheld) {
		return nil
	}
	return fault.New(fault.Unavailable, "parts of the note are private and not shown, so they would be lost").
		WithHint("ask the user to make the change")
}

// editInput are the arguments of propose_edit.
type editInput struct {
	Note string  `json:"note" jsonschema:"the note: its title, path or id"`
	Old  string  `json:"old,omitempty" jsonschema:"the place to replace, exactly as it stands in the note, once"`
	New  string  `json:"new,omitempty" jsonschema:"what stands there afterwards"`
	Text *string `json:"text,omitempty" jsonschema:"in the place of old and new: the whole text"`
}

func (c *call) proposeEdit(in editInput) (string, error) {
	if (in.Old == "") == (in.Text == nil) {
		return "", fault.Field("old", "either old and new are needed, or text")
	}
	n, err := c.findNote(in.Note)
	if err != nil {
		return "", err
	}
	if !n.VaultBacked {
		return "", fault.Clash(fault.State, "the note comes from no file").WithHint("write_note changes it")
	}
	if err := c.wholly(n); err != nil {
		return "", err
	}
	now, err := edited(n.Body, in)
	if err != nil {
		return "", err
	}
	diff := text.UnifiedDiff(n.Path, n.Body, now)
	if diff == "" {
		return "Nothing would change.\n", nil
	}
	return diff, nil
}

// edited returns a text with an edit, whose line ends become those of the text.
func edited(body string, in editInput) (string, error) {
	like := func(s string) string { return s }
	if strings.Contains(body, "\r\n") {
		like = func(s string) string {
			return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
		}
	}
	if in.Text != nil {
		return like(*in.Text), nil
	}
	old := in.Old
	if !strings.Contains(body, old) {
		old = like(old)
	}
	switch strings.Count(body, old) {
	case 0:
		return "", fault.Field("old", "old does not stand in the note").WithHint("read_note shows its text")
	case 1:
		return strings.Replace(body, old, like(in.New), 1), nil
	}
	return "", fault.Field("old", "old stands in the note several times").WithHint("give more of the text around it")
}

// putInput are the arguments of put_entity.
type putInput struct {
	Entity  string         `json:"entity,omitempty" jsonschema:"the entity to change: its name or id; absent for a new one"`
	Type    string         `json:"type,omitempty" jsonschema:"type of a new entity, such as Person"`
	Name    string         `json:"name,omitempty" jsonschema:"name of a new entity, or another name"`
	Aliases []string       `json:"aliases,omitempty" jsonschema:"other names, in the place of those it has"`
	Fields  map[string]any `json:"fields,omitempty" jsonschema:"values by field name: text, number, boolean or a list; a reference is a name or id; null empties a field"`
}

func (c *call) putEntity(in putInput) (string, error) {
	var e record.Entity
	if in.Entity == "" {
		if in.Type == "" || in.Name == "" {
			return "", fault.Field("name", "type and name are needed for a new entity")
		}
		fields, err := c.fieldValues(&protocol.EntityFull{Entity: record.Entity{Type: in.Type}}, in.Fields)
		if err != nil {
			return "", err
		}
		var same protocol.EntityFull
		err = c.ask("entities.get", protocol.EntityGet{Ref: in.Name, Type: in.Type}, &same)
		switch {
		case err == nil && same.ArchivedAt == nil:
			return "", fault.Clash(fault.Exists, "there is an entity of that type and name").
				WithHint("give it as entity to change its fields, or choose another name").
				WithCandidates([]fault.Candidate{{ID: same.ID, Name: same.Name, Type: same.Type}})
		case err != nil && fault.KindOf(err) != fault.NotFound:
			return "", err
		}
		err = c.write("entities.put", protocol.EntityPut{
			EntityRecord: protocol.EntityRecord{Type: in.Type, Name: in.Name, Aliases: in.Aliases, Fields: fields},
		}, &e)
		return writtenText("Made the entity", e.ID, e.Version), err
	}
	if in.Type != "" {
		return "", fault.Field("type", "type is for a new entity")
	}
	old, err := c.findEntity(in.Entity, 0)
	if err != nil {
		return "", err
	}
	if old.VaultBacked {
		return "", fault.Clash(fault.VaultBacked, "the entity comes from a file and changes with it alone").
			WithHint("propose_edit makes a diff for the note that describes it")
	}
	fields, err := c.fieldValues(old, in.Fields)
	if err != nil {
		return "", err
	}
	patch := protocol.EntityPatch{ID: old.ID, Fields: fields, IfVersion: &old.Version}
	if in.Name != "" {
		patch.Name = &in.Name
	}
	if in.Aliases != nil {
		patch.Aliases = protocol.Some(in.Aliases)
	}
	err = c.write("entities.patch", patch, &e)
	return writtenText("Changed the entity", e.ID, e.Version), err
}

// fieldValues returns values for an entity, of which a new one has its type alone, those of
// references as ids.
func (c *call) fieldValues(e *protocol.EntityFull, given map[string]any) (record.Values, error) {
	if len(given) == 0 {
		return nil, nil
	}
	var list protocol.TypeList
	if err := c.ask("types.list", protocol.Empty{}, &list); err != nil {
		return nil, err
	}
	types := rows.NewReader(list.Types, nil)
	values := make(record.Values, len(given))
	for _, name := range slices.Sorted(maps.Keys(given)) { // of several that are wrong the same one is told each time
		value := given[name]
		f, known := types.FieldOf(rows.Entity(e), name)
		var err error
		if known {
			value, err = c.fieldValue(f, value)
		}
		if err != nil {
			return nil, fault.In("fields."+name, err)
		}
		values[name] = value
	}
	return values, nil
}

func (c *call) fieldValue(f record.Field, value any) (any, error) {
	to := f.Type.Info().To
	switch v := value.(type) {
	case string:
		switch to {
		case record.ToEntity:
			e, err := c.findEntity(v, 0)
			if err != nil {
				return nil, err
			}
			return e.ID, nil
		case record.ToNote:
			return c.noteID(v)
		}
	case []any:
		out := slices.Clone(v)
		for i := range out {
			var err error
			out[i], err = c.fieldValue(f, out[i])
			if err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return value, nil
}

// write calls a method of the daemon that changes records.
func (c *call) write(method string, params, result any) error {
	err := c.daemon.Once(c.ctx, method, params, result)
	var f *fault.Error
	switch {
	case !errors.As(err, &f) || f.Kind != fault.Conflict:
	case f.Field == "ifVersion":
		return fault.Clash(fault.StaleVersion, "the record was changed meanwhile").WithHint("read it and call again")
	case f.Reason == fault.VaultBacked && f.Field == "" && strings.HasPrefix(method, "notes."):
		return fault.Clash(fault.VaultBacked, "the note comes from a file, and ctxd may not write to it").
			WithHint("propose_edit makes a diff for the file; the setting vault.write names folders that may be written")
	}
	return err
}

package mcp

import (
	"errors"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
)

// maxErrorChars bounds the text of an error, which may quote an argument.
const maxErrorChars = 2000

// The errors of a host that asks for what is not there.
func noNote() error {
	return fault.New(fault.NotFound, "there is no such note").WithHint("search_notes finds notes")
}

func noEntity() error {
	return fault.New(fault.NotFound, "there is no such entity").WithHint("list_entities shows the entities of a type")
}

// severalNotes is the error for a title or path that more than one note has, instead
// of the daemon's.
func severalNotes(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Conflict {
		return err
	}
	return fault.New(fault.Conflict, "several notes have that title or path").
		WithHint("name one of these by its id").WithCandidates(f.Candidates)
}

func noRecord(field string) error {
	e := fault.New(fault.NotFound, "there is no note or entity with the id in %q", field).
		WithHint("search_notes and list_entities give ids")
	e.Field = field
	return e
}

// explain makes the error of a tool, whose text is for the model.
func (s *server) explain(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return errors.New(startOfLine(fault.Message(err)))
	}
	var b strings.Builder
	msg, field := arguments.Replace(f.Msg), arguments.Replace(f.Field)
	b.WriteString(startOfLine(msg))
	if field != "" && !strings.Contains(msg, field) {
		b.WriteString(" (" + field + ")")
	}
	if f.Line > 0 {
		b.WriteString(place(f.Line, f.Column))
	}
	if f.Retryable {
		b.WriteString("\nCalling again later may work.")
	}
	if hint := hints.Replace(f.Hint); hint != "" {
		b.WriteString("\nTry: " + inline(hint))
	}
	for _, c := range f.Candidates {
		b.WriteString("\n- " + candidateLine(c))
	}
	return errors.New(b.String())
}

// arguments puts the names of arguments in the place of params of the daemon.
var arguments = strings.NewReplacer(
	"filter.", "", "mentionedEntityIds", "entityIds", "mentionedNoteIds", "noteIds", "budgets.total", "maxChars",
)

// hints puts the names of tools in the place of methods of the daemon.
var hints = strings.NewReplacer(
	"notes.complete", "search_notes", "notes.search", "search_notes", "notes.similar", "similar_notes",
	"entities.complete", "list_entities",
	"entities.list", "list_entities", "types.list", "list_types", "notes.get", "read_note", "entities.get",
	"get_entity",
	"wql.check", "list_types",
)

func candidateLine(c fault.Candidate) string {
	line := inline(c.Title + c.Name)
	if c.Type != "" {
		line += " (" + inline(c.Type) + ")"
	}
	line += idMark(c.ID)
	if c.Path != "" {
		line += " " + inline(c.Path)
	}
	return line
}

// clip shortens the text of an error that quotes a long argument.
func clip(res sdk.Result) sdk.Result {
	tool, ok := res.(*sdk.CallToolResult)
	if !ok || tool == nil || !tool.IsError {
		return res
	}
	for _, content := range tool.Content {
		if t, ok := content.(*sdk.TextContent); ok {
			t.Text, _ = prompt.Cut(t.Text, maxErrorChars)
		}
	}
	return res
}

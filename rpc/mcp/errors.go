package mcp

import (
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxd/ctxd/chat/tools/render"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
)

// maxErrorChars bounds the text of an error, which may quote an argument.
const maxErrorChars = standardChars

func noRecord(field string) error {
	e := fault.New(fault.NotFound, "no note or entity has the name or id in %q", field).
		WithHint("search_notes and list_entities find them")
	e.Field = field
	return e
}

// wholeError is an error whose text a model gets as it is: what it quotes is escaped.
type wholeError string

func (e wholeError) Error() string { return string(e) }

// explain makes the error of a tool, whose text is for the model.
func (s *server) explain(err error) error {
	var whole wholeError
	if errors.As(err, &whole) {
		return wholeError(s.words.Replace(string(whole)))
	}
	var f *fault.Error
	if !errors.As(err, &f) {
		return errors.New(render.Line(fault.Message(err)))
	}
	var b strings.Builder
	msg, field := arguments.Replace(f.Msg), arguments.Replace(f.Field)
	b.WriteString(render.Line(msg))
	if field != "" && !strings.Contains(msg, field) {
		b.WriteString(" (" + render.Inline(field) + ")")
	}
	if f.Line > 0 {
		fmt.Fprintf(&b, " at line %d, column %d", f.Line, f.Column)
	}
	if f.Retryable {
		b.WriteString("\nCalling again later may work.")
	}
	if hint := s.words.Replace(hints.Replace(f.Hint)); hint != "" {
		b.WriteString("\nTry: " + render.Inline(hint))
	}
	for _, c := range f.Candidates {
		b.WriteString("\n- " + render.Candidate(c))
	}
	return errors.New(b.String())
}

// arguments puts the names of arguments in the place of params of the daemon.
var arguments = strings.NewReplacer(
	"filter.", "", "mentionedEntityIds", "entities", "mentionedNoteIds", "notes", "budgets.total", "maxChars",
)

// hints puts the names of tools in the place of methods of the daemon.
var hints = strings.NewReplacer(
	"notes.complete", "search_notes", "notes.search", "search_notes", "notes.similar", "related_notes",
	"notes.links", "related_notes", "notes.list", "list_notes", "tags.list", "list_tags", "vault.list", "list_notes",
	"entities.complete", "list_entities",
	"entities.list", "list_entities", "types.list", "list_types", "notes.get", "read_note", "entities.get",
	"get_entity",
	"wql.check", "list_types", "memory.search", "recall", "memory.list", "recall", "memory.get", "recall",
	"books.get", "read_book", "memory.outcome", "record_outcome", "context.assemble", "assemble_context",
)

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

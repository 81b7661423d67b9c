package protocol

import "github.com/ctxd/ctxd/entities/record"

// PersonalityPut are the parameters of personality.put.
type PersonalityPut struct {
	ID        string `json:"id,omitempty" jsonschema:"of a-z, 0-9 and hyphens, at most 64; made of identity.name when absent"`
	Template  string `json:"template" jsonschema:"YAML, at most 64 KiB"`
	IfVersion *int   `json:"ifVersion,omitempty" min:"0" jsonschema:"fail with a conflict unless the version is this one; 0: unless there is none of the id"`
}

// PersonalityFull is a personality with its template, and how a prompt shows it.
type PersonalityFull struct {
	Personality record.Personality       `json:"personality" jsonschema:"the personality with its template"`
	Section     string                   `json:"section" jsonschema:"what prompts begin with when it is active, in Markdown; empty where the template can't be read any more"`
	Warnings    []record.TemplateProblem `json:"warnings" jsonschema:"what of the template says nothing to a model, and what it lacks"`
}

// PersonalityRef are the parameters of personality.get.
type PersonalityRef struct {
	Ref string `json:"ref,omitempty" formerly:"id" jsonschema:"id of the personality; the active one when absent"`
}

// PersonalityList is the result of personality.list.
type PersonalityList struct {
	Personalities []record.Personality `json:"personalities" jsonschema:"presets, then the person's own by id"`
}

// PersonalityActivate are the parameters of personality.activate.
type PersonalityActivate struct {
	ID string `json:"id" jsonschema:"the personality that prompts begin with from now on; empty: none"`
}

// PersonalityActivated is the result of personality.activate.
type PersonalityActivated struct {
	ID string `json:"id" jsonschema:"the active personality; empty: none"`
}

// PersonalityTemplate are the parameters of personality.validate.
type PersonalityTemplate struct {
	Template string `json:"template" jsonschema:"YAML"`
	Format   string `json:"format,omitempty" enum:"markdown,xml" default:"markdown" jsonschema:"how the section is written"`
}

// PersonalityValidated is the result of personality.validate.
type PersonalityValidated struct {
	OK       bool                     `json:"ok" jsonschema:"whether personality.put takes the template"`
	ID       string                   `json:"id,omitempty" jsonschema:"that personality.put makes of its name"`
	Errors   []record.TemplateProblem `json:"errors" jsonschema:"why it does not"`
	Warnings []record.TemplateProblem `json:"warnings" jsonschema:"what of the template says nothing to a model, and what it lacks"`
	Section  string                   `json:"section,omitempty" jsonschema:"what prompts begin with when it is active"`
}

// PersonalityExport are the parameters of personality.export.
type PersonalityExport struct {
	IDs []string `json:"ids,omitempty" jsonschema:"of those to be written; all of the person's own when absent"`
}

// PersonalityExported is the result of personality.export.
type PersonalityExported struct {
	Text string `json:"text" jsonschema:"YAML that personality.import reads"`
}

// PersonalityImport are the parameters of personality.import.
type PersonalityImport struct {
	Text    string `json:"text" jsonschema:"what personality.export wrote, or one template; at most 8 MiB"`
	Replace bool   `json:"replace,omitempty" jsonschema:"write over personalities that say something else"`
}

// PersonalityImported is the result of personality.import.
type PersonalityImported struct {
	IDs       []string                            `json:"ids" jsonschema:"personalities that were written"`
	Unchanged []string                            `json:"unchanged" jsonschema:"those that say the same already"`
	Warnings  map[string][]record.TemplateProblem `json:"warnings,omitempty" jsonschema:"what of a template says nothing to a model, by the id of the personality"`
}

// PersonalityDelete are the parameters of personality.delete.
type PersonalityDelete struct {
	ID        string `json:"id" jsonschema:"the personality"`
	IfVersion *int   `json:"ifVersion,omitempty" min:"1" jsonschema:"fail with a conflict unless the version is this one"`
}

// PersonalityChanged is the parameter of personality.changed.
type PersonalityChanged struct {
	IDs  []string `json:"ids" jsonschema:"the personalities; empty when kind is many"`
	Kind string   `json:"kind" enum:"put,delete,activate,deactivate,many" jsonschema:"what happened to them; activate: prompts begin with it; deactivate: they do so no more; many: too many to list, read everything again"`
	Seq  uint64   `json:"seq" jsonschema:"number of the commit, as in admin.health; of several that were merged, the last"`
}

const (
	exampleTemplate    = `"identity: {name: Ada, role: a research assistant}\ncommunication: {tone: warm}\n"`
	examplePersonality = `{"id":"ada","name":"Ada","role":"a research assistant","version":1,"createdAt":"2026-03-01T12:00:00Z","updatedAt":"2026-03-01T12:00:00Z","template":` + exampleTemplate + `}`
	exampleSection     = `"## Personality\nYou are Ada, a research assistant.\n…\nStyle: warm.\n"`
	exampleWarnings    = `[{"line":1,"column":1,"path":"formatting","message":"formatting is missing, so a model hears nothing of it"}]`
	exampleFull        = `{"personality":` + examplePersonality + `,"section":` + exampleSection + `,"warnings":` + exampleWarnings + `}`
)

// Each is for a local connection: every prompt of every client begins with what is chosen here.
var personalityMethods = []Method{
	daemon(describe[Empty, PersonalityList]("personality.list", Read,
		"List how the assistant can speak, and which way is active.", "",
		Example{`{}`, `{"personalities":[{"id":"default","name":"ctxd","role":"an assistant that knows the user's notes","preset":true,"active":true}]}`})),
	daemon(describe[PersonalityPut, PersonalityFull]("personality.put", Mutation,
		"Create or replace a personality of the person's own.",
		"A template with errors is refused, with the line and column of the first one. What is only odd is a warning, and is left out of the prompt. The active one is in the next prompt.",
		Example{`{"template":` + exampleTemplate + `}`, exampleFull}, CodeConflict, CodeLimit, CodeUnavailable)),
	daemon(describe[PersonalityRef, PersonalityFull]("personality.get", Read,
		"Read a personality, its template and what a prompt shows of it.", "",
		Example{`{"ref":"ada"}`, exampleFull}, CodeNotFound)),
	daemon(describe[PersonalityActivate, PersonalityActivated]("personality.activate", Mutation,
		"Have prompts begin with a personality from now on, or with none.",
		"In effect for the next prompt of every client. context.assemble {personality: false} leaves it out.",
		Example{`{"id":"teacher"}`, `{"id":"teacher"}`}, CodeNotFound, CodeUnavailable)),
	daemon(describe[PersonalityDelete, Deleted]("personality.delete", Mutation,
		"Delete a personality of the person's own that is not active.", "",
		Example{`{"id":"ada"}`, `{"id":"ada"}`}, CodeNotFound, CodeConflict, CodeUnavailable)),
	storeless(describe[PersonalityTemplate, PersonalityValidated]("personality.validate", Read,
		"Find what is wrong with a template of a personality, and what a prompt would show of it.", "",
		Example{
			`{"template":"identity: {name: Ada}\n"}`,
			`{"ok":false,"errors":[{"line":1,"column":1,"path":"communication","message":"communication is missing","hint":"add it; ctxd personality show default --template prints an example"}],"warnings":[]}`,
		})),
	daemon(describe[PersonalityExport, PersonalityExported]("personality.export", Read,
		"Write personalities to one text.", "",
		Example{`{"ids":["ada"]}`, `{"text":"personalities:\n  ada: |\n    identity: {name: Ada, role: a research assistant}\n    communication: {tone: warm}\n"}`}, CodeNotFound)),
	daemon(describe[PersonalityImport, PersonalityImported]("personality.import", Mutation,
		"Read personalities from a text: all of them, or none.",
		"What they say, models are told once one is activated: read what you import.",
		Example{`{"text":` + exampleTemplate + `}`, `{"ids":["ada"],"unchanged":[]}`}, CodeConflict, CodeLimit, CodeUnavailable)),
}

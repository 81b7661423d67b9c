package personality

// A template says how an assistant is to speak: YAML that a person writes or chooses. [ParseTemplate] says what is
// wrong with it, by line and column, and what is only odd; Section renders it as the first section of a prompt.
//
// A template is a mapping of sections, each a mapping of options:
//
//	identity:            name (the only one that must be there), role, expertise (a list), background
//	communication:       tone, verbosity, formality, use_analogies, use_examples, use_humor
//	response_behavior:   citation_style, clarification, show_reasoning, step_by_step, prioritize
//	memory_usage:        priority, pattern_trust, historical_context
//	formatting:          structure, code_blocks, emphasis
//	personality_traits:  a list of words
//	custom_instructions: a text, which stands in the prompt as it is
//
// template_options.go declares every option that is chosen among values, with what it says to a model. An option that
// is absent says nothing.
//
// Errors are: no YAML, no mapping, a part of the wrong kind, identity, communication or identity.name missing, a text
// that is too long. All else is a warning: an unknown section, option or value, with the nearest known one, and a
// section that is missing. What a warning is about is left out of the prompt.
//
// All functions are pure, linear in the text, and may be called concurrently. Aliases of YAML are refused, so a small
// text stays small. [Presets] are templates that are compiled in.

import (
	"strings"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/record"
)

// Template is what a text says, without what only a warning was about.
type Template struct {
	Name         string
	Role         string
	Expertise    []string
	Background   string
	Chosen       map[string]string // by "section.option", of Options
	Traits       []string
	Instructions string
}

// TemplateProblem is something about a template, at a place of its text.
type TemplateProblem = record.TemplateProblem

// says returns what the options of a section that are chosen say, in their order.
func (t *Template) says(section string) (list []string) {
	for _, o := range TemplateOptions {
		if o.Section != section {
			continue
		}
		chosen := t.Chosen[o.Section+"."+o.Name]
		for _, v := range o.Values {
			if v.Name == chosen && v.Says != "" {
				list = append(list, v.Says)
			}
		}
	}
	return list
}

// Personality is what a prompt shows of the template.
func (t *Template) Personality(id string) *prompt.Personality {
	p := &prompt.Personality{
		ID: id, Name: t.Name, Role: t.Role, Expertise: t.Expertise, Background: t.Background,
		Instructions: t.Instructions, Traits: t.Traits,
	}
	if style := t.says(SectionCommunication); len(style) > 0 {
		p.Lines = append(p.Lines, "Style: "+strings.Join(style, ", ")+".")
	}
	for _, part := range []struct{ name, section string }{
		{"Behavior", SectionBehavior}, {"Memory", SectionMemoryUsage}, {"Formatting", SectionFormatting},
	} {
		if list := t.says(part.section); len(list) > 0 {
			p.Lines = append(p.Lines, part.name+": "+strings.Join(list, " "))
		}
	}
	return p
}

// Section renders the template as the first section of a prompt.
func (t *Template) Section(f prompt.Format) string {
	return prompt.PersonalitySection(t.Personality(""), f)
}

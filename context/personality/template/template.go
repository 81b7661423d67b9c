package template

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

// Problem is something about a template, at a place of its text.
type Problem = record.TemplateProblem

// says returns what the options of a section that are chosen say, in their order.
func (t *Template) says(section string) (list []string) {
	for _, o := range Options {
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
	if style := t.says(Communication); len(style) > 0 {
		p.Lines = append(p.Lines, "Style: "+strings.Join(style, ", ")+".")
	}
	for _, part := range []struct{ name, section string }{
		{"Behavior", Behavior}, {"Memory", MemoryUsage}, {"Formatting", Formatting},
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

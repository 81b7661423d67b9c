package record

import "time"

// Personality is how an assistant is to speak: a template that is compiled in, or one of the person's own.
type Personality struct {
	ID        string     `json:"id" jsonschema:"what it is called in calls, such as coach"`
	Name      string     `json:"name" jsonschema:"what the assistant is called in it; empty where the template can't be read any more"`
	Role      string     `json:"role,omitempty" jsonschema:"what the assistant is in it"`
	Preset    bool       `json:"preset,omitempty" jsonschema:"it is compiled in, and can't be changed"`
	Active    bool       `json:"active,omitempty" jsonschema:"prompts begin with it"`
	Version   int        `json:"version,omitempty" jsonschema:"counts the changes, from 1; absent for a preset"`
	CreatedAt *time.Time `json:"createdAt,omitempty" jsonschema:"when it was made; absent for a preset"`
	UpdatedAt *time.Time `json:"updatedAt,omitempty" jsonschema:"when it was last changed; absent for a preset"`
	Template  string     `json:"template,omitempty" jsonschema:"its YAML; absent in a list"`
}

// TemplateProblem is what is wrong with a template of a personality, or odd about it.
type TemplateProblem struct {
	Line    int    `json:"line" jsonschema:"line of the text, from 1"`
	Column  int    `json:"column" jsonschema:"character of the line, from 1"`
	Path    string `json:"path,omitempty" jsonschema:"the option that it is about, such as communication.tone"`
	Message string `json:"message" jsonschema:"what it is"`
	Hint    string `json:"hint,omitempty" jsonschema:"what to do"`
}

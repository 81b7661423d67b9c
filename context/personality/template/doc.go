// Package template reads how an assistant is to speak: YAML that a person writes or chooses. Parse says what is wrong
// with it, by line and column, and what is only odd; Section renders it as the first section of a prompt.
//
// # The form
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
// Options (options.go) declares every option that is chosen among values, with what it says to a model. An option
// that is absent says nothing.
//
// # Errors
//
// Errors are: no YAML, no mapping, a part of the wrong kind, identity, communication or identity.name missing, a text
// that is too long. All else is a Warning: an unknown section, option or value, with the nearest known one, and a
// section that is missing. What a warning is about is left out of the prompt.
//
// All functions are pure, linear in the text, and may be called concurrently. Aliases of YAML are refused, so a small
// text stays small. Presets are templates that are compiled in.
package template

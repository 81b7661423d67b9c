package template

// Value is one choice of an option.
type Value struct {
	Name string
	Says string // to a model, as a part of a sentence; "" says nothing
}

// Option is chosen among values. A yes-or-no option has the values true and false.
type Option struct {
	Section string
	Name    string
	Values  []Value
}

// The sections, by their names in a template, in the order in which a missing one is told.
const (
	Identity      = "identity"
	Communication = "communication"
	Behavior      = "response_behavior"
	MemoryUsage   = "memory_usage"
	Formatting    = "formatting"
	Traits        = "personality_traits"
	Instructions  = "custom_instructions"
)

func yesNo(yes, no string) []Value { return []Value{{"true", yes}, {"false", no}} }

// Options are all options that are chosen among values, in the order in which a prompt says them.
var Options = []Option{
	{Communication, "tone", []Value{
		{"warm", "warm"}, {"professional", "professional"}, {"direct", "direct"}, {"enthusiastic", "enthusiastic"},
	}},
	{Communication, "verbosity", []Value{
		{"concise", "concise"}, {"balanced", "as long as the question needs"}, {"detailed", "detailed"},
	}},
	{Communication, "formality", []Value{
		{"casual", "in casual words"}, {"professional", "in the words of a workplace"}, {"formal", "in formal words"},
	}},
	{Communication, "use_analogies", yesNo("with analogies where they help", "without analogies")},
	{Communication, "use_examples", yesNo("with examples", "without examples")},
	{Communication, "use_humor", yesNo("with a little humor", "without humor")},

	{Behavior, "citation_style", []Value{
		{"always_cite", "Name the note, memory or record that each statement comes from."},
		{"cite_patterns", "Name your source where several records say the same, or one says something unexpected."},
		{"conversational", "Mention sources in passing, only where they matter."},
	}},
	{Behavior, "clarification", []Value{
		{"ask_questions", "Ask when a request can be understood in more than one way."},
		{"make_assumptions", "When a request can be understood in more than one way, choose the likeliest and say so."},
	}},
	{Behavior, "show_reasoning", yesNo("Show how you came to an answer.", "Give the answer without how you came to it.")},
	{Behavior, "step_by_step", yesNo("Explain what is done in steps, one after the other.", "")},
	{Behavior, "prioritize", []Value{
		{"accuracy", "Rather say that you do not know than guess."},
		{"speed", "Give the short answer first."},
	}},

	{MemoryUsage, "priority", []Value{
		{"when_relevant", "Use what is remembered of the user where it matters to the question."},
		{"always_reference", "Begin with what is remembered of the user about the subject, where there is anything."},
	}},
	{MemoryUsage, "pattern_trust", []Value{
		{"balanced", "Weigh what worked before against what the question needs now."},
		{"heavily_favor", "Prefer what worked before, unless there is a reason against it."},
	}},
	{MemoryUsage, "historical_context", []Value{
		{"reference_past", "Say when something was talked about before."},
		{"current_only", "Speak of earlier conversations only when the user does."},
	}},

	{Formatting, "structure", []Value{
		{"mixed", "Write paragraphs, and lists where things are listed."}, {"bullets", "Write in bullet points."},
	}},
	{Formatting, "code_blocks", []Value{{"separate", "Put code into blocks of its own."}}},
	{Formatting, "emphasis", []Value{
		{"markdown", "Emphasize with Markdown."}, {"plain", "Write plain text without marks of emphasis."},
	}},
}

// sections are all that a template may have, in their order; required ones are those without which it is refused.
var sections = []struct {
	name     string
	required bool
}{
	{Identity, true},
	{Communication, true},
	{Behavior, false},
	{MemoryUsage, false},
	{Formatting, false},
	{Traits, false},
	{Instructions, false},
}

// identityOptions are the texts of the section identity.
var identityOptions = []string{"name", "role", "expertise", "background"}

// Limits of a template. Lengths are in characters.
const (
	MaxBytes      = 64 << 10 // of the whole text
	MaxLine       = 200      // name, role, a trait, one of expertise
	MaxBackground = 1000
	MaxList       = 20 // items of expertise and traits
	// MaxSection is the length of the rendered section.
	MaxSection = 4000
)

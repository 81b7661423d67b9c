package personality

// OptionValue is one choice of an option.
type OptionValue struct {
	Name string
	Says string // to a model, as a part of a sentence; "" says nothing
}

// TemplateOption is chosen among values. A yes-or-no option has the values true and false.
type TemplateOption struct {
	Section string
	Name    string
	Values  []OptionValue
}

// The sections, by their names in a template, in the order in which a missing one is told.
const (
	SectionIdentity      = "identity"
	SectionCommunication = "communication"
	SectionBehavior      = "response_behavior"
	SectionMemoryUsage   = "memory_usage"
	SectionFormatting    = "formatting"
	SectionTraits        = "personality_traits"
	SectionInstructions  = "custom_instructions"
)

func yesNo(yes, no string) []OptionValue { return []OptionValue{{"true", yes}, {"false", no}} }

// TemplateOptions are all options that are chosen among values, in the order in which a prompt says them.
var TemplateOptions = []TemplateOption{
	{SectionCommunication, "tone", []OptionValue{
		{"warm", "warm"}, {"professional", "professional"}, {"direct", "direct"}, {"enthusiastic", "enthusiastic"},
	}},
	{SectionCommunication, "verbosity", []OptionValue{
		{"concise", "concise"}, {"balanced", "as long as the question needs"}, {"detailed", "detailed"},
	}},
	{SectionCommunication, "formality", []OptionValue{
		{"casual", "in casual words"}, {"professional", "in the words of a workplace"}, {"formal", "in formal words"},
	}},
	{SectionCommunication, "use_analogies", yesNo("with analogies where they help", "without analogies")},
	{SectionCommunication, "use_examples", yesNo("with examples", "without examples")},
	{SectionCommunication, "use_humor", yesNo("with a little humor", "without humor")},

	{SectionBehavior, "citation_style", []OptionValue{
		{"always_cite", "Name the note, memory or record that each statement comes from."},
		{"cite_patterns", "Name your source where several records say the same, or one says something unexpected."},
		{"conversational", "Mention sources in passing, only where they matter."},
	}},
	{SectionBehavior, "clarification", []OptionValue{
		{"ask_questions", "Ask when a request can be understood in more than one way."},
		{"make_assumptions", "When a request can be understood in more than one way, choose the likeliest and say so."},
	}},
	{SectionBehavior, "show_reasoning", yesNo("Show how you came to an answer.", "Give the answer without how you came to it.")},
	{SectionBehavior, "step_by_step", yesNo("Explain what is done in steps, one after the other.", "")},
	{SectionBehavior, "prioritize", []OptionValue{
		{"accuracy", "Rather say that you do not know than guess."},
		{"speed", "Give the short answer first."},
	}},

	{SectionMemoryUsage, "priority", []OptionValue{
		{"when_relevant", "Use what is remembered of the user where it matters to the question."},
		{"always_reference", "Begin with what is remembered of the user about the subject, where there is anything."},
	}},
	{SectionMemoryUsage, "pattern_trust", []OptionValue{
		{"balanced", "Weigh what worked before against what the question needs now."},
		{"heavily_favor", "Prefer what worked before, unless there is a reason against it."},
	}},
	{SectionMemoryUsage, "historical_context", []OptionValue{
		{"reference_past", "Say when something was talked about before."},
		{"current_only", "Speak of earlier conversations only when the user does."},
	}},

	{SectionFormatting, "structure", []OptionValue{
		{"mixed", "Write paragraphs, and lists where things are listed."}, {"bullets", "Write in bullet points."},
	}},
	{SectionFormatting, "code_blocks", []OptionValue{{"separate", "Put code into blocks of its own."}}},
	{SectionFormatting, "emphasis", []OptionValue{
		{"markdown", "Emphasize with Markdown."}, {"plain", "Write plain text without marks of emphasis."},
	}},
}

// sections are all that a template may have, in their order; required ones are those without which it is refused.
var sections = []struct {
	name     string
	required bool
}{
	{SectionIdentity, true},
	{SectionCommunication, true},
	{SectionBehavior, false},
	{SectionMemoryUsage, false},
	{SectionFormatting, false},
	{SectionTraits, false},
	{SectionInstructions, false},
}

// identityOptions are the texts of the section identity.
var identityOptions = []string{"name", "role", "expertise", "background"}

// Limits of a template. Lengths are in characters.
const (
	MaxTemplateBytes = 64 << 10 // of the whole text
	maxTemplateLine  = 200      // name, role, a trait, one of expertise
	maxBackground    = 1000
	maxTemplateList  = 20 // items of expertise and traits
	// MaxTemplateSection is the length of the rendered section.
	MaxTemplateSection = 4000
)

package protocol

import "strings"

// Feature is a part of the daemon that a setting switches off. Its methods then answer CodeUnavailable, and name the
// setting; what it did in the background stops.
type Feature struct {
	Setting string // its name in the configuration
	About   string // what is done where it is on
	// Methods are names, or beginnings of names that end with a dot.
	Methods []string
	// But are methods of these that answer all the same: what takes out, or deletes.
	But []string
}

// The settings of features.
const (
	SettingMemoryEnabled    = "memory.enabled"
	SettingMemoryPassive    = "memory.passive"
	SettingMemoryOutcomes   = "memory.outcomes"
	SettingMemoryPromotion  = "memory.promotion"
	SettingMemoryUpkeep     = "memory.upkeep"
	SettingMemoryExtraction = "memory.extraction"
	SettingChatEnabled      = "chat.enabled"
	SettingBooksEnabled     = "books.enabled"
)

// Features are all of them.
var Features = []Feature{
	{
		SettingMemoryEnabled, "memories are kept, found and told to models",
		[]string{"memory.", "contexts."},
		[]string{"memory.export", "memory.delete", "memory.forget", "memory.stats"},
	},
	{SettingMemoryPassive, "what was just said in a conversation brings memories into its next prompt", nil, nil},
	{
		SettingMemoryOutcomes, "what was shown is kept until somebody tells how it went, and memories are scored by that",
		[]string{"memory.outcome", "memory.outcome", "memory.judge"},
		nil,
	},
	{
		SettingMemoryPromotion, "memories that prove themselves move to tiers that last, and those that fail are archived",
		[]string{"memory.promote"},
		nil,
	},
	{SettingMemoryUpkeep, "facts are kept in order each day, while nobody calls", []string{"memory.upkeep"}, nil},
	{SettingMemoryExtraction, "the model of memory.learn finds facts in what you say in conversations", nil, nil},
	{
		SettingChatEnabled, "conversations are kept, and language models are asked",
		[]string{"chat.", "intent."},
		[]string{"chat.export", "chat.delete", "chat.providers"},
	},
	{
		SettingBooksEnabled, "books are read, found and told to models",
		[]string{"books."},
		[]string{"books.list", "books.delete"},
	},
}

// names tells whether a method is of the feature.
func (f *Feature) names(method string) bool {
	for _, not := range f.But {
		if method == not {
			return false
		}
	}
	for _, name := range f.Methods {
		if method == name || strings.HasSuffix(name, ".") && strings.HasPrefix(method, name) {
			return true
		}
	}
	return false
}

// Needs returns the settings that must be on for a method to answer.
func (m *Method) Needs() (settings []string) {
	for i := range Features {
		if Features[i].names(m.Name) {
			settings = append(settings, Features[i].Setting)
		}
	}
	return settings
}

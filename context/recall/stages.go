package recall

// What a stage applies to.
const (
	ofMemories = "memories"
	ofMessages = "messages"
	ofAll      = "memories and messages"
)

// Stage is one step of the ranking.
type Stage struct {
	Name  string
	On    bool   // unless a call says otherwise
	Of    string // what it applies to
	Means string // what it does, as a sentence without a subject
	apply func(*run) error
}

// The names of the stages.
const (
	Apart     = "apart"
	Pairs     = "pairs"
	Outcome   = "outcome"
	Entity    = "entity"
	Span      = "span"
	Support   = "support"
	Speaker   = "speaker"
	Newest    = "newest"
	Recent    = "recent"
	Rerank    = "rerank"
	Diversity = "diversity"
)

// Stages are all stages, in the order in which they are applied. The switches of a call and what is
// told of a search follow from it. Which are on, testdata/stages.golden decides.
var Stages = []Stage{
	{Apart, true, ofMessages, "compares by what tells the nearest apart, without what they have in common", (*run).apart},
	{Pairs, true, ofMessages, "favours what has words of the question side by side", (*run).pairs},
	{Support, true, ofMessages, "adds a part of the scores of the messages around a message", (*run).support},
	{Speaker, true, ofMessages, "favours what the person said, or whoever the question names", (*run).speaker},
	{Outcome, true, ofMemories, "favours memories of the other tiers that worked when they were used", (*run).outcome},
	{Entity, true, ofMemories, "favours memories about what the question names", (*run).entity},
	{Span, true, ofAll, "favours what is from the days that the question names", (*run).span},
	{Rerank, true, ofAll, "mixes in how well a cross-encoder finds that a text answers; needs one", (*run).rerank},
	{Newest, true, ofMemories, "puts the newer of two that say different things of the same before the older", (*run).newest},
	{Recent, false, ofAll, "orders by time when the question asks for what is new", (*run).recent},
	{Diversity, false, ofAll, "shows of those that say about the same only the surest", (*run).diversity},
}

// stageOf returns a stage by its name, nil for none.
func stageOf(name string) *Stage {
	for i := range Stages {
		if Stages[i].Name == name {
			return &Stages[i]
		}
	}
	return nil
}

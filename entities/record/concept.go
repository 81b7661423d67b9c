package record

import "time"

// Kinds of concepts.
const (
	ConceptEntity = "entity" // an entity, by all of its names
	ConceptTag    = "tag"    // a tag or a domain of memories
	ConceptPhrase = "phrase" // what texts call it
)

// Concept is something that memories and messages speak of, as a reader sees them.
type Concept struct {
	Label          string        `json:"label" jsonschema:"what it is called: the name of an entity, or the form in which most texts have it"`
	Kind           string        `json:"kind" enum:"entity,tag,phrase" jsonschema:"entity: an entity, by all of its names; tag: a tag or domain of memories; phrase: what texts call it"`
	EntityID       string        `json:"entityId,omitempty" jsonschema:"id of the entity"`
	Aliases        []string      `json:"aliases" jsonschema:"other names and forms of it, synonyms included"`
	Mentions       int           `json:"mentions" jsonschema:"memories and messages that speak of it"`
	Memories       int           `json:"memories" jsonschema:"of these, memories"`
	FirstSeen      time.Time     `json:"firstSeen" jsonschema:"when the first of them was written"`
	LastSeen       time.Time     `json:"lastSeen" jsonschema:"when the last of them was written"`
	AverageQuality float64       `json:"averageQuality,omitempty" jsonschema:"mean of importance times confidence of the memories; absent where there are none"`
	Tiers          []ConceptTier `json:"tiers" jsonschema:"what became of its memories, for each tier in which one was used"`
}

// ConceptTier says what became of the memories of a tier that speak of a concept.
type ConceptTier struct {
	Tier    string  `json:"tier" jsonschema:"working, history, patterns or memoryBank"`
	Uses    int     `json:"uses" jsonschema:"how often a client said that it used one"`
	Worked  int     `json:"worked" jsonschema:"uses that helped"`
	Failed  int     `json:"failed" jsonschema:"uses that did not help"`
	Partial int     `json:"partial" jsonschema:"uses that helped in part"`
	Wilson  float64 `json:"wilson" jsonschema:"lower bound of the share of worked among worked and failed at 95 %; 0.5 for none"`
}

// ConceptPlace is a memory or a message that speaks of something.
type ConceptPlace struct {
	Kind           string    `json:"kind" enum:"memories,messages" jsonschema:"memories or messages"`
	ID             string    `json:"id" jsonschema:"id of the memory or the message"`
	ConversationID string    `json:"conversationId,omitempty" jsonschema:"of a message: its conversation"`
	Index          int       `json:"index,omitempty" jsonschema:"of a message: its number there"`
	At             time.Time `json:"at" jsonschema:"when it was written"`
}

// ConceptEdge says that two concepts stand together.
type ConceptEdge struct {
	From    string       `json:"from" jsonschema:"label of a concept"`
	To      string       `json:"to" jsonschema:"label of another one"`
	Type    string       `json:"type,omitempty" jsonschema:"how they belong together, where that is known: the name of a field of an entity; it leads from the entity that has the field"`
	Count   int          `json:"count" jsonschema:"memories and messages that speak of both"`
	Example ConceptPlace `json:"example" jsonschema:"the last of them"`
}

// ActionResult says what became of answers for which something was done.
type ActionResult struct {
	Action   string          `json:"action" jsonschema:"name of a tool that was called, or recall: memories of the tier were in the answer"`
	Tier     string          `json:"tier,omitempty" jsonschema:"of recall: the tier"`
	Uses     int             `json:"uses" jsonschema:"answers with an outcome for which it was done"`
	Worked   int             `json:"worked" jsonschema:"of these, answers that helped"`
	Failed   int             `json:"failed" jsonschema:"answers that did not help"`
	Partial  int             `json:"partial" jsonschema:"answers that helped in part"`
	Wilson   float64         `json:"wilson" jsonschema:"lower bound of the share of worked among worked and failed at 95 %; 0.5 for none"`
	Examples []ActionExample `json:"examples" jsonschema:"the last answers, at most 20, the last one first"`
}

// ActionExample is an answer with its outcome.
type ActionExample struct {
	ConversationID string    `json:"conversationId" jsonschema:"the conversation"`
	MessageID      string    `json:"messageId" jsonschema:"the answer"`
	Outcome        string    `json:"outcome" jsonschema:"worked, failed, partial or unknown"`
	At             time.Time `json:"at" jsonschema:"when it was given"`
}

// Insight is what is known of the subjects of a text by what became of memories about them. Each list is short.
type Insight struct {
	Topics          []string            `json:"topics" jsonschema:"labels of the concepts that the text speaks of, the rarest first"`
	Experience      []InsightExperience `json:"experience" jsonschema:"what became of memories about them"`
	Failures        []InsightFailure    `json:"failures" jsonschema:"what did not help"`
	Recommendations []InsightAdvice     `json:"recommendations" jsonschema:"of which tier memories helped surest"`
	Continuing      []InsightContinuing `json:"continuing" jsonschema:"what was spoken of in several conversations"`
	Repeated        []InsightRepeated   `json:"repeated" jsonschema:"what the user asked before in nearly the same words"`
	Lines           []InsightLine       `json:"lines" jsonschema:"the same as it stands in a prompt, at most 6 lines"`
}

// InsightExperience says what became of the memories about a topic.
type InsightExperience struct {
	Topic   string       `json:"topic" jsonschema:"label of the concept"`
	Worked  int          `json:"worked" jsonschema:"uses that helped"`
	Failed  int          `json:"failed" jsonschema:"uses that did not help"`
	Partial int          `json:"partial" jsonschema:"uses that helped in part"`
	Rate    float64      `json:"rate" jsonschema:"share of worked among worked and failed"`
	Example ConceptPlace `json:"example" jsonschema:"the memory that helped most often"`
	Text    string       `json:"text" jsonschema:"what it says"`
}

// InsightFailure is a memory that did not help.
type InsightFailure struct {
	Topic   string       `json:"topic" jsonschema:"label of the concept"`
	Worked  int          `json:"worked" jsonschema:"uses that helped"`
	Failed  int          `json:"failed" jsonschema:"uses that did not help"`
	Example ConceptPlace `json:"example" jsonschema:"the memory"`
	Text    string       `json:"text" jsonschema:"what it says"`
	Reason  string       `json:"reason,omitempty" jsonschema:"why, by the last takeaway of a failure about the topic"`
}

// InsightAdvice says of which tier memories about a topic helped surest.
type InsightAdvice struct {
	Topic   string       `json:"topic" jsonschema:"label of the concept"`
	Tier    string       `json:"tier" jsonschema:"working, history, patterns or memoryBank"`
	Worked  int          `json:"worked" jsonschema:"uses that helped"`
	Failed  int          `json:"failed" jsonschema:"uses that did not help"`
	Wilson  float64      `json:"wilson" jsonschema:"lower bound of the share of worked among worked and failed at 95 %"`
	Example ConceptPlace `json:"example" jsonschema:"the memory of the tier that helped most often"`
}

// InsightContinuing is a topic of several conversations.
type InsightContinuing struct {
	Topic         string       `json:"topic" jsonschema:"label of the concept"`
	Conversations int          `json:"conversations" jsonschema:"how many speak of it"`
	FirstSeen     time.Time    `json:"firstSeen" jsonschema:"when it was spoken of first"`
	LastSeen      time.Time    `json:"lastSeen" jsonschema:"when it was spoken of last"`
	Example       ConceptPlace `json:"example" jsonschema:"the last message about it"`
}

// InsightRepeated says that the user asked nearly the same before.
type InsightRepeated struct {
	Here    bool         `json:"here" jsonschema:"whether that was in the same conversation"`
	Times   int          `json:"times" jsonschema:"how often"`
	Example ConceptPlace `json:"example" jsonschema:"the last message that did"`
}

// InsightLine is one line of a prompt.
type InsightLine struct {
	Kind string `json:"kind" enum:"experience,failure,advice,repeated,continuing" jsonschema:"which list it is of"`
	Text string `json:"text" jsonschema:"the line"`
	ID   string `json:"id" jsonschema:"id of the memory or the message that it stands on"`
}

// Kinds of lines of an insight.
const (
	InsightOfExperience = "experience"
	InsightOfFailure    = "failure"
	InsightOfAdvice     = "advice"
	InsightOfRepeated   = "repeated"
	InsightOfContinuing = "continuing"
)

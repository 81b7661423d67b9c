package record

import "time"

// Synonyms are words that mean the same to the person.
type Synonyms struct {
	ID        string    `json:"id" jsonschema:"id of the set; another one when sets are joined"`
	Words     []string  `json:"words" jsonschema:"words that mean the same; one may consist of several"`
	Private   bool      `json:"private" jsonschema:"whether they are kept from remote models, and from what they search for"`
	UpdatedAt time.Time `json:"updatedAt" jsonschema:"time of the last change"`
}

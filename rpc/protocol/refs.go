package protocol

import "github.com/ctxd/ctxd/entities/record"

// RefsParse are the parameters of refs.parse.
type RefsParse struct {
	Text string `json:"text" jsonschema:"a message, at most 1 MiB"`
	Unit string `json:"unit,omitempty" enum:"utf16,char,byte" default:"utf16" jsonschema:"what places are counted in: UTF-16 code units, code points or bytes of UTF-8"`
}

var refsMethods = []Method{
	storeless(describe[RefsParse, record.Refs]("refs.parse", Read,
		"Find what a message refers to by @, # and [[.",
		"It asks no store, so a handle that leads nowhere is found too, and the answer is the same for every reader. cleanText is what is left to search by; it is without every @handle, entities included.",
		Example{
			`{"text":"@ssdva what fits [[Plan|the plan]], see #42"}`,
			`{"cleanText":"what fits the plan, see","memoryIds":[],"handles":["ssdva","claim_42"],"notes":["Plan"],"refs":[{"kind":"handle","raw":"@ssdva","id":"ssdva","start":0,"end":6},{"kind":"note","raw":"[[Plan|the plan]]","id":"Plan","start":17,"end":34},{"kind":"number","raw":"#42","id":"claim_42","start":40,"end":43}]}`,
		}, CodeLimit)),
}

package config

import (
	"github.com/ctxd/ctxd/context/recall"
)

// Ranking says which stages of the ranking of memories are on, in the order of recall.Stages.
type Ranking []bool

func defaultRanking() Ranking {
	r := make(Ranking, len(recall.Stages))
	for i, s := range recall.Stages {
		r[i] = s.On
	}
	return r
}

// Stages returns the stages by their names.
func (r Ranking) Stages() map[string]bool {
	on := make(map[string]bool, len(r))
	for i := range r {
		on[recall.Stages[i].Name] = r[i]
	}
	return on
}

func (c *Config) rankingSettings() (list []*Setting) {
	for i, s := range recall.Stages {
		list = append(list, &Setting{
			key: "memory.rank." + s.Name, about: "stage of memory.search that " + s.Means + "; for " + s.Of,
			value: yesOf(&c.Records.Ranking[i]),
		})
	}
	return list
}

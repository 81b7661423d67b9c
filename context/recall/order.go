package recall

import (
	"slices"
)

const (
	// compared is how many of the best hits are compared with each other.
	compared = 30
	// Two hits are about the same from sameCosine on, and from likelyCosine on when they differ in what
	// an embedding hardly shows, or the newer one says that something changed.
	likelyCosine = 0.5
	sameCosine   = 0.65
	olderFactor  = 0.7
	// clusterCosine is how near the hits of a cluster are.
	clusterCosine = 0.8
	// recentShare is the share of the best score from which on hits are ordered by time.
	recentShare = 0.5
)

// near is a pair of memories with their cosine.
type near struct {
	a, b   *candidate
	cosine float32
}

// memoryPairs returns the pairs of memories among the best hits that are at least so near. Messages are about as
// near to each other throughout a conversation, whatever they say.
func (s *run) memoryPairs(atLeast float32) (list []near, err error) {
	var of []*candidate
	var ids []string
	for _, c := range s.list[:min(compared, len(s.list))] {
		if c.m != nil {
			of, ids = append(of, c), append(ids, c.doc.ID())
		}
	}
	if len(of) < 2 {
		return nil, skip("there are no two memories")
	}
	cosines, ok := s.in.Memories.Search.Between(ids)
	if !ok {
		return nil, skip("there are no vectors to compare memories by")
	}
	for i := range of {
		for j := i + 1; j < len(of); j++ {
			if cosines[i][j] >= atLeast {
				list = append(list, near{of[i], of[j], cosines[i][j]})
			}
		}
	}
	return list, nil
}

// newest has the newer of two memories that are about the same take the place of the older one where that
// stands before it. Of several newer ones the nearest counts.
func (s *run) newest() error {
	pairs, err := s.memoryPairs(likelyCosine)
	if err != nil {
		return err
	}
	told := make(map[*candidate]*tells)
	nearest := make(map[*candidate]float32)
	read := func(c *candidate) *tells { // a hit is in up to compared pairs
		if told[c] == nil {
			told[c] = readTells(c.doc.Plain())
		}
		return told[c]
	}
	for _, p := range pairs {
		older, newer := p.a, p.b
		if older.at().After(newer.at()) {
			older, newer = newer, older
		}
		if older.at().Equal(newer.at()) || s.asksFor(older, newer) {
			continue
		}
		before, now := read(older), read(newer)
		differs := before.statement.In(now.statement)
		unlike := len(differs) > 0 || now.changed
		if p.cosine < sameCosine && (!unlike || labelledApart(older, newer)) || otherThings(before, now, differs) {
			continue
		}
		if p.cosine > nearest[older] {
			older.olderThan, nearest[older] = newer, p.cosine
		}
	}
	for _, c := range slices.Clone(s.list) { // best first: what is newer has the best place of those that it replaces
		if c.olderThan == nil {
			continue
		}
		last := c.olderThan
		for last.olderThan != nil {
			last = last.olderThan
		}
		last.score = max(last.score, c.score)
	}
	for _, c := range s.list {
		if c.olderThan != nil {
			s.changed++
			c.score *= olderFactor
			c.signals = append(c.signals, Signal{Newest, olderFactor})
		}
	}
	s.sort()
	return nil
}

// labelledApart reports whether two memories have tags and domains, and none in common.
func labelledApart(a, b *candidate) bool {
	ours, theirs := slices.Concat(a.m.Tags, a.m.Domains), slices.Concat(b.m.Tags, b.m.Domains)
	shared := func(label string) bool { return slices.Contains(theirs, label) }
	return len(ours) > 0 && len(theirs) > 0 && !slices.ContainsFunc(ours, shared)
}

// asksFor reports whether the question names days that the older of two is from and the newer is not, or a day or a range
// of days that both are from: all that is from then is asked for.
func (s *run) asksFor(older, newer *candidate) bool {
	span := s.read.Span
	return span != nil && span.Holds(older.at()) && (span.OneDay() || s.bounded || !span.Holds(newer.at()))
}

// recent orders the hits that are about as good as the best by time.
func (s *run) recent() error {
	if !s.read.Recent || s.req.Sort != ByRelevance {
		return skip("the question does not ask for what is new")
	}
	s.byTime()
	s.read.Sort = ByRecency
	return nil
}

// byTime orders the hits that have a good part of the best score by time, the latest first.
func (s *run) byTime() {
	if len(s.list) == 0 {
		return
	}
	n := 0
	for n < len(s.list) && s.list[n].score >= recentShare*s.list[0].score {
		n++
	}
	slices.SortStableFunc(s.list[:n], func(a, b *candidate) int { return b.at().Compare(a.at()) })
	s.changed += n
}

// diversity leaves of those memories that are nearly the same only the surest.
func (s *run) diversity() error {
	pairs, err := s.memoryPairs(clusterCosine)
	if err != nil {
		return err
	}
	gone := make(map[*candidate]bool)
	for _, p := range pairs {
		if gone[p.a] || gone[p.b] {
			continue
		}
		loser := p.b
		if s.sure(p.b) > s.sure(p.a) {
			loser = p.a
		}
		gone[loser] = true
	}
	s.list = slices.DeleteFunc(s.list, func(c *candidate) bool { return gone[c] })
	s.changed = len(gone)
	return nil
}

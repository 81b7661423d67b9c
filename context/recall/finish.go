package recall

import (
	"cmp"
	"unicode/utf8"

	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities/record"
)

// finish makes the result. asNonsense is the search with nonsense in the place of what no document that may be found has; nil
// for none.
func (s *run) finish(asNonsense *run) (*Result, error) {
	confidence, reason := s.sureWithout(asNonsense)
	s.read.Unknown = s.unknown
	if s.req.Sort == ByRecency {
		s.byTime()
	}
	res := &Result{
		Hits: []Hit{}, Understood: s.read, Confidence: confidence, Reason: reason, Stages: s.applied, Refused: s.refused,
		byWords: !s.vectors,
	}
	for i, f := range s.wrong {
		if i == 0 {
			res.Stage, res.Degraded = f.stage, f.why
			continue
		}
		if f.why != s.wrong[0].why { // both kinds lack the same
			res.Degraded += "; " + f.why
		}
	}
	if !s.req.Explain {
		res.Stages = nil
	}
	shown, err := s.memories()
	if err != nil {
		return nil, err
	}
	read, err := s.passages()
	if err != nil {
		return nil, err
	}
	match := search.NewMatcher(cmp.Or(s.in.Memories.Source, s.in.Messages.Source), s.req.Query)
	for _, c := range s.list {
		h := Hit{
			Kind: c.kind, ID: c.doc.ID(), Message: c.msg, Text: c.doc.Plain(), Score: hundredths(c.score),
			Relevance: hundredths(c.relevance),
		}
		if c.kind == Passages {
			if h.Passage = read[h.ID]; h.Passage == nil { // it went, or was hidden, meanwhile
				continue
			}
			h.Text, h.added = h.Passage.Text, c.added
		}
		if c.msg != nil {
			now := s.shownMessage(c.doc.ID())
			if now == nil {
				continue
			}
			h.ID, h.Text = c.msg.ID, now.Plain()
		}
		if c.m != nil {
			h.Memory = shown[h.ID]
			if h.Memory == nil { // it went, or was hidden, meanwhile
				continue
			}
			h.Text, h.Holds = h.Memory.Statement, h.Memory.Validity(s.now)
		}
		if len(res.Hits) == s.req.Limit {
			break
		}
		if h.Score < s.req.MinScore {
			continue
		}
		if c.olderThan != nil && shown[c.olderThan.doc.ID()] != nil {
			h.OlderThan = c.olderThan.doc.ID()
		}
		if s.req.Explain {
			h.Signals = append([]Signal{{"relevance", c.relevance}}, c.signals...)
		}
		h.Ranges = utf16Ranges(h.Text, match.Matches(h.Text))
		res.Hits = append(res.Hits, h)
	}
	return res, s.ctx.Err()
}

// memories returns the memories among the candidates as the reader sees them now, by their ids, with what
// they said at the time that is asked for.
func (s *run) memories() (map[string]*record.Memory, error) {
	var ids []string
	for _, c := range s.list {
		if c.m != nil {
			ids = append(ids, c.doc.ID())
		}
	}
	of := make(map[string]*record.Memory, len(ids))
	if len(ids) == 0 {
		return of, nil
	}
	for i, m := range s.in.Store.Shown(s.v, ids) {
		if m == nil {
			continue
		}
		if !s.req.AsOf.IsZero() {
			said, err := s.saidThen(m, s.req.AsOf)
			if err != nil {
				return nil, err
			}
			m.Statement = said
		}
		of[ids[i]] = m
	}
	return of, nil
}

// shownMessage returns a message as the reader sees it now, nil for one that is gone or hidden.
func (s *run) shownMessage(id string) text.Doc {
	d := s.in.Messages.Source.Get(id)
	if d == nil || !s.v.Hides() {
		return d
	}
	return s.in.Messages.Source.Public(d)
}

// utf16Ranges turns ranges of bytes, in order, into ranges of UTF-16 units.
func utf16Ranges(text string, ranges [][2]int) [][2]int {
	out := make([][2]int, 0, len(ranges))
	at, units := 0, 0
	upTo := func(end int) int {
		for at < end {
			r, size := utf8.DecodeRuneInString(text[at:])
			units++
			if r > 0xFFFF {
				units++
			}
			at += size
		}
		return units
	}
	for _, r := range ranges {
		from := upTo(r[0])
		out = append(out, [2]int{from, upTo(r[1])})
	}
	return out
}

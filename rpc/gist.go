package rpc

// gist is what stands at the top of a message, without what is inside of its
// values: enough to find the id of one that is too large, so that its caller
// need not wait for an answer that never comes.
type gist struct {
	text    []byte
	depth   int
	quoted  bool // inside of a text
	escaped bool // behind a backslash in it
}

// gistBytes is how long a gist may become. What is behind it is dropped.
const gistBytes = 4 << 10

// write takes the next bytes of the message.
func (g *gist) write(chunk []byte) {
	for _, c := range chunk {
		if g.keeps(c) && len(g.text) < gistBytes {
			g.text = append(g.text, c)
		}
	}
}

// keeps moves on by a byte and reports whether it belongs to the gist.
func (g *gist) keeps(c byte) bool {
	depth := g.depth
	switch {
	case g.escaped:
		g.escaped = false
	case g.quoted:
		g.escaped, g.quoted = c == '\\', c != '"'
	case c == '"':
		g.quoted = true
	case c == '{', c == '[':
		g.depth++
		return depth < 2
	case c == '}', c == ']':
		g.depth--
		return depth <= 2
	}
	return depth < 2
}

// id returns the id of the message: null when it has none or none is found, nil
// for a notification, which is never answered.
func (g *gist) id() (id []byte) {
	s := scanner{data: g.text, limit: 2}
	null := []byte("null")
	if s.space(); s.peek() != '{' {
		return null
	}
	called := false
	err := s.object(func(key []byte) error {
		start := s.pos
		if err := s.value(); err != nil {
			return err
		}
		switch value := s.data[start:s.pos]; {
		case string(key) == `"method"`:
			called = true
		case string(key) == `"id"` && validID(value) && s.pos < len(s.data):
			id = value
		case string(key) == `"id"`:
			id = null
		}
		return nil
	})
	if id == nil && (err != nil || !called) {
		return null // the text may end before its id, or it is no request
	}
	return id
}

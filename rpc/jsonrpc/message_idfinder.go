package jsonrpc

// idFinder keeps the top level of a message, without what is inside of its values:
// enough to find the id of one that is too large, so that its caller need not wait
// for an answer that never comes.
type idFinder struct {
	kept    []byte
	depth   int
	quoted  bool // inside of a string
	escaped bool // behind a backslash in it
}

var nullIDText = []byte("null")

// headBytes is how much is kept. What is behind it is dropped.
const headBytes = 4 << 10

// write takes the next bytes of the message.
func (f *idFinder) write(chunk []byte) {
	for _, c := range chunk {
		if f.keeps(c) && len(f.kept) < headBytes {
			f.kept = append(f.kept, c)
		}
	}
}

// keeps moves on by a byte and reports whether it belongs to the top level.
func (f *idFinder) keeps(c byte) bool {
	depth := f.depth
	switch {
	case f.escaped:
		f.escaped = false
	case f.quoted:
		f.escaped, f.quoted = c == '\\', c != '"'
	case c == '"':
		f.quoted = true
	case c == '{', c == '[':
		f.depth++
		return depth < 2
	case c == '}', c == ']':
		f.depth--
		return depth <= 2
	}
	return depth < 2
}

// id returns the id of the message: null when it has none or none is found, nil
// for a notification, which is never answered.
func (f *idFinder) id() (id []byte) {
	s := NewScanner(f.kept, 2)
	s.Space()
	if s.Peek() != '{' {
		return nullIDText
	}
	called := false
	err := s.Object(func(key []byte) error {
		start := s.Pos()
		if err := s.Value(); err != nil {
			return err
		}
		value := s.Since(start)
		switch {
		case string(key) == `"method"`:
			called = true
		case string(key) == `"id"` && validID(value) && !s.AtEnd():
			id = value
		case string(key) == `"id"`:
			id = nullIDText
		}
		return nil
	})
	if id == nil && (err != nil || !called) {
		return nullIDText // what is kept may end before its id, or it is no request
	}
	return id
}

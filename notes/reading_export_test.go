package notes

// OnReading has a function called before the text of a note is read, until the next call.
func OnReading(fn func()) { onReading = fn }

// Readings is how often the text of a note is read that others change meanwhile.
const Readings = mostReadings

// SetManyPlaces sets from how many bytes of places on a note has many links; it returns what that was.
func SetManyPlaces(n int) (was int) {
	was, manyPlaces = manyPlaces, n
	return was
}

// OnLinkHashes has a function called before the keys of many links are worked out, until the next call.
func OnLinkHashes(fn func()) { onLinkHashes = fn }

// LinkEntries is how many links the index has entered.
func LinkEntries(s *Store) (n int) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, list := range s.index.refs {
		n += len(inRole(list, byLink))
	}
	return n
}

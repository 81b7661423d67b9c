package chars

// DefaultIgnorable is the generated table.
var DefaultIgnorable = defaultIgnorable

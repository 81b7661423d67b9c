package text

// DefaultIgnorable is the generated table.
var DefaultIgnorable = defaultIgnorable

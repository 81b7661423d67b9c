package prompt

// DefaultIgnorable is the generated table.
var DefaultIgnorable = defaultIgnorable

package audience

// MayBeName reports whether a text is held against names as a whole.
var MayBeName = mayBeName

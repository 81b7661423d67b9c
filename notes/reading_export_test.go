package notes

// OnReading has a function called before the text of a note is read, until the next call.
func OnReading(fn func()) { onReading = fn }

// Readings is how often the text of a note is read that others change meanwhile.
const Readings = mostReadings

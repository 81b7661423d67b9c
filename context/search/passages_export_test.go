package search

// Within is what stands between two sentences of a paragraph.
const Within = within

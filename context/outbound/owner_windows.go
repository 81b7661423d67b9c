package outbound

import "io/fs"

// Tamperable returns "": the folder for configuration is the user's own by its
// access list, which a mode does not show.
func Tamperable(fs.FileInfo) string { return "" }

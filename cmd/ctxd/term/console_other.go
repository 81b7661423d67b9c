//go:build !windows

package term

import "os"

// understandsColour reports whether the terminal of file takes colours.
func understandsColour(*os.File) bool { return os.Getenv("TERM") != "dumb" }

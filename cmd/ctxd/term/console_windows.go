package term

import (
	"os"

	"golang.org/x/sys/windows"
)

// understandsColour reports whether the console of file takes colours, which
// older ones do only when asked to.
func understandsColour(file *os.File) bool {
	var mode uint32
	console := windows.Handle(file.Fd())
	return windows.GetConsoleMode(console, &mode) == nil &&
		windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}

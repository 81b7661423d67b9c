package embed

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// lowestClass has the thread run when no other wants to.
func lowestClass() {
	const nicest = 19
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), nicest)
}

// onBattery reports whether a battery feeds the machine: one is being discharged.
func onBattery() bool {
	states, _ := filepath.Glob("/sys/class/power_supply/*/status")
	for _, name := range states {
		kind, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "type"))
		scope, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "scope")) // that of a mouse is "Device"
		state, _ := os.ReadFile(name)
		if strings.TrimSpace(string(kind)) == "Battery" && strings.TrimSpace(string(scope)) != "Device" &&
			strings.TrimSpace(string(state)) == "Discharging" {
			return true
		}
	}
	return false
}

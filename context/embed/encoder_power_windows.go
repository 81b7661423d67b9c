package embed

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	kernel32          = windows.NewLazySystemDLL("kernel32.dll")
	setThreadPriority = kernel32.NewProc("SetThreadPriority")
	getPowerStatus    = kernel32.NewProc("GetSystemPowerStatus")
)

// lowestClass has the thread run when no other wants to.
func lowestClass() {
	idle := int32(-15) // THREAD_PRIORITY_IDLE
	_, _, _ = setThreadPriority.Call(uintptr(windows.CurrentThread()), uintptr(idle))
}

// onBattery reports whether a battery feeds the machine.
func onBattery() bool {
	var status struct { // SYSTEM_POWER_STATUS
		OnLine, BatteryFlag, LifePercent, System byte
		LifeTime, FullLifeTime                   uint32
	}
	ok, _, _ := getPowerStatus.Call(uintptr(unsafe.Pointer(&status)))
	return ok != 0 && status.OnLine == 0
}

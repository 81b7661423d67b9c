package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// The clock of a daemon can be set while that of the machine stays as it is. Programs in
// Go ask the vDSO for the time: code of the kernel that is mapped into each process. A
// process that is started through otherClock replaces that code by a few instructions
// that ask the kernel and add what stands in a file that it has in common with the test.
// Only the time of day is another: timers, and times between two looks, go on as ever,
// as when a person or a time server sets the clock.
const (
	otherClock    = "other-clock" // other-clock ctxd serve …: a program of this binary
	otherClockEnv = "CTXD_TEST_CLOCK"
)

// otherPrograms are programs of this binary that not every system has.
var otherPrograms = map[string]func(){otherClock: runByOtherClock}

// clock is how many seconds the clock of a daemon is ahead of that of the machine.
type clock struct {
	shared []byte
	file   string
}

// newClock makes a clock that is right, and leaves the test out where the clock of a
// process can't be replaced.
func newClock(t *testing.T, dir string) *clock {
	t.Helper()
	if err := replaceable(); err != nil {
		t.Skipf("the clock of a process can't be replaced here: %v", err)
	}
	c := &clock{file: filepath.Join(dir, "clock")}
	err := os.WriteFile(c.file, make([]byte, os.Getpagesize()), 0o600)
	if err == nil {
		c.shared, err = mapped(c.file)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(c.shared) })
	return c
}

// set has the daemon take it for the time at.
func (c *clock) set(at time.Time) { c.ahead(time.Until(at.Round(0))) }

func (c *clock) ahead(d time.Duration) {
	binary.LittleEndian.PutUint64(c.shared, uint64(d/time.Second))
}

// now is what the daemon takes for the time.
func (c *clock) now() time.Time {
	return time.Now().Round(0).Add(time.Duration(binary.LittleEndian.Uint64(c.shared)) * time.Second)
}

// under has a daemon run by the clock.
func (c *clock) under(s launchOptions) launchOptions {
	s.wrapper = append([]string{otherClock}, s.wrapper...)
	s.env = append(s.env, otherClockEnv+"="+c.file)
	return s
}

func mapped(file string) ([]byte, error) {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return syscall.Mmap(int(f.Fd()), 0, os.Getpagesize(), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
}

// runByOtherClock is the program otherClock: the rest of the command line, by that clock.
func runByOtherClock() {
	os.Args = os.Args[1:]
	shared, err := mapped(os.Getenv(otherClockEnv))
	if err == nil {
		err = replaceClock(&shared[0])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "no other clock:", err)
		os.Exit(1)
	}
	main()
}

// replaceable reports why the vDSO of a process can't be changed, nil when it can.
func replaceable() error {
	v, err := findVDSO()
	if err == nil {
		err = protect(v.code, syscall.PROT_READ|syscall.PROT_WRITE|syscall.PROT_EXEC)
	}
	if err == nil {
		err = protect(v.code, syscall.PROT_READ|syscall.PROT_EXEC)
	}
	return err
}

// replaceClock has this process add *ahead, in seconds, to the time of day. Other threads
// run meanwhile: what they may be in stays as it is but for its first instruction, which
// is replaced at once and leads to where no Go program goes.
func replaceClock(ahead *byte) error {
	v, err := findVDSO()
	if err != nil {
		return err
	}
	instructions := []byte{
		0xb8, 228, 0, 0, 0, // mov eax, 228: clock_gettime(edi, rsi), which changes rax, rcx and r11
		0x0f, 0x05, // syscall
		0x85, 0xff, // test edi, edi: the time of day is clock 0
		0x75, 16, // jnz to ret
		0x48, 0xb9, 0, 0, 0, 0, 0, 0, 0, 0, // mov rcx, ahead
		0x48, 0x8b, 0x09, // mov rcx, [rcx]
		0x48, 0x01, 0x0e, // add [rsi], rcx: the seconds
		0xc3, // ret
	}
	binary.LittleEndian.PutUint64(instructions[13:], uint64(uintptr(unsafe.Pointer(ahead))))
	if err := protect(v.code, syscall.PROT_READ|syscall.PROT_WRITE|syscall.PROT_EXEC); err != nil {
		return err
	}
	copy(v.code[v.unused:], instructions)
	first := (*uint64)(unsafe.Pointer(&v.code[v.clock]))
	jump := uint64(0xe9) | uint64(uint32(v.unused-v.clock-5))<<8 // jmp to them
	atomic.StoreUint64(first, jump|atomic.LoadUint64(first)&^(1<<40-1))
	return protect(v.code, syscall.PROT_READ|syscall.PROT_EXEC)
}

func protect(code []byte, mode int) error {
	return os.NewSyscallError("mprotect", syscall.Mprotect(code, mode))
}

// vdso is the code that the kernel has mapped into this process.
type vdso struct {
	code   []byte
	clock  int // where clock_gettime begins in it
	unused int // where a function begins that Go programs do not call
}

func findVDSO() (v vdso, err error) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return v, err
	}
	for line := range strings.Lines(string(maps)) {
		var from, to uintptr
		if !strings.HasSuffix(line, "[vdso]\n") {
			continue
		}
		if _, err := fmt.Sscanf(line, "%x-%x", &from, &to); err != nil {
			return v, err
		}
		v.code = unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(nil), from)), to-from)
	}
	if v.code == nil {
		return v, errors.New("there is no vDSO")
	}
	file, err := elf.NewFile(bytes.NewReader(v.code))
	if err != nil {
		return v, err
	}
	symbols, err := file.DynamicSymbols()
	if err != nil {
		return v, err
	}
	for _, s := range symbols {
		switch {
		case s.Name == "__vdso_clock_gettime" && s.Value%8 == 0:
			v.clock = int(s.Value)
		case s.Name == "__vdso_time" && s.Size >= 28:
			v.unused = int(s.Value)
		}
	}
	if v.clock == 0 || v.unused == 0 {
		return v, errors.New("the vDSO has other functions")
	}
	return v, nil
}

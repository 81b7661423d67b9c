package main

import (
	"fmt"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
)

// configError is a setting, or a configuration file, that can't be used.
type configError struct {
	key   string // of the setting; "" for the file as a whole
	at    origin
	fault *fault.Error
}

// Error says where, which setting, and what is wrong with it.
func (e *configError) Error() string {
	msg := e.fault.Msg
	if e.key != "" && !strings.Contains(msg, e.key) {
		msg = e.key + ": " + msg
	}
	if e.at.where == "" { // a default that does not work on this machine
		return msg
	}
	return e.at.where + ": " + msg
}

func (e *configError) Unwrap() error { return e.fault }

// place returns the origin of what stands in a line of a file, written as
// compilers do.
func place(file string, line int) origin {
	at := origin{source: fromFile, where: file, file: file, line: line}
	if line > 0 {
		at.where = fmt.Sprintf("%s:%d", file, line)
	}
	return at
}

// inFile is the error of a setting in the file.
func inFile(file string, line int, key string, f *fault.Error) *configError {
	return &configError{key: key, at: place(file, line), fault: f}
}

// badFile is the error of a file that can't be used as a whole.
func badFile(file string, line int, format string, args ...any) *configError {
	return inFile(file, line, "", fault.New(fault.Invalid, format, args...))
}

// hint sets what to do about it and returns e.
func (e *configError) hint(format string, args ...any) *configError {
	e.fault = e.fault.WithHint(format, args...)
	return e
}

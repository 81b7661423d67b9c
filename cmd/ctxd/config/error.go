package config

import (
	"fmt"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
)

// Error is a setting, or a configuration file, that can't be used.
type Error struct {
	Key   string // of the setting; "" for the file as a whole
	At    Origin
	Fault *fault.Error
}

// Error says where, which setting, and what is wrong with it.
func (e *Error) Error() string {
	msg := e.Fault.Msg
	if e.Key != "" && !strings.Contains(msg, e.Key) {
		msg = e.Key + ": " + msg
	}
	if e.At.where == "" { // a default that does not work on this machine
		return msg
	}
	return e.At.where + ": " + msg
}

// Describe says how the error is shown.
func (e *Error) Describe(f *term.Failure) {
	f.Message, f.Field, f.File, f.Line = e.Error(), e.Key, e.At.file, e.At.Line
	if e.At.Source == fromFlag {
		f.Code = term.ExitMisused
	}
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Fault }

// place returns the origin of what stands in a line of a file, written as
// compilers do.
func place(file string, line int) Origin {
	at := Origin{Source: fromFile, where: file, file: file, Line: line}
	if line > 0 {
		at.where = fmt.Sprintf("%s:%d", file, line)
	}
	return at
}

// inFile is the error of a setting in the file.
func inFile(file string, line int, key string, f *fault.Error) *Error {
	return &Error{Key: key, At: place(file, line), Fault: f}
}

// badFile is the error of a file that can't be used as a whole.
func badFile(file string, line int, format string, args ...any) *Error {
	return inFile(file, line, "", fault.New(fault.Invalid, format, args...))
}

// hint sets what to do about it and returns e.
func (e *Error) hint(format string, args ...any) *Error {
	e.Fault = e.Fault.WithHint(format, args...)
	return e
}

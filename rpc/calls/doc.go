// Package calls has what the handlers of every room need of a call: its Reader, the pages of a list, and Report,
// which tells the caller how far a long call has come. Package rpc makes it for each call; the packages below rpc
// that hold the handlers of one room use it, and so do those that stand in rpc itself.
//
// A handler of such a package is a method func(room, context.Context, Reader, params) (result, error). It reads
// through the View of the Reader and keeps neither of them longer than the call lasts. Reports that follow each other
// within 50 ms are joined. Everything here may be called concurrently.
package calls

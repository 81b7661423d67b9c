// Package call is ctxd call: any method of the protocol from the command line.
//
// It makes params of words (key=value, read as the schema of the method says, and
// key:=json), of JSON or of standard input, and describes a method from the contract
// in rpc/protocol: its params, results and codes. It knows no method by name. The
// command is used by one goroutine, and its result is printed as the daemon sent it.
package call

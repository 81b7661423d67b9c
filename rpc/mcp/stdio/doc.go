// Package stdio carries messages of the Model Context Protocol over a pair of streams,
// one JSON-RPC message a line, for package rpc/mcp alone.
//
// A Conn is a transport of the SDK. It answers every line that is no message, so that no
// line ends the connection, bounds a line at 16 MiB and its nesting, keeps an id from
// being used twice at a time, leaves the reply to a withdrawn request out, and at the end
// of the input waits for the replies that are due (RPC-4 to 6, as far as they concern
// hosts). It knows no tool and no daemon. The SDK calls Read from one goroutine and Write
// from many; Close may be called at any time.
package stdio

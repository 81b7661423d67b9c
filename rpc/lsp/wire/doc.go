// Package wire declares the messages of the Language Server Protocol 3.17 that the
// language server reads and writes: params, results, capabilities, codes.
//
// A type has the name and the members of the specification; members that nobody here
// reads or writes are left out, so that a message of any client decodes. A member that
// may be absent is a pointer where its zero value would say something, and omitempty
// elsewhere. Where the specification allows several shapes, a result has the one that
// tells most (MarkupContent, LocationLink and the like are used only where a client has
// said that it reads them), and a param is json.RawMessage or a type that decodes all.
// Positions are in lines and characters from 0, in the unit of the negotiated encoding:
// package text converts them. Lists that a client must get are never null: use
// make or a literal.
//
// The types are ours because no module that is kept up declares those of 3.17: the Go
// team's are internal to gopls, and the modules that can be had stop at 3.16 and bring
// a logger and a JSON-RPC library of their own with them. The protocol library of VS Code,
// which drives the server in cmd/ctxd/lsp_conformance_test.go, holds them to the specification.
//
// Values only, no state: any goroutine may use them.
package wire

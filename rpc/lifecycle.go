package rpc

import (
	"context"
	"sync"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/jsonrpc"
	"github.com/ctxd/ctxd/rpc/protocol"
	"github.com/ctxd/ctxd/rpc/protocol/openrpc"
)

func initialize(_ context.Context, s *Session, p protocol.InitializeParams) (protocol.InitializeResult, error) {
	if err := checkVersion(p.ProtocolVersion); err != nil {
		return protocol.InitializeResult{}, err
	}
	if !s.conn.Begin(p.ClientInfo.Name) {
		return protocol.InitializeResult{},
			rejected(jsonrpc.NewError(protocol.CodeInvalidRequest, "call it once for each connection",
				"the connection is already initialized"))
	}
	s.remote.Store(p.Audience == protocol.Remote)
	s.mu.Lock()
	s.client, s.framing = p.ClientInfo, s.conn.Framing()
	if !p.ProcessID.Null {
		s.processID = p.ProcessID.Value
	}
	s.mu.Unlock()
	if p.ProcessID.Set && !p.ProcessID.Null {
		s.conn.EndWith(p.ProcessID.Value)
	}
	return protocol.InitializeResult{
		ServerInfo:      s.srv.info,
		ProtocolVersion: protocol.Version,
		Capabilities: protocol.ServerCapabilities{
			Methods:   s.srv.wire.Names(),
			Framings:  []string{protocol.FramingNewline, protocol.FramingContentLength},
			Embedder:  s.srv.embedderInfo(),
			Providers: s.srv.providers.Names(),
		},
	}, nil
}

// checkVersion refuses a client that was written for a newer major version. An
// older or absent one is served: what it needs of the daemon, the client decides.
func checkVersion(theirs string) error {
	if theirs == "" {
		return nil
	}
	fit, err := protocol.FitOf(theirs, protocol.Version)
	switch {
	case err != nil:
		return fault.Field("protocolVersion", "protocolVersion must have the form MAJOR.MINOR")
	case fit == protocol.DaemonOld:
		return fault.New(fault.Unavailable, "the client speaks protocol %s, the daemon %s", theirs, protocol.Version).
			WithHint("update the daemon")
	}
	return nil
}

// shutdown answers when its turn comes, after every earlier mutation. That
// nothing more is accepted was settled when it came.
func shutdown(context.Context, *Session, protocol.Empty) (protocol.Nothing, error) {
	return protocol.Nothing{}, nil
}

// document is made once: it is the same on every call.
var described = sync.OnceValues(openrpc.Document)

func discover(context.Context, *Session, protocol.Empty) (protocol.Document, error) {
	return described()
}

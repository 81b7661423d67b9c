package jsonrpc

import (
	"context"

	"github.com/ctxd/ctxd/rpc/protocol"
)

// Method is all that is known here of a method: when its calls may run, and what
// runs them.
type Method struct {
	Name      string
	Mode      protocol.Mode
	Early     bool             // answers before initialize
	Storeless bool             // passes a closed gate: it needs no store, or waits for it by itself
	Last      bool             // when it has come, no further call of its connection is accepted
	Kind      protocol.JobKind // of a job

	// Run runs a call and returns its result as JSON. It may panic.
	Run func(ctx context.Context, k *Call) (*Buffer, error)
}

// Writes reports whether the method changes anything.
func (m *Method) Writes() bool { return m.Mode == protocol.Mutation || m.Mode == protocol.Job }

// entry is a method with its figures.
type entry struct {
	Method
	kind *jobKind // of a job
	stats
	runTime
}

// Conn returns the connection that the call came on.
func (k *Call) Conn() *Conn { return k.conn }

// Mode returns the mode of the method.
func (k *Call) Mode() protocol.Mode { return k.method.Mode }

// Params returns the params as they came, checked to be JSON; nil without any. They
// are valid while the call runs.
func (k *Call) Params() []byte { return k.params }

// Storage returns what is behind the gate, for as long as the call runs; nil for a
// method that is Storeless.
func (k *Call) Storage() any {
	if k.entered == nil {
		return nil
	}
	return k.entered.value
}

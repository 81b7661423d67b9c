package jsonrpc

import (
	"runtime"
	"time"
)

// Limits bound what one client can cost (RPC-6). A zero field stands for its
// default.
type Limits struct {
	MessageBytes      int           `json:"messageBytes"`      // a message; one over it is skipped and answered 1004
	TextBytes         int           `json:"textBytes"`         // a string in the params, bodies of notes apart; over it the call is answered 1004
	HeaderBytes       int           `json:"headerBytes"`       // the header block of a message; over it the connection is closed
	Nesting           int           `json:"nesting"`           // depth of JSON; over it the connection is closed
	Batch             int           `json:"batch"`             // requests of a batch; over it the batch is answered 1004
	InFlight          int           `json:"inFlight"`          // unanswered requests of a connection; those over it are answered 1004, retryable
	Concurrency       int           `json:"concurrency"`       // reads of a connection that run at a time; the rest wait
	Running           int           `json:"running"`           // reads of all connections that run at a time, half of them long ones; clients take turns
	ReadSlice         time.Duration `json:"readSlice"`         // a read that ran for so long is long
	Jobs              int           `json:"jobs"`              // jobs of one kind that run on a connection at a time; those over it are answered 1004, retryable
	OutboundBytes     int64         `json:"outboundBytes"`     // replies of a connection that wait for its reader; over it the connection is closed
	OutboundTotal     int64         `json:"outboundTotal"`     // the same of all connections; over it the slowest readers are closed
	InboundTotal      int64         `json:"inboundTotal"`      // messages of all connections that have begun and not ended; over it the oldest are closed
	MemoryTotal       int64         `json:"memoryTotal"`       // what mutations of all connections may take up, with the params of all calls: those over it wait
	ReplyTotal        int64         `json:"replyTotal"`        // long replies of all connections while they are written: those over it wait
	WriteStall        time.Duration `json:"writeStall"`        // without progress for so long while replies wait: closed
	FrameTimeout      time.Duration `json:"frameTimeout"`      // a message that began must be complete by then, else closed
	Connections       int           `json:"connections"`       // open at a time; over it a new one evicts the least active one
	InitializeTimeout time.Duration `json:"initializeTimeout"` // a client that has not called initialize by then is closed
	ReadTimeout       time.Duration `json:"readTimeout"`       // a read runs for so long at most, then 1005
}

// DefaultLimits returns the limits of a daemon that is configured no further.
func DefaultLimits() Limits {
	return Limits{
		MessageBytes:      16 << 20,
		TextBytes:         1 << 20,
		HeaderBytes:       8 << 10,
		Nesting:           128,
		Batch:             1000,
		InFlight:          64,
		Concurrency:       16,
		Running:           max(2, runtime.GOMAXPROCS(0)),
		ReadSlice:         10 * time.Millisecond,
		Jobs:              4,
		OutboundBytes:     32 << 20,
		OutboundTotal:     128 << 20,
		InboundTotal:      256 << 20,
		MemoryTotal:       512 << 20,
		ReplyTotal:        32 << 20,
		WriteStall:        10 * time.Second,
		FrameTimeout:      30 * time.Second,
		Connections:       2048,
		InitializeTimeout: 10 * time.Second,
		ReadTimeout:       60 * time.Second,
	}
}

// withDefaults returns l with every field that is not positive replaced.
func (l Limits) withDefaults() Limits {
	d := DefaultLimits()
	def(&l.MessageBytes, d.MessageBytes)
	def(&l.TextBytes, d.TextBytes)
	def(&l.HeaderBytes, d.HeaderBytes)
	def(&l.Nesting, d.Nesting)
	def(&l.Batch, d.Batch)
	def(&l.InFlight, d.InFlight)
	def(&l.Concurrency, d.Concurrency)
	def(&l.Running, d.Running)
	def(&l.ReadSlice, d.ReadSlice)
	def(&l.Jobs, d.Jobs)
	def(&l.OutboundBytes, d.OutboundBytes)
	def(&l.OutboundTotal, d.OutboundTotal)
	def(&l.InboundTotal, d.InboundTotal)
	def(&l.MemoryTotal, d.MemoryTotal)
	def(&l.ReplyTotal, d.ReplyTotal)
	def(&l.WriteStall, d.WriteStall)
	def(&l.FrameTimeout, d.FrameTimeout)
	def(&l.Connections, d.Connections)
	def(&l.InitializeTimeout, d.InitializeTimeout)
	def(&l.ReadTimeout, d.ReadTimeout)
	return l
}

func def[T int | int64 | time.Duration](v *T, d T) {
	if *v <= 0 {
		*v = d
	}
}

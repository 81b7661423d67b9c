package demo

import (
	"fmt"

	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// The message that refers to two memories and a part of a note. The handle in it is the one that
// completion finds: its end is drawn by chance when the memory is written down.
const (
	handlePrefix = "date"
	handleItems  = 3
	referring    = "Does #58 keep to @%s and to [[Project Alpha Kickoff#Decisions]]?"
)

// referred is a message with references and what a model gets for it.
type referred struct {
	Completed record.RefCompletions `json:"completed"`
	Message   string                `json:"message"`
	Context   prompt.Result         `json:"context"`
}

// completesHandles asks what somebody may mean who types the beginning of a handle.
func (j *job) completesHandles() error {
	did := &j.did.Referred
	err := j.call("refs.complete", protocol.RefsComplete{Prefix: handlePrefix, Limit: handleItems}, &did.Completed, nil)
	if err != nil {
		return err
	}
	j.show.handles(j.last(), did.Completed.Items)
	for _, item := range did.Completed.Items {
		if item.Kind == record.ResolvedMemory {
			did.Message = fmt.Sprintf(referring, item.Handle)
			return nil
		}
	}
	return fault.New(fault.NotFound, "no memory has a handle that begins with %s", handlePrefix)
}

// refers assembles the prompt of a message that is about nothing but what it refers to.
func (j *job) refers() error {
	did := &j.did.Referred
	err := j.call("context.assemble", gather.Params{Text: did.Message}, &did.Context, nil)
	if err == nil {
		j.show.referred(j.last(), did)
	}
	return err
}

package fault_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/ctxd/ctxd/entities/fault"
)

func TestKindOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want fault.Kind
		msg  string
	}{
		{fault.New(fault.Conflict, "taken"), fault.Conflict, "taken"},
		{fmt.Errorf("outer: %w", fault.Missing("note", "x")), fault.NotFound, `no note with id "x"`},
		{fault.Wrap(fault.Unavailable, errors.New("/home/ann/secret"), "the disk is full"), fault.Unavailable, "the disk is full"},
		{fmt.Errorf("x: %w", context.Canceled), fault.Cancelled, "cancelled"},
		{context.DeadlineExceeded, fault.Deadline, "out of time"},
		{errors.New("/home/ann/secret"), fault.Internal, "internal error"},
	} {
		if got := fault.KindOf(c.err); got != c.want {
			t.Errorf("%v is of kind %v, want %v", c.err, got, c.want)
		}
		if got := fault.Message(c.err); got != c.msg {
			t.Errorf("%v says %q, want %q", c.err, got, c.msg)
		}
	}
}

func TestUnderNamesTheWholeField(t *testing.T) {
	inner := fault.Field("role", "too long").WithHint("shorten it")
	err := fault.Under("entities[2]", fault.Under("fields", inner))
	var e *fault.Error
	if !errors.As(err, &e) || e.Field != "entities[2].fields.role" || e.Hint != "shorten it" || inner.Field != "role" {
		t.Errorf("%+v", e)
	}
	if !errors.As(fault.Under("x", fault.New(fault.Limit, "m")), &e) || e.Field != "x" {
		t.Error("a fault without a field gets one")
	}
	if plain := errors.New("x"); !errors.Is(fault.Under("a", plain), plain) {
		t.Error("another error stays as it is")
	}
}

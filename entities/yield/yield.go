package yield

import "context"

// Yielder has the work that calls it wait while others compute. It returns at once when
// ctx has ended.
type Yielder interface{ Yield(ctx context.Context) }

// Key is the key under which a context holds its Yielder.
type Key struct{}

// Point has the work of ctx wait while others compute, and returns the error of ctx. It
// is worth its cost every 10 µs or so.
func Point(ctx context.Context) error {
	y, _ := ctx.Value(Key{}).(Yielder)
	if y != nil {
		y.Yield(ctx)
	}
	return ctx.Err()
}

// Every is Point in one of so many calls, for a loop with short steps; i counts them. It
// returns the error of ctx.
func Every(ctx context.Context, steps, i int) error {
	if i%steps == 0 {
		return Point(ctx)
	}
	return ctx.Err()
}

// Never returns a context whose work does not wait: it is done in a View of the store, or
// with a lock held.
func Never(ctx context.Context) context.Context { return context.WithValue(ctx, Key{}, nil) }

// Leaver is a Yielder that can do without its work: others compute in its place from then on.
type Leaver interface{ GiveUp() }

// Leave says that the work of ctx waits for what is not of this process, such as a server, and computes little when it
// goes on. It is called once, by the goroutine of Point.
func Leave(ctx context.Context) {
	if y, ok := ctx.Value(Key{}).(Leaver); ok {
		y.GiveUp()
	}
}

package jsonrpc

import "time"

// poolClient is what the pool knows of a client, over all of its connections. The zero
// value is one that is new.
type poolClient struct {
	readTime
	lastTurns // under Pool.mu
}

// poolConn is what the pool knows of a connection. Its methods are called under the lock
// that the connection keeps its reads under, unless they say otherwise.
type poolConn struct {
	pool   *readPool
	client *poolClient
	run    func(poolLine) (placed bool)
	readTime
	lastTurns // under Pool.mu
}

// lastTurns say when a client or a connection got a place last, by line.
type lastTurns [2]uint64

// Init enters a connection of a client. run is called without locks held when it is the
// turn of the connection: it runs one read on the place that it is given (Begin, End),
// or says that there is none (Unused). It reports whether the place is the pool's again.
func (c *poolConn) Init(pool *readPool, client *poolClient, run func(poolLine) (placed bool)) {
	c.pool, c.client, c.run = pool, client, run
	c.mean.Store(max(int64(unknownRead), client.mean.Load()))
}

// Enter puts the connection in line. It must not be there already.
func (c *poolConn) Enter() {
	line := shortLine
	if c.long(c.pool.slice) {
		line = longLine
	}
	c.pool.mu.Lock()
	defer c.pool.mu.Unlock()
	c.pool.await(line, waiter{conn: c})
}

// Begin notes that the connection begins a read on the place that it was given.
func (c *poolConn) Begin(k *poolRead, line poolLine) {
	c.pool.mu.Lock()
	defer c.pool.mu.Unlock()
	k.known = true
	c.pool.hold(k, line)
}

// Unused is called instead of Begin when the connection has nothing to run. It may be
// called with no lock held.
func (c *poolConn) Unused(line poolLine) {
	if line == longLine {
		c.pool.mu.Lock()
		defer c.pool.mu.Unlock()
		c.pool.long--
	}
}

// Took counts for how long one of the reads has computed. It may be called with no lock
// held.
func (c *poolConn) Took(d time.Duration) {
	c.took(d, c.pool.slice)
	c.client.took(d, c.pool.slice)
}

// Short reports whether the reads of the connection have been short so far.
func (c *poolConn) Short() bool { return c.short() }

// before reports whether a connection is to get a place before another that came to
// the line earlier.
func (c *poolConn) before(other *poolConn, line poolLine) bool {
	mine, theirs := c.client.lastTurns[line], other.client.lastTurns[line]
	if mine != theirs {
		return mine < theirs
	}
	return c.lastTurns[line] < other.lastTurns[line]
}

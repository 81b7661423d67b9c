package places

import "time"

// Client is what the pool knows of a client, over all of its connections. The zero
// value is one that is new.
type Client struct {
	readTime
	lastTurns // under Pool.mu
}

// Conn is what the pool knows of a connection. Its methods are called under the lock
// that the connection keeps its reads under, unless they say otherwise.
type Conn struct {
	pool   *Pool
	client *Client
	run    func(Line) (placed bool)
	readTime
	lastTurns // under Pool.mu
}

// lastTurns say when a client or a connection got a place last, by line.
type lastTurns [2]uint64

// Init enters a connection of a client. run is called without locks held when it is the
// turn of the connection: it runs one read on the place that it is given (Begin, End),
// or says that there is none (Unused). It reports whether the place is the pool's again.
func (c *Conn) Init(pool *Pool, client *Client, run func(Line) (placed bool)) {
	c.pool, c.client, c.run = pool, client, run
	c.mean.Store(max(int64(unknownRead), client.mean.Load()))
}

// Enter puts the connection in line. It must not be there already.
func (c *Conn) Enter() {
	line := shortLine
	if c.long(c.pool.slice) {
		line = longLine
	}
	c.pool.mu.Lock()
	defer c.pool.mu.Unlock()
	c.pool.await(line, waiter{conn: c})
}

// Begin notes that the connection begins a read on the place that it was given.
func (c *Conn) Begin(k *Read, line Line) {
	c.pool.mu.Lock()
	defer c.pool.mu.Unlock()
	k.known = true
	c.pool.hold(k, line)
}

// Unused is called instead of Begin when the connection has nothing to run. It may be
// called with no lock held.
func (c *Conn) Unused(line Line) {
	if line == longLine {
		c.pool.mu.Lock()
		defer c.pool.mu.Unlock()
		c.pool.long--
	}
}

// Took counts for how long one of the reads has computed. It may be called with no lock
// held.
func (c *Conn) Took(d time.Duration) {
	c.took(d, c.pool.slice)
	c.client.took(d, c.pool.slice)
}

// Short reports whether the reads of the connection have been short so far.
func (c *Conn) Short() bool { return c.short() }

// before reports whether a connection is to get a place before another that came to
// the line earlier.
func (c *Conn) before(other *Conn, line Line) bool {
	mine, theirs := c.client.lastTurns[line], other.client.lastTurns[line]
	if mine != theirs {
		return mine < theirs
	}
	return c.lastTurns[line] < other.lastTurns[line]
}

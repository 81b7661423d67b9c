//go:build unix

package shared_test

import (
	"fmt"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// everybody are all daemons.
var everybody = []int{0, 1, 2}

// others are all daemons but one.
func others(i int) []int { return []int{(i + 1) % daemons, (i + 2) % daemons} }

// bad is something that is done to the world. It says to whom, and returns how it is mended and
// which daemons can write meanwhile.
type bad struct {
	name  string
	do    func(w *world) (whom string, mend func(), writing []int)
	lasts time.Duration // at most, sometimes, whoever writes meanwhile; else until there was enough
}

// server is one of the servers, half of the time the one that leads.
func (w *world) server() int {
	if at := w.leader(); at >= 0 && w.random.IntN(2) == 0 {
		return at
	}
	return w.random.IntN(servers)
}

func (w *world) nameOf(server int) string {
	if w.leader() == server {
		return w.members[server].Name + ", which leads"
	}
	return w.members[server].Name
}

// ends ends a process.
func (w *world) ends(c *child, name string, stops bool) {
	if !stops {
		c.kill()
		return
	}
	if err := c.stop(); err != nil {
		w.history.odd(name + " has not stopped well: " + err.Error())
	}
}

// endServer kills or stops a server.
func endServer(stops bool) func(w *world) (string, func(), []int) {
	return func(w *world) (string, func(), []int) {
		i := w.server()
		name := w.nameOf(i)
		w.ends(w.servers[i], name, stops)
		return name, func() { w.startServer(i) }, everybody
	}
}

// killFollower kills a server that does not lead: an election takes some seconds.
func killFollower(w *world) (string, func(), []int) {
	i := (w.leader() + 1) % servers
	w.servers[i].kill()
	return w.members[i].Name, func() { w.startServer(i) }, everybody
}

func pauseServer(w *world) (string, func(), []int) {
	i := w.server()
	name := w.nameOf(i)
	w.servers[i].send(syscall.SIGSTOP)
	return name, func() { w.servers[i].send(syscall.SIGCONT) }, everybody
}

// endDaemon kills or stops a daemon, while its clients write.
func endDaemon(stops bool) func(w *world) (string, func(), []int) {
	return func(w *world) (string, func(), []int) {
		i := w.random.IntN(daemons)
		name := fmt.Sprintf("daemon%d", i+1)
		w.ends(w.daemons[i].child(), name, stops)
		return name, func() { w.startDaemon(i) }, others(i)
	}
}

func pauseDaemon(w *world) (string, func(), []int) {
	i := w.random.IntN(daemons)
	c := w.daemons[i].child()
	c.send(syscall.SIGSTOP)
	return fmt.Sprintf("daemon%d", i+1), func() { c.send(syscall.SIGCONT) }, others(i)
}

// Ways to lose what passes a proxy.
const (
	all = iota
	toClient
	toServer
)

// partDaemon parts a daemon from the servers.
func partDaemon(loses int) func(w *world) (string, func(), []int) {
	return func(w *world) (string, func(), []int) {
		i := w.random.IntN(daemons)
		for _, p := range w.ways[i] {
			switch loses {
			case all:
				p.Cut()
			case toClient:
				p.DropFromServer()
			case toServer:
				p.DropFromClient()
			}
		}
		mend := func() {
			for _, p := range w.ways[i] {
				p.Heal()
			}
		}
		return fmt.Sprintf("daemon%d", i+1), mend, others(i)
	}
}

// partServers parts a server from another, or from both.
func partServers(both bool, loses int) func(w *world) (string, func(), []int) {
	return func(w *world) (string, func(), []int) {
		i := w.server()
		from := []int{(i + 1 + w.random.IntN(2)) % servers}
		if both {
			from = []int{(i + 1) % servers, (i + 2) % servers}
		}
		name := w.nameOf(i) + " from"
		for _, j := range from {
			name += " " + w.members[j].Name
			switch loses {
			case all:
				w.routes[i][j].Cut()
				w.routes[j][i].Cut()
			case toServer: // what i says to j is lost
				w.routes[i][j].DropFromClient()
				w.routes[j][i].DropFromServer()
			case toClient:
				w.routes[i][j].DropFromServer()
				w.routes[j][i].DropFromClient()
			}
		}
		mend := func() {
			for _, j := range from {
				w.routes[i][j].Heal()
				w.routes[j][i].Heal()
			}
		}
		return name, mend, everybody
	}
}

// slowDaemon has the disk of a daemon take long to flush.
func slowDaemon(w *world) (string, func(), []int) {
	i := w.random.IntN(daemons)
	takes := func(d time.Duration) {
		_, _ = w.daemons[i].child().call(request{Op: "disk", Time: d})
	}
	long := time.Duration(50+w.random.IntN(200)) * time.Millisecond
	takes(long)
	return fmt.Sprintf("daemon%d by %s", i+1, long), func() { takes(0) }, others(i)
}

// slowServer has the disk of a server take long to flush.
func slowServer(w *world) (string, func(), []int) {
	i := w.server()
	name := w.nameOf(i)
	long := time.Duration(20+w.random.IntN(80)) * time.Millisecond
	tracer := exec.Command("strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync",
		"-e", "inject=fsync,fdatasync:delay_exit="+strconv.FormatInt(long.Microseconds(), 10), "-p", strconv.Itoa(w.servers[i].cmd.Process.Pid))
	w.must(tracer.Start())
	mend := func() {
		_ = tracer.Process.Signal(syscall.SIGINT)
		_ = tracer.Wait()
	}
	return fmt.Sprintf("%s by %s", name, long), mend, everybody
}

// canTrace reports whether a disk of a server can be made slow here.
func canTrace() bool {
	return exec.Command("strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync", "-e", "inject=fsync:delay_exit=1", "true").Run() == nil
}

// shiftClock moves the clock of a daemon by an hour.
func shiftClock(w *world) (string, func(), []int) {
	i := w.random.IntN(daemons)
	to := time.Duration(w.random.IntN(3)-1) * time.Hour
	if to == w.options[i].Clock {
		to -= time.Hour
	}
	w.options[i].Clock = to
	_, err := w.daemons[i].child().call(request{Op: "clock", Time: to})
	w.must(err)
	return fmt.Sprintf("daemon%d to %s", i+1, to), func() {}, everybody
}

// deposed is longer than a server that is cut off takes for the leader.
const deposed = 22 * time.Second

// few are one of each main kind, for the short form.
var few = []bad{
	{"daemon killed", endDaemon(false), 0},
	{"daemon cut off", partDaemon(all), 0},
	{"daemon's disk slow", slowDaemon, 0},
	{"clock moved", shiftClock, 0},
	{"server killed that does not lead", killFollower, 0},
	{"daemon hears nothing", partDaemon(toClient), 0},
	{"daemon paused", pauseDaemon, 0},
}

// many are all kinds.
var many = []bad{
	{"server killed", endServer(false), 0},
	{"server stopped", endServer(true), 0},
	{"server paused", pauseServer, deposed},
	{"daemon killed", endDaemon(false), 0},
	{"daemon stopped", endDaemon(true), 0},
	{"daemon paused", pauseDaemon, 0},
	{"daemon cut off", partDaemon(all), 0},
	{"daemon hears nothing", partDaemon(toClient), 0},
	{"daemon is not heard", partDaemon(toServer), 0},
	{"server cut off", partServers(true, all), deposed},
	{"two servers parted", partServers(false, all), 0},
	{"server hears nothing", partServers(true, toClient), deposed},
	{"server is not heard", partServers(true, toServer), deposed},
	{"one server does not hear another", partServers(false, toServer), 0},
	{"daemon's disk slow", slowDaemon, 0},
	{"server's disk slow", slowServer, 0},
	{"clock moved", shiftClock, 0},
}

package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"

	"github.com/ctxd/ctxd/rpc/socket"
)

// hostileReader is the program that keeps queries in progress which take long. It is a
// process of its own, because the daemon shares its places by process.
const hostileReader = "hostile-reader"

const (
	hostileHandshake = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientInfo":{"name":"hostile reader"}}}` + "\n"

	hubs       = 500 // entities that all refer to all, in the full campaign
	longInAll  = 12  // queries that one connection has in progress
	hubQuery   = `SELECT h FROM Hub WHERE h.all.all.name = 'nobody'`
	shortQuery = `SELECT h FROM Hub WHERE h.name = 'Hub 7'`
)

// holder is the program that keeps connections open: socket, state and number are its
// arguments. A process of its own, because the daemon shares connections by process.
const holder = "hostile-holder"

// States of the connections that a holder keeps.
const (
	heldSilent = "silent" // it says nothing
	heldIdle   = "idle"   // it has called initialize
	heldBusy   = "busy"   // it has a query under way that takes long
)

// holdConnections keeps connections open, and opens another for each that is closed,
// until it is killed.
func holdConnections() {
	path, state := os.Args[1], os.Args[2]
	n, err := strconv.Atoi(os.Args[3])
	if err != nil {
		panic(err)
	}
	said := map[string]string{heldIdle: hostileHandshake, heldBusy: hostileHandshake + hubRequest()}[state]
	for range n {
		go func() {
			for {
				holdOne(path, said)
			}
		}()
	}
	select {}
}

// holdOne keeps a connection open until the daemon closes it.
func holdOne(path, said string) {
	nc, err := net.Dial("unix", path)
	if err != nil {
		return
	}
	defer nc.Close()
	_, err = nc.Write([]byte(said))
	if err == nil {
		_, _ = io.Copy(io.Discard, nc) // it ends with the connection
	}
}

// silentDaemon is the program that holds a socket and serves nobody.
const silentDaemon = "silent-daemon"

func serveNobody() {
	ln, err := socket.Listen(os.Args[1], socket.Options{Version: "0.0.0"})
	if err != nil {
		panic(err)
	}
	fmt.Println("listening")
	for {
		nc, err := ln.Accept()
		if err != nil {
			panic(err)
		}
		_ = nc.Close()
	}
}

func hubRequest() string {
	return `{"jsonrpc":"2.0","id":1,"method":"wql.query","params":{"query":` + strconv.Quote(hubQuery) + "}}\n"
}

// readHostilely keeps queries that take long in progress on a number of connections,
// until it is killed.
func readHostilely() {
	path, text := os.Args[1], os.Args[2]
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	var open sync.WaitGroup
	for range n {
		nc, err := net.Dial("unix", path)
		if err != nil {
			panic(err)
		}
		open.Go(func() { queryWithoutEnd(nc) })
	}
	open.Wait()
}

// queryWithoutEnd sends another query for each that was answered.
func queryWithoutEnd(nc net.Conn) {
	in := bufio.NewReader(nc)
	request := hubRequest()
	_, err := nc.Write([]byte(hostileHandshake))
	for range longInAll {
		if err == nil {
			_, err = nc.Write([]byte(request))
		}
	}
	for answers := 0; err == nil; answers++ {
		_, err = in.ReadSlice('\n')
		if err == nil && answers > 0 { // the first is that of the handshake
			_, err = nc.Write([]byte(request))
		}
	}
	fmt.Fprintln(os.Stderr, "a connection of the hostile reader is over:", err)
}

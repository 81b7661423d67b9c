// Package natstest runs NATS servers for tests: one, or a cluster of three, on loopback, with
// their data in a folder of the test. It is the only importer of the server, and only tests
// import it, so that no program of ours contains one.
//
// A Cluster is used by one goroutine. Servers listen on ports that were free a moment before,
// and keep them when they are started again. StartCluster returns when the cluster has a leader;
// that takes a second or two for three servers, so tests of a package share one.
//
// Wall: test helper: the only importer of the NATS server.
package natstest

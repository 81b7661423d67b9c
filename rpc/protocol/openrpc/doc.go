// Package document describes the contract of package protocol to others: the OpenRPC document that rpc.discover answers
// with, from which clients in other languages are made, and the tables of the README of rpc. All of it is made from the
// tables and the tags of package protocol, and nothing is declared here.
//
// The daemon and ctxd call ask it, once; clients of the daemon do not need it. OpenRPC fails where a type of a parameter
// or result has no schema, which every test shows. O(size of the contract). All functions may be called concurrently.
package openrpc

// Package openrpc describes the contract of rpc/protocol to others: the OpenRPC document that rpc.discover answers
// with, from which clients in other languages are made, and the tables of the README of rpc. All of it is made from
// the tables and the tags of rpc/protocol, and nothing is declared here.
//
// The daemon and ctxd call ask it, once; clients of the daemon do not need it. OpenRPC fails where a type of a
// parameter or result has no schema, which every test shows. O(size of the contract). All functions may be called
// concurrently.
//
// Wall: dependency: jsonschema-go makes the schemas, and clients that import rpc/protocol do not bring it in.
package openrpc

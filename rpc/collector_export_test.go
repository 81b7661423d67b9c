package rpc

// BeThrifty is beThrifty.
var BeThrifty = beThrifty

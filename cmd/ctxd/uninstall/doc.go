// Package uninstall is ctxd uninstall: it removes what ctxd has put on the machine.
//
// What is to be removed is listed first, and can be shown without being removed
// (--dry-run). What runs ends before any file goes: the service, so that nothing starts
// the daemon again, then the daemon. The files are listed anew then, since a daemon
// that ends writes its indexes. Only files that ctxd made are removed; what else lies
// in its folders stays and is named. No file of a vault is ever touched.
//
// The command is used by one goroutine. Only main calls it.
package uninstall

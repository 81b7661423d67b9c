// Package personalities has the handlers of personality.*: how the assistant is to speak. Package rpc lists them in its
// table of methods. All but Validate are for local connections, as the contract says, and read no record of a person
// but templates. The package keeps nothing, and may be called concurrently; its errors are those of package personality.
package personalities

package socket

// Holder returns the process that has the endpoint at path, which can't be told of a
// named pipe but by asking it.
func Holder(string) (o Owner, held bool) { return Owner{}, false }

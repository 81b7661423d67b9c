package socket

// PollUntil is how a process is watched where the system does not tell.
var PollUntil = pollUntil

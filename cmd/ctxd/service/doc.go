// Package service is ctxd service: it has systemd or launchd start the daemon at login, and takes that back.
//
// A plan is made first: the file that is written and the commands that are run. It can be shown without being carried
// out (--dry-run), and is carried out step by step, so that what fails names what was not done. Files that somebody
// else has written are left alone. On systems with neither of the two the commands say so.
//
// The commands are used by one goroutine. cmd/ctxd calls them, and ctxd uninstall removes what they made.
//
// Wall: subject: ctxd service.
package service

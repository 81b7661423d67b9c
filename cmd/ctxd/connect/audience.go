package connect

import (
	"errors"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Audience is the flag of the commands that show records: who reads what they print.
// The variable audienceDefault of kong says what holds without it.
type Audience struct {
	Audience *string `enum:"local,remote" placeholder:"WHO" help:"Who the output is for: local or remote. For remote, private records do not exist. Default: ${audienceDefault}."`
}

// AudienceDefault is what the help says of commands for which a missing flag is local.
const AudienceDefault = protocol.Local

// Remote reports whether a remote reader was asked for.
func (f Audience) Remote() bool { return f.Audience != nil && *f.Audience == protocol.Remote }

// Explain returns the error of a command as its reader is told it: for a remote reader a
// command that the hint names reads for nobody else either.
func (f Audience) Explain(err error) error {
	var known *fault.Error
	if !f.Remote() || !errors.As(err, &known) || !namesReader(known.Hint) {
		return err
	}
	return term.WithHint(err, known.Hint+" --audience "+protocol.Remote)
}

// namesReader reports whether a hint says to run a command that shows records.
func namesReader(hint string) bool {
	if strings.Contains(hint, " --help") {
		return false
	}
	for _, name := range [...]string{
		"ctxd search ", "ctxd call ", "ctxd inspect entity ", "ctxd inspect graph ", "ctxd types list",
		"ctxd memory list", "ctxd contexts list --tree",
	} {
		if strings.Contains(hint, name) {
			return true
		}
	}
	return false
}

// Options are those of a connection for the reader: the daemon tells it nothing that the
// reader may not see.
func (f Audience) Options() client.Options {
	if f.Remote() {
		return client.Options{Audience: protocol.Remote}
	}
	return client.Options{}
}

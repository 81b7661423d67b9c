package records

import (
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// ListFlags are the flags of every list.
type ListFlags struct {
	Limit term.CountFlag `short:"n" from:"0" default:"100" placeholder:"N" help:"Maximum number of records; 0 for all. Default: 100."`
}

// pageSize is how many records a call asks for.
const pageSize = 1000

// pages collects up to limit records, 0 for all, over the pages that fetch
// returns with their cursors. more tells that there are others.
func pages[T any](
	limit int, fetch func(page protocol.Page) (records []T, next string, err error),
) (all []T, more bool, err error) {
	all = []T{}
	var page protocol.Page
	for {
		page.Limit = pageSize
		if limit > 0 {
			page.Limit = min(pageSize, limit-len(all))
		}
		records, next, err := fetch(page)
		if err != nil {
			return nil, false, err
		}
		all = append(all, records...)
		if next == "" || limit > 0 && len(all) >= limit {
			return all, next != "", nil
		}
		page.Cursor = next
	}
}

// drawList shows a table, or what there is none of, and says when it is not all.
func (a *Options) drawList(cl *client.Client, t *term.Table, none string, more bool) {
	if len(t.Rows) == 0 {
		connect.DrawNone(a.Ctx, cl, a.Out, none)
		return
	}
	t.Draw(a.Out)
	if more {
		a.Out.Say(term.Styled(term.Faint, "the first "+term.Number(len(t.Rows))+"; -n 0 shows all"))
	}
}

// marks say what is special about a record.
func marks(private, vaultBacked bool) term.Line {
	var out term.Line
	if private {
		out = append(out, term.Styled(term.Warn, "private "))
	}
	if vaultBacked {
		out = append(out, term.Styled(term.Faint, "from a vault"))
	}
	return out
}

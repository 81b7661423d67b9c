package audience

import (
	"context"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/wql"
)

// CanQuery reports whether there is an engine.
func (v *View) CanQuery() bool { return v.wql != nil }

// Query runs a query over what the reader may see, as wql.Engine.Query does. The
// result is the caller's own.
func (v *View) Query(ctx context.Context, query string, opts wql.QueryOptions) (*wql.Result, error) {
	res, err := v.wql.Query(ctx, query, opts)
	if err != nil || !v.hides {
		return res, v.shownTextsAbout(err, ownWords(query))
	}
	for i := range res.Rows {
		if res.Rows[i].Task != nil {
			continue // of the text that the reader is shown
		}
		if e := v.entities.Get(res.Rows[i].ID); e != nil {
			res.Rows[i].Name, _ = v.Name(e)
		}
	}
	if text, ok := res.Value.(string); ok {
		res.Value, _ = v.Text("", text)
	}
	return res, nil
}

// Check says everything that is to be said about a query of the reader, as wql.Engine.Check does.
func (v *View) Check(query, thisType string) []entities.Diagnostic {
	return v.shownDiagnostics(v.wql.Check(query, thisType), ownWords(query)+"\n"+thisType)
}

// CheckWritten is Check of a query that stands in a note or a type, where others may have written it.
func (v *View) CheckWritten(query, thisType string) []entities.Diagnostic {
	return v.shownDiagnostics(v.wql.Check(query, thisType), "")
}

// Computed returns the value of a computed field as the reader may see it, as
// wql.Engine.Computed does: names and texts in it are not masked. The result may be
// shared with other callers. The query is that of the entity's type, of which the field
// may be as the reader is shown it.
func (v *View) Computed(ctx context.Context, e *entities.Entity, f entities.Field) (*wql.Result, error) {
	res, err := v.wql.Computed(ctx, e, f)
	return res, v.ShownTexts(err)
}

// Current reports whether a result of Computed is still what the field gives, as
// wql.Engine.Current does.
func (v *View) Current(r *wql.Result) bool { return v.wql.Current(r) }

package records

import (
	"errors"
	"slices"
	"strconv"
	"testing"

	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func TestPages(t *testing.T) {
	const stored = 2500
	asked := 0
	fetch := func(page protocol.Page) (list []int, next string, err error) {
		asked++
		if page.Limit < 1 || page.Limit > pageSize {
			t.Errorf("%d records of a page", page.Limit)
		}
		from, _ := strconv.Atoi(page.Cursor)
		to := min(from+page.Limit, stored)
		for i := from; i < to; i++ {
			list = append(list, i)
		}
		if to < stored {
			next = strconv.Itoa(to)
		}
		return list, next, nil
	}
	for _, c := range []struct {
		limit, want, calls int
		more               bool
	}{
		{0, stored, 3, false},
		{1, 1, 1, true},
		{1000, 1000, 1, true},
		{1001, 1001, 2, true},
		{stored, stored, 3, false},
		{stored + 1, stored, 3, false},
	} {
		asked = 0
		got, more, err := pages(c.limit, fetch)
		if err != nil || len(got) != c.want || more != c.more || asked != c.calls || !slices.IsSorted(got) {
			t.Errorf("%d: %d records in %d calls, more %v, %v; want %+v", c.limit, len(got), asked, more, err, c)
		}
	}
	refused := errors.New("refused")
	_, _, err := pages(0, func(protocol.Page) ([]int, string, error) { return nil, "", refused })
	if !errors.Is(err, refused) {
		t.Error(err)
	}
}

func TestParseField(t *testing.T) {
	for arg, want := range map[string]record.Field{
		"role:text":              {Name: "role", Type: record.Text},
		"team:entity_ref:Team":   {Name: "team", Type: record.EntityRef, TargetType: "Team"},
		"all:entity_ref_list":    {Name: "all", Type: record.EntityRefList},
		"state:select:open, ,no": {Name: "state", Type: record.Select, Options: []string{"open", "no"}},
		"x:computed:SELECT p FROM P WHERE p.a = 'b:c'": {
			Name: "x", Type: record.Computed, Query: "SELECT p FROM P WHERE p.a = 'b:c'",
		},
	} {
		got, err := parseField(arg)
		if err != nil || got.Name != want.Name || got.Type != want.Type || got.TargetType != want.TargetType ||
			got.Query != want.Query || !slices.Equal(got.Options, want.Options) {
			t.Errorf("%s: %+v, %v", arg, got, err)
		}
	}
	for _, arg := range []string{"", "role", ":text", "role:", "role:txt", "role:text:more", "when:date:2026"} {
		if f, err := parseField(arg); err == nil {
			t.Errorf("%q is %+v", arg, f)
		}
	}
}

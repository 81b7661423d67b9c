package rpc

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func (c scope) privacyList(_ context.Context, _ *Session, p protocol.PrivacyList) (protocol.PrivateRecords, error) {
	list := c.view.PrivateRecords()
	out := protocol.PrivateRecords{Records: []record.PrivacyRecord{}}
	for i := range list {
		if list[i].Kind == record.KindNote {
			out.Notes++
		} else {
			out.Entities++
		}
	}
	if p.ID != "" {
		out.Records = c.view.PrivacyOf(p.ID)
		if len(out.Records) == 0 {
			return out, noRecord(p.ID)
		}
		return out, nil
	}
	page, next, err := paginate(list, p.Page,
		func(r record.PrivacyRecord) pageMark { return pageMark{Name: r.Title, ID: audience.PrivacyKey(r)} },
		func(r record.PrivacyRecord, m pageMark) int { return audience.ComparePrivacy(r, m.Name, m.ID) })
	out.Records, out.NextCursor = c.view.Explain(page), next
	return out, err
}

func noRecord(id string) error { return fault.Missing("note or entity", id) }

func (c scope) privacyProse(ctx context.Context, _ *Session, p protocol.PrivacyProse) (protocol.PrivateNames, error) {
	if p.ID != "" && len(c.view.PrivacyOf(p.ID)) == 0 {
		return protocol.PrivateNames{}, noRecord(p.ID)
	}
	after, err := parseProse(p.Cursor)
	if err != nil {
		return protocol.PrivateNames{}, err
	}
	places, next, err := c.view.Prose(ctx, p.ID, after, p.Limit)
	out := protocol.PrivateNames{Places: append([]record.PrivacyPlace{}, places...)}
	if next != nil {
		out.NextCursor = pageMark{Name: next.Title, ID: fmt.Sprintf("%d/%s/%s", next.Places, next.Kind, next.ID)}.Cursor()
	}
	return out, err
}

// maxProsePlaces bounds the places of one record that a cursor may stand behind.
const maxProsePlaces = 1 << 24

// parseProse reads a cursor of privacy.prose; nil for none.
func parseProse(cursor string) (*audience.ProsePlace, error) {
	if cursor == "" {
		return nil, nil
	}
	m, err := parsePageMark(cursor)
	if err != nil {
		return nil, err
	}
	places, rest, _ := strings.Cut(m.ID, "/")
	kind, id, ok := strings.Cut(rest, "/")
	n, err := strconv.Atoi(places)
	if err != nil || !ok || n < 0 || n > maxProsePlaces {
		return nil, badCursorError()
	}
	return &audience.ProsePlace{Title: m.Name, Kind: kind, ID: id, Places: n}, nil
}

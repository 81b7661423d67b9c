package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxd/ctxd/chat/tools/render"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

const (
	mimeType = "text/markdown"

	// maxRecent is how many notes a page of the list of resources has.
	maxRecent = 50
	// maxResource is how much is given of the text of a note, in characters.
	maxResource = 256 << 10
)

// addResources declares what can be read by address.
func (s *server) addResources() {
	s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: record.NoteAddress + "{id}", Name: "note", Title: "A note", MIMEType: mimeType,
		Description: "The text of a note. The most recently changed notes are listed first. The title may be used instead of the id.",
	}, s.readNoteResource)
	s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: record.EntityAddress + "{id}", Name: "entity", Title: "An entity", MIMEType: mimeType,
		Description: "A person, project or other entity with its fields and what they refer to.",
	}, s.readEntityResource)
}

func (s *server) readNoteResource(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	c := s.begin(ctx)
	uri := req.Params.URI
	n, err := c.findNote(namedBy(uri))
	if err != nil {
		return nil, s.resourceError(uri, err)
	}
	text, _ := prompt.Cut(n.Body, maxResource)
	return markdownResource(uri, text), nil
}

func (s *server) readEntityResource(ctx context.Context,
	req *sdk.ReadResourceRequest,
) (*sdk.ReadResourceResult, error) {
	c := s.begin(ctx)
	uri := req.Params.URI
	e, err := c.findEntity(namedBy(uri), 2)
	if err != nil {
		return nil, s.resourceError(uri, err)
	}
	text, _ := prompt.Cut(entityCard(e), maxResource)
	return markdownResource(uri, text), nil
}

// namedBy returns what an address names its record with: an id mostly.
func namedBy(uri string) string {
	a, _ := record.ParseAddress(uri) // an empty one names nothing
	return a.ID
}

func markdownResource(uri, text string) *sdk.ReadResourceResult {
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: mimeType, Text: text}}}
}

// listing answers the lists that change with the records.
func (s *server) listing(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		switch method {
		case "resources/list":
			cursor := ""
			if r, ok := req.(*sdk.ListResourcesRequest); ok && r.Params != nil {
				cursor = r.Params.Cursor
			}
			list, err := s.begin(ctx).recent(cursor)
			if err != nil {
				return nil, s.wireError(err)
			}
			return list, nil
		case "tools/list":
			res, err := next(ctx, method, req)
			if list, ok := res.(*sdk.ListToolsResult); ok && err == nil {
				s.withoutEmpty(ctx, list)
			}
			return res, err
		case "resources/read":
			// The SDK writes an address that it does not know into JSON as it
			// is, which fails for some.
			r, ok := req.(*sdk.ReadResourceRequest)
			if ok && !strings.HasPrefix(r.Params.URI, record.NoteAddress) && !strings.HasPrefix(r.Params.URI, record.EntityAddress) {
				return nil, noResource(r.Params.URI)
			}
			if ok { // an address may name a part of a note; all of it is read
				r.Params.URI, _, _ = strings.Cut(r.Params.URI, "#")
			}
		}
		return next(ctx, method, req)
	}
}

// recent lists the notes, those that were changed last first.
func (c *call) recent(cursor string) (*sdk.ListResourcesResult, error) {
	var page protocol.NotePage
	err := c.ask("notes.list", protocol.NoteFilter{
		Sort: protocol.SortUpdated, Page: protocol.Page{Cursor: cursor, Limit: maxRecent},
	}, &page)
	if err != nil {
		return nil, err
	}
	out := &sdk.ListResourcesResult{
		Resources: []*sdk.Resource{}, NextCursor: page.NextCursor, Cacheable: sdk.Cacheable{CacheScope: "private"},
	}
	for _, n := range page.Notes {
		out.Resources = append(out.Resources, &sdk.Resource{
			URI: record.NoteAddress + n.ID, Name: render.OneLine(n.Title), Title: render.OneLine(n.Title),
			Description: strings.TrimSpace(render.Location(n.Vault, n.Path)),
			MIMEType:    mimeType,
			Annotations: &sdk.Annotations{LastModified: n.UpdatedAt.UTC().Format("2006-01-02T15:04:05Z")},
		})
	}
	return out, nil
}

// resourceError is the error of reading a resource: an id that no record can have
// is that of none.
func (s *server) resourceError(uri string, err error) error {
	kind := fault.KindOf(err)
	if kind == fault.NotFound || kind == fault.Invalid {
		return noResource(uri)
	}
	return s.wireError(err)
}

// noResource answers for an address that leads nowhere.
func noResource(uri string) error {
	data, err := json.Marshal(map[string]string{"uri": uri})
	if err != nil {
		data = nil
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "Resource not found", Data: data}
}

func invalidParams(text string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: text}
}

// wireError makes the error of a request that is no tool call, whose code is
// that of the daemon's protocol.
func (s *server) wireError(err error) error {
	var known *jsonrpc.Error
	if errors.As(err, &known) {
		return known
	}
	code := int64(protocol.CodeInternal)
	switch fault.KindOf(err) {
	case fault.Invalid, fault.Conflict:
		code = protocol.CodeInvalidParams
	case fault.NotFound:
		code = jsonrpc.CodeInvalidParams
	case fault.Unavailable:
		code = protocol.CodeUnavailable
	case fault.Limit:
		code = protocol.CodeLimit
	case fault.Deadline:
		code = protocol.CodeDeadline
	}
	text, _ := prompt.Cut(s.explain(err).Error(), maxErrorChars)
	return &jsonrpc.Error{Code: code, Message: text}
}

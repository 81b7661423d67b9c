package tools

import (
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// BookArgs are the args of book.
type BookArgs struct {
	Path           string `json:"path" long:"4096" jsonschema:"the file on the machine of the person, as they wrote it: the client resolves ~ and what is relative"`
	ConversationID string `json:"conversationId,omitempty" long:"64" jsonschema:"the conversation that alone sees the book; all do when absent"`
}

// book is done by the client, with books.add: that is a job with progress, and only local connections may call it. Nobody
// looks at the file before the person has confirmed.
var book = declare(record.ProposeBook, "The client has a file read as a book of the conversation, with books.add.", (*call).book)

func (c *call) book(a *BookArgs) (*PreparedAction, error) {
	if c.View.Hides() {
		return nil, fault.New(fault.Unavailable, "a file is read on the machine of the person, and the connection is remote").
			WithHint("propose and confirm it on a connection with the audience local")
	}
	if a.Path = strings.TrimSpace(a.Path); strings.ContainsAny(a.Path, "\x00\r\n") {
		return nil, fault.Field("path", "path has more than one line").WithHint("give the path of one file")
	}
	return &PreparedAction{}, nil
}

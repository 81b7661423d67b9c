package chats

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/records"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// readConfirmed has the file read that a confirmed action names. One that was confirmed before was read then.
func readConfirmed(ctx context.Context, a *Options, cl *client.Client, d *protocol.ChatDecided) error {
	if d.Type != record.ProposeBook || !d.ForClient || d.Repeat {
		return nil
	}
	path, _ := d.Args["path"].(string)
	conversation, _ := d.Args["conversationId"].(string)
	return readBook(ctx, a, cl, path, conversation)
}

// book reads a file for the conversation.
func (s *conversing) book(ctx context.Context, arg string) error {
	if s.conversation == nil || s.conversation.ID == "" {
		return fault.New(fault.Invalid, "there is no conversation yet that the file could be read for").
			WithHint("say something first, or read it for all conversations: ctxd books add FILE")
	}
	cl, err := s.conn()
	if err != nil {
		return err
	}
	return readBook(ctx, s.Options, cl, arg, s.conversation.ID)
}

// readBook has the daemon read a file for a conversation.
func readBook(ctx context.Context, a *Options, cl *client.Client, file, conversation string) error {
	path, err := absolute(file)
	if err != nil {
		return err
	}
	return records.AddBook(ctx, a.Streams, cl, record.BooksAdd{Path: path, ConversationID: conversation})
}

// absolute is the path of a file as a person writes it, with ~ and seen from the working directory.
func absolute(file string) (string, error) {
	if rest, ok := strings.CutPrefix(file, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fault.Wrap(fault.Unavailable, err, "cannot determine the home directory").WithHint("give the absolute path of the file")
		}
		return filepath.Join(home, rest), nil
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return "", fault.Wrap(fault.Unavailable, err, "cannot determine the working directory").WithHint("give the absolute path of the file")
	}
	return path, nil
}

package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// offerCmd prints what a word of a command line may refer to, one a line, for the scripts of ctxd completion: handles
// behind @, numbers behind #, titles of notes behind [[, and handles where a reference stands alone. It says nothing
// where no daemon answers.
type offerCmd struct {
	Mark bool   `help:"Only words that begin with @, # or [[: the argument is a message."`
	Word string `arg:"" optional:"" help:"What was typed of it."`
}

const (
	// offerTimeout bounds what a press of Tab may wait for the daemon.
	offerTimeout = 500 * time.Millisecond
	offerLimit   = 50
)

func (c *offerCmd) Run(a *app) error {
	ctx, cancel := context.WithTimeout(a.Ctx, offerTimeout)
	defer cancel()
	link := *a.Link
	link.Ctx, link.Warn = ctx, nil
	var words []string
	_ = link.With(func(cl *client.Client) (err error) { // an empty list without a daemon
		words, err = c.words(ctx, cl)
		return err
	})
	for _, word := range words {
		_, _ = fmt.Fprintln(a.Out, word) // who asked may have gone
	}
	return nil
}

func (c *offerCmd) words(ctx context.Context, cl *client.Client) (words []string, err error) {
	if typed, ok := strings.CutPrefix(c.Word, "[["); ok {
		var found protocol.NoteItems
		err := cl.Call(ctx, "notes.complete", protocol.NoteComplete{Prefix: typed, Limit: offerLimit}, &found)
		for _, n := range found.Items {
			words = append(words, "[["+n.Title+"]]")
		}
		return oneLine(words), err
	}
	mark := ""
	if strings.HasPrefix(c.Word, "@") || strings.HasPrefix(c.Word, "#") {
		mark = c.Word[:1]
	}
	if c.Mark && mark == "" {
		return nil, nil
	}
	var found record.RefCompletions
	err = cl.Call(ctx, "refs.complete", protocol.RefsComplete{Prefix: c.Word, Limit: offerLimit}, &found)
	for _, item := range found.Items {
		switch {
		case mark != "#":
			words = append(words, mark+item.Handle)
		case item.Number > 0:
			words = append(words, fmt.Sprint("#", item.Number))
		}
	}
	return words, err
}

// oneLine leaves out words of several lines, which no shell takes as one.
func oneLine(words []string) (list []string) {
	for _, word := range words {
		if !strings.ContainsAny(word, "\r\n") {
			list = append(list, word)
		}
	}
	return list
}

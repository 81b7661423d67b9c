package send

import (
	"context"

	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/context/gather"
)

// goneResult stands for what a tool has said, of which it is not known what has become private since.
const goneResult = "This was left out: records that it may name have become private. Call the tool again."

// fresh returns what makes a request for a remote provider anew if what is private has changed since it was made: it may be
// sent long after, by a retry or when tools have run. Its first messages are those of the conversation. The searches are
// not made again: by now they would find the message itself.
func (s *sending) fresh(first int) func(ctx context.Context, r *llm.Request) error {
	return func(ctx context.Context, r *llm.Request) error {
		privacy := s.reader.Privacy()
		if privacy == s.privacy {
			return nil
		}
		p, err := s.opts.Prompts.Preview(ctx, gather.Readers{Prompt: s.reader, Report: s.reader}, s.gathers)
		if err != nil {
			return err
		}
		s.prompt.System = p.System // the report keeps what the model was told before as well
		said, attached := len(s.answer.Warnings), s.answer.Trace.Attached
		list, err := s.messages(ctx, r.Tools)
		if err != nil {
			return err
		}
		s.answer.Warnings, s.answer.Trace.Attached = s.answer.Warnings[:said], attached // they were told before
		list[len(list)-1].Images = r.Messages[first-1].Images
		r.System = s.system()
		for _, m := range r.Messages[first:] {
			m.Text = s.told(m.Text)
			for i := range m.Results {
				m.Results[i].Text = goneResult
			}
			list = append(list, m)
		}
		first += len(list) - len(r.Messages)
		r.Messages, s.privacy = list, privacy
		return nil
	}
}

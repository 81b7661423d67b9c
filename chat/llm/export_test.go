package llm

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"slices"
)

// DialBy has a provider dial by a function.
func DialBy(p Provider, dial func(ctx context.Context, network, address string) (net.Conn, error)) Provider {
	p.(*remote).client.Transport.(*http.Transport).DialContext = dial
	return p
}

// KeyringSaid has the provider that answers by itself know what the keyring said last.
func KeyringSaid(s *Set, err error) { remoteOf(s.counted[s.standard]).keyring.Store(&err) }

// Events reads all events of a text.
func Events(from io.Reader) (list []string, err error) {
	e := newEvents(bufio.NewReaderSize(from, 16))
	for {
		data, err := e.next()
		if err != nil {
			return list, err
		}
		list = append(list, string(data))
	}
}

// Joined gives what a joiner makes of pieces of a JSON string, each read by itself, nil for what is none.
func Joined(pieces ...string) []string {
	var j joiner
	var out []string
	for _, raw := range pieces {
		var p piece
		if err := p.UnmarshalJSON([]byte(raw)); err != nil {
			return nil
		}
		out = append(out, j.add(string(p)))
	}
	return append(out, j.rest())
}

// Thoughts splits texts into reasoning and text.
func Thoughts(texts ...string) (reasoning, text string) {
	var t thoughts
	for _, s := range slices.Clone(texts) {
		r, x, was := t.split(s)
		if was {
			text = ""
		}
		reasoning, text = reasoning+r, text+x
	}
	r, x := t.rest()
	return reasoning + r, text + x
}

// AnswerOf gives the answer that a kind of provider has sent in events.
func AnswerOf(kind Kind, r *Request, events ...string) (Answer, error) {
	var proto protocol = openAI{}
	if kind == Anthropic {
		proto = anthropic{}
	}
	c := &collector{emit: func(Delta) error { return nil }}
	for _, e := range events {
		if err := proto.event([]byte(e), c); err != nil {
			return Answer{}, err
		}
	}
	return c.answer(r, "m", c.finish), nil
}

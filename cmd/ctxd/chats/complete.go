package chats

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql/syntax"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// completeTimeout bounds what a press of Tab may wait for the daemon.
const completeTimeout = 2 * time.Second

// completed is how many records are offered at most.
const completed = 20

// complete completes a command, or a reference in a message. Without a daemon there are commands only.
func (s *conversing) complete(text string, at int) (out syntax.Completion) {
	ctx, cancel := context.WithTimeout(s.Ctx, completeTimeout)
	defer cancel()
	head := text[:at]
	if isCommand(text) {
		named, arg, typed := strings.Cut(head, " ")
		if !typed {
			return commandChoices(named)
		}
		out.From = len(named) + 1
		switch named {
		case "/open":
			out.Choices = s.handles(ctx, strings.TrimPrefix(arg, "@"), "conversation")
			return out
		case "/confirm", "/reject":
			for i := range s.waiting {
				n := strconv.Itoa(i + 1)
				if strings.HasPrefix(n, arg) {
					out.Choices = append(out.Choices, syntax.Suggestion{Text: n, Shown: n + "  " + s.waiting[i].Type + "  " + shortened(argsOf(&s.waiting[i]))})
				}
			}
			return out
		case "/references":
			out.Choices = syntax.Suggest([]string{allWord}, arg, nil)
			return out
		case "/private":
			out.Choices = syntax.Suggest(onOff, arg, nil)
			return out
		case "/pin", "/unpin":
			if !strings.ContainsAny(arg, "@#[") {
				out.Choices = s.handles(ctx, arg, "memory")
				return out
			}
		}
	}
	return s.references(ctx, head)
}

func commandChoices(begun string) (out syntax.Completion) {
	for _, c := range slashCommands() {
		if strings.HasPrefix(c.name, begun) {
			choice := syntax.Suggestion{Text: c.name, Shown: c.name}
			if c.arg != "" {
				choice.Text += " "
			}
			out.Choices = append(out.Choices, choice)
		}
	}
	return out
}

// references completes the reference that a text ends with.
func (s *conversing) references(ctx context.Context, head string) (out syntax.Completion) {
	line := head[strings.LastIndexByte(head, '\n')+1:]
	if i := strings.LastIndex(line, "[["); i >= 0 && !strings.Contains(line[i:], "]]") {
		out.From = len(head) - len(line) + i
		var found protocol.NoteItems
		if s.call(ctx, "notes.complete", protocol.NoteComplete{Prefix: line[i+2:], Limit: completed}, &found) != nil {
			return out
		}
		for _, n := range found.Items {
			if n.Insert != "" {
				out.Choices = append(out.Choices, syntax.Suggestion{Text: "[[" + n.Insert + "]]", Shown: n.Title + "  " + n.Path})
			}
		}
		return out
	}
	word := head[strings.LastIndexAny(head, " \n\t(")+1:]
	out.From = len(head) - len(word)
	switch {
	case strings.HasPrefix(word, "@"):
		for _, c := range s.handles(ctx, word[1:]) {
			c.Text = "@" + c.Text
			out.Choices = append(out.Choices, c)
		}
	case strings.HasPrefix(word, "#"):
		for _, it := range s.refs(ctx, word, "memory") {
			if it.Number > 0 {
				out.Choices = append(out.Choices, syntax.Suggestion{
					Text: fmt.Sprintf("#%d", it.Number), Shown: fmt.Sprintf("#%d  %s", it.Number, shortened(it.Label)),
				})
			}
		}
	}
	return out
}

func (s *conversing) refs(ctx context.Context, prefix string, kinds ...string) []record.RefCompletion {
	var found record.RefCompletions
	if s.call(ctx, "refs.complete", protocol.RefsComplete{Prefix: prefix, Kinds: kinds, Limit: completed}, &found) != nil {
		return nil
	}
	return found.Items
}

func (s *conversing) handles(ctx context.Context, prefix string, kinds ...string) (out []syntax.Suggestion) {
	for _, it := range s.refs(ctx, prefix, kinds...) {
		out = append(out, syntax.Suggestion{Text: it.Handle, Shown: it.Handle + "  " + shortened(it.Label)})
	}
	return out
}

// labelShown is how many characters of a label are listed.
const labelShown = 48

func shortened(label string) string {
	if r := []rune(label); len(r) > labelShown {
		return string(r[:labelShown-1]) + "…"
	}
	return label
}

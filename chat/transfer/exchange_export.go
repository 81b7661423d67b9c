package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// Formats of an export.
const (
	FormatJSON     = "json"
	FormatMarkdown = "markdown"
)

// ExportFormats are all of them.
var ExportFormats = []string{FormatMarkdown, FormatJSON}

// formatName and formatVersion begin an export as JSON.
const (
	formatName    = "ctxd-chat"
	formatVersion = 1
)

// pieceBytes is how long a piece is, about.
const pieceBytes = 1 << 20

// pageMessages is how many messages are asked for at a time, for a reader who is shown them.
const pageMessages = 8

// Exporter writes conversations. New makes one.
type Exporter struct {
	chats  *chat.Store
	memory *memory.Store
}

// NewExporter returns the Exporter of stores of conversations and of the memories that they name.
func NewExporter(chats *chat.Store, memories *memory.Store) *Exporter {
	return &Exporter{chats, memories}
}

// ExportCursor is where a piece ends. The zero value is before the first one.
type ExportCursor struct {
	After int // the number of the last message in it
	Until int // the number of the last message of the export
}

// ExportPiece is a part of an export. The texts of all pieces, joined, are the export.
type ExportPiece struct {
	Text string
	End  ExportCursor
	More bool
}

// Export returns the piece of an export that begins behind a place. The errors are Invalid for a format that there is
// not, and NotFound.
func (e *Exporter) Export(ctx context.Context, v *audience.View, ref, format string, after ExportCursor) (*ExportPiece, error) {
	if !slices.Contains(ExportFormats, format) {
		return nil, fault.Field("format", "format is none of its values").WithHint("give one of %s", strings.Join(ExportFormats, ", "))
	}
	p := &piece{first: after.After == 0, end: after}
	if p.first {
		p.end.Until = math.MaxInt
	}
	var err error
	switch {
	case format == FormatMarkdown:
		err = e.readable(ctx, v, ref, p)
	case v.Hides():
		err = e.shown(ctx, v, ref, p)
	default:
		err = e.whole(ctx, v, ref, p)
	}
	if err != nil {
		return nil, err
	}
	out := &ExportPiece{Text: p.head.String() + p.body.String(), End: p.end, More: p.more}
	if !p.more && format == FormatJSON {
		out.Text += "\n]}\n"
	}
	return out, nil
}

// piece is one that is being written.
type piece struct {
	first      bool
	head, body bytes.Buffer
	end        ExportCursor
	more       bool
}

// begin writes what stands before the messages, in the first piece.
func (p *piece) begin(conversation []byte, remote bool) {
	if !p.first {
		return
	}
	p.head.WriteString(`{"format":"` + formatName + `","version":1,`)
	if remote {
		p.head.WriteString(`"audience":"remote",`)
	}
	p.head.WriteString(`"conversation":`)
	p.head.Write(conversation)
	p.head.WriteString(`,"messages":[`)
}

// line adds a message with the number index.
func (p *piece) line(index int, message []byte) {
	if !p.first || p.body.Len() > 0 {
		p.body.WriteByte(',')
	}
	p.body.WriteByte('\n')
	p.body.Write(message)
	p.took(index)
}

// took notes that the message with a number is in the piece.
func (p *piece) took(index int) { p.end.After = index }

// full reports whether the piece is long enough.
func (p *piece) full() bool { return p.body.Len() >= pieceBytes }

// ended notes the number of the last message that there is.
func (p *piece) ended(last int) {
	p.end.Until = min(p.end.Until, last)
	p.more = p.full() && p.end.After < p.end.Until
}

// whole writes what is stored.
func (e *Exporter) whole(ctx context.Context, v *audience.View, ref string, p *piece) error {
	c, err := e.chats.Whole(ctx, v, ref, p.end.After+1, p.end.Until, func(m *chat.Message) (bool, error) {
		text, err := m.AppendJSON(nil)
		p.line(m.Index, text)
		return !p.full(), err
	})
	if err != nil {
		return err
	}
	text, err := c.AppendJSON(nil)
	p.begin(text, false)
	p.ended(c.All.Messages)
	return err
}

// shown writes what a remote reader is shown.
func (e *Exporter) shown(ctx context.Context, v *audience.View, ref string, p *piece) error {
	c, err := e.pages(ctx, v, ref, p, func(m *record.ChatMessage) error {
		text, err := marshal(m)
		p.line(m.Index, text)
		return err
	})
	if err != nil {
		return err
	}
	text, err := marshal(c)
	p.begin(text, true)
	return err
}

// pages gives the messages that a reader is shown until the piece is full. It returns their conversation as it was
// before the first of them.
func (e *Exporter) pages(ctx context.Context, v *audience.View, ref string, p *piece, each func(*record.ChatMessage) error,
) (c *record.Conversation, err error) {
	for {
		page, err := e.chats.Messages(ctx, v, ref, chat.AllBranches, p.end.After, pageMessages)
		if err != nil {
			return nil, err
		}
		if c == nil {
			c = page.Conversation
			p.ended(c.Messages)
		}
		for _, m := range page.Messages {
			if m.Index > p.end.Until || p.full() {
				break
			}
			if err := each(m); err != nil {
				return nil, err
			}
		}
		p.ended(c.Messages)
		if !page.More || p.full() || p.end.After >= p.end.Until || len(page.Messages) == 0 {
			return c, nil
		}
	}
}

func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

package hook

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

const (
	// maxMessage is how much of a message is kept, maxRead how much of it is looked through for secrets before.
	maxMessage, maxRead = 256 << 10, 512 << 10
	// maxTranscript is how much is read of the end of the log of a session, maxTurns how many messages of it are kept.
	maxTranscript, maxTurns = 4 << 20, 40
	// maxKept is how many bytes one call hands to the daemon.
	maxKept = 2 << 20
)

// input is what a host says on standard input.
type input map[string]json.RawMessage

// withShortStrings cuts the strings of a text of JSON to a length, in place: ten megabytes take longer to decode than a
// host is to wait.
func withShortStrings(text []byte, limit int) []byte {
	if len(text) <= limit {
		return text
	}
	out := text[:0]
	for len(text) > 0 {
		open := bytes.IndexByte(text, '"') + 1
		if open == 0 {
			break
		}
		out, text = append(out, text[:open]...), text[open:]
		end, cut := stringEnd(text, limit)
		after := min(len(text), end+1) // its quote
		out, text = append(append(out, text[:cut]...), text[end:after]...), text[after:]
	}
	return append(out, text...)
}

// stringEnd returns where a string of JSON ends, before its quote, and where it is cut: not within what a backslash begins.
func stringEnd(text []byte, limit int) (end, cut int) {
	cut = -1
	for end < len(text) {
		step := bytes.IndexAny(text[end:], "\"\\")
		if step < 0 {
			step = len(text) - end
		}
		if cut < 0 && end+step > limit {
			cut = max(end, limit)
		}
		if end += step; end == len(text) || text[end] == '"' {
			break
		}
		if bytes.HasPrefix(text[end:], []byte(`\u`)) {
			step = len(`\u0000`)
		} else {
			step = len(`\n`)
		}
		end = min(len(text), end+step)
	}
	if cut < 0 {
		return end, end
	}
	return end, cut
}

// text returns a member that is a string, and the empty string for everything else.
func (in input) text(name string) string {
	var s string
	_ = json.Unmarshal(in[name], &s) // of another kind: none
	return s
}

// folder returns the folder in which the host works: an absolute path. Without one it is that of this process.
func (in input) folder(h *host) string {
	dir := in.text(h.folders)
	var list []string
	if json.Unmarshal(in[h.folders], &list) == nil && len(list) > 0 {
		dir = list[0]
	}
	if dir == "" {
		dir, _ = os.Getwd() // nothing is done without one
	}
	if dir = homed(dir); !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Clean(dir)
}

// asked is the prompt of a turn, for hosts that give turns an id.
func (h *host) asked(in input) []protocol.ChatMessageDraft {
	return h.drafts(draft(record.RoleUser, in.text("prompt"), in.text(h.session), in.text(h.turn)))
}

// turns are what was said when an answer is done.
func (h *host) turns(in input) []protocol.ChatMessageDraft {
	session, answer := in.text(h.session), in.text(h.answer)
	switch {
	case h.transcript:
		said := transcript(homed(in.text("transcript_path")))
		return h.drafts(said.drafts(session, answer)...)
	case h.promptAtStop: // a turn has no id: both of its texts name it
		asked := in.text("prompt")
		return h.drafts(draft(record.RoleUser, asked, session, asked, answer), draft(record.RoleAssistant, answer, session, asked, answer))
	}
	return h.drafts(draft(record.RoleAssistant, answer, session, in.text(h.turn), answer))
}

// draft is a message that is named by what it stands between, so that a call that comes twice keeps it once.
func draft(role, text string, names ...string) protocol.ChatMessageDraft {
	sum := sha256.Sum256([]byte(role + "\x00" + strings.Join(names, "\x00")))
	return protocol.ChatMessageDraft{Role: role, Content: text, ClientMessageID: "hook-" + hex.EncodeToString(sum[:16])}
}

// drafts masks what looks like a secret, shortens what is long and leaves out what is empty. Of too much the last is kept.
func (h *host) drafts(list ...protocol.ChatMessageDraft) (out []protocol.ChatMessageDraft) {
	size := 0
	for i := len(list) - 1; i >= 0; i-- {
		d := list[i]
		d.Content = shortened(masked(shortened(d.Content, maxRead)), maxMessage)
		if strings.TrimSpace(d.Content) == "" {
			continue
		}
		if size += len(d.Content); size > maxKept {
			break
		}
		out = append([]protocol.ChatMessageDraft{d}, out...)
	}
	return out
}

// shortened returns the beginning of a text, at most so many bytes and whole characters.
func shortened(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit] + "…"
}

// said are the turns of a log, the earliest first: a prompt and the last text that answers it.
type said []turn

type turn struct {
	id, prompt, answer string
	at, answered       time.Time
}

// drafts are the messages of the turns. The host tells the last answer, too, since its log may not have it yet.
func (s said) drafts(session, last string) (list []protocol.ChatMessageDraft) {
	if len(s) == 0 {
		return []protocol.ChatMessageDraft{draft(record.RoleAssistant, last, session, "", last)}
	}
	if last != "" {
		s[len(s)-1].answer = last
	}
	for _, t := range s {
		asked := draft(record.RoleUser, t.prompt, session, t.id)
		answer := draft(record.RoleAssistant, t.answer, session, t.id, t.answer)
		if !t.at.IsZero() {
			asked.CreatedAt = &t.at
		}
		if !t.answered.IsZero() {
			answer.CreatedAt = &t.answered
		}
		list = append(list, asked, answer)
	}
	return list[max(0, len(list)-maxTurns):]
}

// logLine is a line of the log of Claude Code, as far as it is read.
type logLine struct {
	Type, UUID  string
	Timestamp   time.Time
	IsMeta      bool
	IsSidechain bool
	IsSummary   bool `json:"isCompactSummary"`
	Message     struct{ Content json.RawMessage }
}

// transcript reads the end of the log of a session of Claude Code. A log that can't be read has no turns.
func transcript(path string) (s said) {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // it was read only
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	from := max(0, info.Size()-maxTranscript)
	end, err := io.ReadAll(io.NewSectionReader(f, from, maxTranscript))
	if err != nil {
		return nil
	}
	if from > 0 { // the first line may be the end of one
		_, end, _ = bytes.Cut(end, []byte("\n"))
	}
	for line := range bytes.Lines(end) {
		if bytes.Contains(line, []byte(`"message"`)) {
			s = s.line(line)
		}
	}
	return s
}

// line takes a line in: a prompt begins a turn, a text of the model is its answer as long as no other follows.
func (s said) line(raw []byte) said {
	var l logLine
	if json.Unmarshal(raw, &l) != nil || l.IsMeta || l.IsSidechain || l.IsSummary {
		return s
	}
	text := written(l.Message.Content)
	switch {
	case text == "":
	case l.Type == record.RoleUser:
		return append(s, turn{id: l.UUID, prompt: text, at: l.Timestamp})
	case l.Type == record.RoleAssistant && len(s) > 0:
		s[len(s)-1].answer, s[len(s)-1].answered = text, l.Timestamp
	}
	return s
}

// ofProgram are the beginnings of texts that the program writes as if they were typed.
var ofProgram = []string{"<command-", "<local-command", "<system-reminder", "<bash-", "Caveat: The messages below", "[Request interrupted"}

// written returns the texts of a content, which is one text or a list of texts, thoughts, calls and results.
func written(content json.RawMessage) string {
	var one string
	if json.Unmarshal(content, &one) == nil {
		return typed(one)
	}
	var blocks []struct{ Type, Text string }
	if json.Unmarshal(content, &blocks) != nil {
		return ""
	}
	var texts []string
	for _, b := range blocks {
		if b.Type == "text" && typed(b.Text) != "" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

func typed(text string) string {
	for _, begin := range ofProgram {
		if strings.HasPrefix(strings.TrimSpace(text), begin) {
			return ""
		}
	}
	return text
}

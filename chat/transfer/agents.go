package transfer

import (
	"slices"
	"strings"
	"time"
)

// Logs of coding agents, as they lie on the disk of who uses them: sessions of Claude Code, Codex CLI and Gemini CLI in
// lines of JSON, and of Gemini CLI and OpenCode in one object. What was typed and answered is said; calls of tools,
// thoughts, and what the program says to its model are left out and counted.

// session collects the lines of a log.
type session struct {
	source string
	id     string
	title  string
	nodes  []node   // of Claude Code, which keeps branches
	lines  [][]byte // of the others: messages, in order
	size   int
	many   bool
}

// line takes a line of a log in, and reports whether it is one.
func (s *session) line(raw []byte, maxMessages int) bool {
	kind := text(member(raw, "type"))
	payload := member(raw, "payload")
	switch {
	case kind == "session_meta" && isKind(payload, '{'):
		s.begin(Codex, payload)
	case s.source == Codex && (isKind(payload, '{') || kind == "message" || kind != ""):
		switch {
		case kind == "response_item":
			s.keep(payload, maxMessages)
		case kind == "message":
			s.keep(raw, maxMessages)
		case text(member(payload, "type")) == "item_completed":
			s.keep(member(payload, "item"), maxMessages)
		}
	case member(raw, "sessionId") != nil && member(raw, "projectHash") != nil:
		s.begin(Gemini, raw)
		s.id = text(member(raw, "sessionId"))
	case s.source == Gemini && (kind == "user" || kind == "gemini" || kind == "model"):
		s.keep(raw, maxMessages)
	case s.source == Gemini:
	case s.source == "" && kind == "" && member(raw, "timestamp") != nil && member(raw, "id") != nil && member(raw, "instructions") != nil:
		s.begin(Codex, raw) // as it was before session_meta
	case kind == "summary" || kind == "custom-title" || kind == "ai-title":
		s.source = ClaudeCode
		for _, name := range []string{"summary", "customTitle", "aiTitle", "title"} {
			if title := typed(text(member(raw, name))); title != "" {
				s.title = title
			}
		}
	case member(raw, "sessionId") != nil && (member(raw, "uuid") != nil || s.source == ClaudeCode):
		s.source = ClaudeCode
		if s.id == "" {
			s.id = text(member(raw, "sessionId"))
		}
		if member(raw, "uuid") == nil {
			break
		}
		n := node{id: text(member(raw, "uuid")), parent: text(member(raw, "parentUuid")), createdAt: instant(member(raw, "timestamp"))}
		if n.parent == "" {
			n.parent = text(member(raw, "logicalParentUuid"))
		}
		if kind == "user" || kind == "assistant" {
			n.message = s.held(raw)
		}
		if s.many = s.many || len(s.nodes) == maxMessages; !s.many {
			s.nodes = append(s.nodes, n)
		}
	case s.source == ClaudeCode:
	default:
		return false
	}
	return true
}

func (s *session) begin(source string, about []byte) {
	if s.source == "" {
		s.source, s.id = source, text(member(about, "id"))
	}
}

func (s *session) keep(raw []byte, maxMessages int) {
	if s.many = s.many || len(s.lines) == maxMessages; !s.many {
		s.lines = append(s.lines, s.held(raw))
	}
}

// held copies a line. Results of tools may be large, and are left out anyway.
func (s *session) held(raw []byte) []byte {
	s.size += len(raw)
	if s.size > standard.conversation {
		s.many = true
		return nil
	}
	return append([]byte(nil), raw...)
}

// read returns the conversation of the lines.
func (s *session) read() parsed {
	if s.many {
		return parsed{tooMany: true}
	}
	p := parsed{}
	said := newTranscript(&p)
	if s.source == ClaudeCode {
		way := branchTo(s.nodes, "")
		p.branches = way.others
		for place, at := range way.path {
			if n := s.nodes[at]; n.message != nil {
				said.agent(n, place)
			}
		}
	}
	c := &p.conversation
	c.Source, c.ID, c.Title = s.source, s.id, s.title
	place := 0
	for _, raw := range s.lines {
		if said.turn(raw, place); !isItem(raw) { // places are ids: items do not move them
			place++
		}
	}
	c.dated()
	return p
}

// dated sets the times of a conversation by its messages.
func (c *ForeignConversation) dated() {
	for _, m := range c.Messages {
		if m.CreatedAt.IsZero() {
			continue
		}
		if c.CreatedAt.IsZero() {
			c.CreatedAt = m.CreatedAt
		}
		c.UpdatedAt = m.CreatedAt
	}
	if c.ID == "" {
		c.ID = hashed(append([]string{c.Source, c.Title}, firstSaid(c.Messages)...)...)
	}
}

// agent adds a line of Claude Code. One answer takes several lines, of one id.
func (t *transcript) agent(n node, place int) {
	if truth(member(n.message, "isMeta")) || truth(member(n.message, "isCompactSummary")) ||
		truth(member(n.message, "isApiErrorMessage")) {
		t.leftOut.Hidden++
		return
	}
	if truth(member(n.message, "isSidechain")) {
		t.leftOut.Tool++
		return
	}
	message := member(n.message, "message")
	role, answer := text(member(message, "role")), ""
	lines := t.blocks(member(message, "content"))
	if role == RoleAssistant {
		answer = text(member(message, "id"))
	} else if role != RoleUser {
		t.leftOut.Hidden++
		return
	} else if lines = t.typed(lines); lines == nil {
		return
	}
	list := t.p.conversation.Messages
	switch {
	case len(lines) == 0: // thoughts and calls of tools
	case answer != "" && answer == t.answer && len(list) > 0:
		list[len(list)-1].Text = joined([]string{list[len(list)-1].Text, joined(lines)})
	default:
		t.add(ForeignMessage{Role: role, Text: joined(lines), CreatedAt: n.createdAt}, n.id, place)
		t.answer = answer
	}
}

// blocks returns the texts of a content: a string, or a list of texts, images, thoughts, calls of tools and their results.
func (t *transcript) blocks(content []byte) (lines []string) {
	if isKind(content, '"') {
		return nonBlank(text(content))
	}
	for block := range items(content) {
		if isKind(block, '"') {
			lines = append(lines, nonBlank(text(block))...)
			continue
		}
		switch kind := strings.ToLower(text(member(block, "type"))); kind {
		case "text", "input_text", "output_text", "":
			if !truth(member(block, "synthetic")) && !truth(member(block, "thought")) {
				lines = append(lines, nonBlank(text(member(block, "text")))...)
			}
		case "image", "input_image", "local_image":
			lines = append(lines, t.attachment("image", ""))
		case "file":
			lines = append(lines, t.attachment("file", firstText(member(block, "filename"), member(block, "name"))))
		case "thinking", "redacted_thinking", "reasoning":
			t.leftOut.Reasoning++
		default:
			t.leftOut.Tool++
		}
	}
	return lines
}

func nonBlank(s string) []string {
	if strings.TrimSpace(s) == "" {
		return nil
	}
	return []string{s}
}

// turn adds a message of Codex CLI, Gemini CLI or OpenCode.
func (t *transcript) turn(raw []byte, place int) {
	role, kind := text(member(raw, "role")), text(member(raw, "type"))
	info := member(raw, "info")
	id, at := text(member(raw, "id")), instant(member(raw, "timestamp"))
	content := member(raw, "content")
	switch {
	case isItem(raw):
		role = RoleUser
		if kind == "AgentMessage" {
			role = RoleAssistant
		}
	case isKind(info, '{'): // OpenCode
		role, id, content = text(member(info, "role")), text(member(info, "id")), member(raw, "parts")
		at = milliseconds(member(member(info, "time"), "created"))
	case role == "" && (kind == "gemini" || kind == "model"):
		role = RoleAssistant
		if isKind(member(raw, "thoughts"), '[') {
			t.leftOut.Reasoning++
		}
	case role == "" && kind == "user":
		role = RoleUser
	case kind == "reasoning":
		t.leftOut.Reasoning++
		return
	case kind != "message" && kind != "":
		t.leftOut.Tool++
		return
	}
	if role != RoleUser && role != RoleAssistant {
		t.leftOut.Hidden++
		return
	}
	lines := t.blocks(content)
	if role == RoleUser {
		lines = t.typed(lines)
	}
	if len(lines) == 0 {
		return
	}
	m := ForeignMessage{ID: id, Role: role, Text: joined(lines), CreatedAt: at}
	switch t.p.conversation.Source {
	case Codex:
		if !t.first(raw, m) {
			return
		}
	case Gemini: // a message is written again as it goes on
		id = shortID(id)
		if list := t.p.conversation.Messages; id != "" && t.ids[id] > 0 {
			for i := range slices.Backward(list) {
				if list[i].ID == id {
					list[i].Text = m.Text
					return
				}
			}
		}
	}
	t.add(m, "", place)
}

// isItem reports whether a line of Codex is one of what it shows, which newer versions write beside, or in place of, what
// they send to the model.
func isItem(raw []byte) bool {
	kind := text(member(raw, "type"))
	return kind == "UserMessage" || kind == "AgentMessage"
}

// first reports whether a message of Codex has not been added from the other kind of lines: each kind has a message once.
func (t *transcript) first(raw []byte, m ForeignMessage) bool {
	words := strings.Fields(strings.ReplaceAll(m.Text, "[image]", "")) // which only one of the two may have
	key := m.Role + " " + strings.Join(words, " ")
	if t.written == nil {
		t.written = make(map[string][2]int)
	}
	n, kind := t.written[key], 0
	if isItem(raw) {
		kind = 1
	}
	n[kind]++
	t.written[key] = n
	return n[kind] > n[1-kind]
}

// milliseconds returns the time of a number of milliseconds since 1970, zero for anything else.
func milliseconds(raw []byte) time.Time {
	t := instant(raw) // of seconds
	if !t.IsZero() && t.Year() < 3000 {
		return t
	}
	return instant(append([]byte(nil), thousandth(raw)...))
}

// thousandth returns a number of milliseconds in seconds.
func thousandth(raw []byte) []byte {
	digits := string(raw)
	if len(digits) < 4 || strings.ContainsAny(digits, ".eE\"") {
		return nil
	}
	return []byte(digits[:len(digits)-3] + "." + digits[len(digits)-3:])
}

// wholeSession reads a session that is one object: of Gemini CLI or OpenCode.
func wholeSession(e envelope, maxMessages int) parsed {
	p := parsed{}
	c := &p.conversation
	c.Source, c.ID = Gemini, text(e.sessionID)
	if isKind(e.info, '{') {
		c.Source, c.ID, c.Title = OpenCode, text(member(e.info, "id")), text(member(e.info, "title"))
	}
	said := newTranscript(&p)
	place := 0
	for m := range objects(e.messages) {
		if place == maxMessages {
			return parsed{tooMany: true}
		}
		said.turn(m, place)
		place++
	}
	c.dated()
	return p
}

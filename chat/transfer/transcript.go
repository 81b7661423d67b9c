package transfer

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// maxID is how many bytes an id may have. A longer one is replaced by its hash.
const maxID = 200

// envelope are the members of a conversation of either form that are used, as JSON.
type envelope struct {
	id, conversationID, title, createTime, updateTime, currentNode, mapping []byte // ChatGPT
	uuid, name, createdAt, updatedAt, currentLeaf, chatMessages             []byte // Claude
	header, time, answers, chunkedPrompt                                    []byte // Gemini
	sessionID, info, messages                                               []byte // sessions of agents

	asked string // what stands before the question in the titles of the file, for Gemini
}

// open returns the members of a value. Those of a value that is no object are all absent.
func open(raw []byte) envelope {
	var e envelope
	for key, value := range members(raw) {
		switch string(key) {
		case "id":
			e.id = value
		case "conversation_id":
			e.conversationID = value
		case "title":
			e.title = value
		case "create_time":
			e.createTime = value
		case "update_time":
			e.updateTime = value
		case "current_node":
			e.currentNode = value
		case "mapping":
			e.mapping = value
		case "uuid":
			e.uuid = value
		case "name":
			e.name = value
		case "created_at":
			e.createdAt = value
		case "updated_at":
			e.updatedAt = value
		case "current_leaf_message_uuid":
			e.currentLeaf = value
		case "chat_messages":
			e.chatMessages = value
		case "header":
			e.header = value
		case "time":
			e.time = value
		case "safeHtmlItem":
			e.answers = value
		case "chunkedPrompt":
			e.chunkedPrompt = value
		case "sessionId":
			e.sessionID = value
		case "info":
			e.info = value
		case "messages":
			e.messages = value
		}
	}
	return e
}

// source says of which form a conversation is, "" when it is of neither.
func (e envelope) source() string {
	switch {
	case isKind(e.mapping, '{'):
		return ChatGPT
	case isKind(e.chatMessages, '['):
		return Claude
	case (isKind(e.answers, '[') || isKind(e.time, '"') && isKind(e.title, '"')) && strings.Contains(text(e.header), "Gemini"), isKind(member(e.chunkedPrompt, "chunks"), '['):
		return Gemini
	case isKind(e.messages, '[') && isKind(e.sessionID, '"'):
		return Gemini
	case isKind(e.messages, '[') && isKind(e.info, '{'):
		return OpenCode
	}
	return ""
}

// named reports whether a value has the member that holds the messages, of whatever type.
func (e envelope) named() bool { return e.mapping != nil || e.chatMessages != nil }

// read returns the conversation of an envelope that has a source. One without an id gets
// one made of its content, so that a later export of the same messages has it too.
func (e envelope) read(maxMessages int) parsed {
	var p parsed
	switch source := e.source(); {
	case source == ChatGPT:
		p = chatGPT(e, maxMessages)
	case source == Claude:
		p = claude(e, maxMessages)
	case e.messages != nil:
		p = wholeSession(e, maxMessages)
	case e.chunkedPrompt != nil:
		p = studio(e, maxMessages)
	default:
		p = activity(e)
	}
	c := &p.conversation
	if c.ID == "" {
		c.ID = hashed(append([]string{c.Source, c.Title, c.CreatedAt.String()}, firstSaid(c.Messages)...)...)
	}
	c.ID = shortID(c.ID)
	return p
}

// firstSaid returns what tells a conversation from others and stays when it goes on.
func firstSaid(messages []ForeignMessage) []string {
	if len(messages) == 0 {
		return nil
	}
	m := messages[0]
	return []string{m.ID, m.Role, m.Text}
}

// transcript collects the messages of a conversation in their order.
type transcript struct {
	p       *parsed
	leftOut *SkippedMessages
	ids     map[string]int // how many messages had an id

	artifacts map[string]artifact // of Claude, as they are so far
	answer    string              // id of the answer that the last message is of; "" for none
	written   map[string][2]int   // how often Codex wrote a message, by kind of line
}

func newTranscript(p *parsed) *transcript {
	return &transcript{p: p, leftOut: &p.leftOut, ids: make(map[string]int)}
}

// add adds a message unless its text is blank. Where the message has no id it gets that of
// its node or else its place. An id that another message has gets a number.
func (t *transcript) add(m ForeignMessage, nodeID string, place int) {
	if strings.TrimSpace(m.Text) == "" {
		t.leftOut.Blank++
		return
	}
	if m.ID == "" {
		m.ID = nodeID
	}
	if m.ID == "" {
		m.ID = fmt.Sprintf("#%d", place+1)
	}
	m.ID = shortID(m.ID)
	for id := m.ID; t.ids[m.ID] > 0; {
		t.ids[id]++
		m.ID = fmt.Sprintf("%s#%d", id, t.ids[id])
	}
	t.ids[m.ID] = 1
	t.p.conversation.Messages = append(t.p.conversation.Messages, m)
}

// attachment counts an image or file and returns the line that stands for it.
func (t *transcript) attachment(sort, name string) string {
	t.p.attachments++
	name = strings.Join(strings.Fields(name), " ")
	if name == "" {
		return "[" + sort + "]"
	}
	return "[" + sort + ": " + name + "]"
}

// joined puts texts under each other and leaves out blank ones.
func joined(lines []string) string {
	var said []string
	for _, line := range lines {
		if strings.TrimSpace(line) != "" {
			said = append(said, line)
		}
	}
	return strings.Join(said, "\n\n")
}

// firstText returns the first of the values that is a string and not empty.
func firstText(values ...[]byte) string {
	for _, value := range values {
		if s := text(value); s != "" {
			return s
		}
	}
	return ""
}

func shortID(id string) string {
	if len(id) <= maxID {
		return id
	}
	return hashed(id)
}

// hashed returns an id made of texts.
func hashed(texts ...string) string {
	h := sha256.New()
	for _, s := range texts {
		fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)[:16])
}

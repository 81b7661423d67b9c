package transfer

import (
	"strings"
	"unicode/utf8"
)

// parsed is what was read out of one conversation.
type parsed struct {
	conversation ForeignConversation
	leftOut      SkippedMessages
	attachments  int
	branches     int  // left out
	incomplete   bool // the branch doesn't begin at a root
	tooMany      bool // messages; nothing was read
}

// chatGPT reads a conversation of ChatGPT: a tree of nodes by their id, of which
// current_node is the last one that was shown.
func chatGPT(e envelope, maxMessages int) parsed {
	nodes, ok := chatGPTNodes(e.mapping, maxMessages)
	if !ok {
		return parsed{tooMany: true}
	}
	way := branchTo(nodes, text(e.currentNode))
	p := parsed{branches: way.others, incomplete: !way.whole}
	said := newTranscript(&p)
	for i, at := range way.path {
		if n := nodes[at]; n.message != nil {
			said.chatGPT(n, i)
		}
	}
	p.conversation.Source = ChatGPT
	p.conversation.ID = firstText(e.conversationID, e.id)
	p.conversation.Title = text(e.title)
	p.conversation.CreatedAt, p.conversation.UpdatedAt = instant(e.createTime), instant(e.updateTime)
	return p
}

// chatGPTNodes lists the nodes of a mapping. Newer exports leave out children, so the
// parents count; children do where a node doesn't name its parent at all.
func chatGPTNodes(mapping []byte, most int) (nodes []node, ok bool) {
	orphans := make(map[string]int) // nodes that don't name a parent, by id
	children := make(map[string][]byte)
	for key, value := range members(mapping) {
		if len(nodes) == most {
			return nil, false
		}
		n := node{id: strings.ToValidUTF8(string(key), string(utf8.RuneError))}
		named := false
		for name, v := range members(value) {
			switch string(name) {
			case "message":
				if isKind(v, '{') {
					n.message = v
				}
			case "parent":
				n.parent, named = text(v), true
			case "children":
				children[n.id] = v
			}
		}
		if n.message != nil {
			n.createdAt = instant(member(n.message, "create_time"))
		}
		if !named {
			orphans[n.id] = len(nodes)
		}
		nodes = append(nodes, n)
	}
	if len(orphans) == 0 {
		return nodes, true
	}
	for _, n := range nodes {
		for child := range items(children[n.id]) {
			if at, ok := orphans[text(child)]; ok && text(child) != n.id {
				nodes[at].parent = n.id
			}
		}
	}
	return nodes, true
}

// chatGPT adds the message of a node, the one at that place of its branch.
func (t *transcript) chatGPT(n node, place int) {
	var id, author, content, metadata, recipient []byte
	for key, value := range members(n.message) {
		switch string(key) {
		case "id":
			id = value
		case "author":
			author = value
		case "content":
			content = value
		case "metadata":
			metadata = value
		case "recipient":
			recipient = value
		}
	}
	role := text(member(author, "role"))
	kind := text(member(content, "content_type"))
	to := text(recipient)
	switch {
	case truth(member(metadata, "is_visually_hidden_from_conversation")),
		truth(member(metadata, "is_user_system_message")),
		kind == "user_editable_context", kind == "model_editable_context":
		t.leftOut.Hidden++
		return
	case kind == "thoughts", kind == "reasoning_recap":
		t.leftOut.Reasoning++
		return
	case role == "tool", to != "" && to != "all",
		kind == "execution_output", kind == "system_error",
		strings.HasPrefix(kind, "tether_"), kind == "sonic_webpage":
		t.leftOut.Tool++
		return
	case role != RoleUser && role != RoleAssistant && role != RoleSystem:
		t.leftOut.Hidden++
		return
	}
	t.add(ForeignMessage{
		ID:        text(id),
		Role:      role,
		Text:      unmarked(t.chatGPTText(content, kind), targetsOf(metadata)),
		CreatedAt: n.createdAt,
	}, n.id, place)
}

// chatGPTText returns the text of a content: a string, code, or parts that are strings,
// transcripts of what was spoken, and images.
func (t *transcript) chatGPTText(content []byte, kind string) string {
	if isKind(content, '"') {
		return text(content)
	}
	if kind == "code" {
		return fenced(text(member(content, "language")), text(member(content, "text")))
	}
	var lines []string
	for part := range items(member(content, "parts")) {
		if isKind(part, '"') {
			lines = append(lines, text(part))
			continue
		}
		kind := text(member(part, "content_type"))
		switch {
		case kind == "image_asset_pointer":
			lines = append(lines, t.attachment("image", ""))
		case strings.HasSuffix(kind, "asset_pointer"): // of audio and video; a transcript stands beside it
			t.p.attachments++
		default:
			lines = append(lines, text(member(part, "text")))
		}
	}
	if lines == nil {
		lines = append(lines, text(member(content, "text")))
	}
	return joined(lines)
}

// fenced returns code as a block of Markdown whose fence is longer than any within.
func fenced(language, code string) string {
	if strings.TrimSpace(code) == "" {
		return ""
	}
	fence := "```"
	for strings.Contains(code, fence) {
		fence += "`"
	}
	if language == "unknown" || strings.ContainsAny(language, "`\r\n") {
		language = ""
	}
	return fence + language + "\n" + strings.TrimSuffix(code, "\n") + "\n" + fence
}

package transfer

import (
	"regexp"
	"strings"
)

// claudeRoot begins the id that a first message has for its parent: no message has it.
const claudeRoot = "00000000-0000-"

// claude reads a conversation of Claude: a list of messages. In newer exports each names
// its parent, and the list holds the messages of all branches.
func claude(e envelope, maxMessages int) parsed {
	var nodes []node
	linked := false
	for value := range items(e.chatMessages) {
		if len(nodes) == maxMessages {
			return parsed{tooMany: true}
		}
		var n node
		if isKind(value, '{') {
			n.message = value
		}
		parent := ""
		for key, v := range members(value) {
			switch string(key) {
			case "uuid":
				n.id = text(v)
			case "created_at":
				n.createdAt = instant(v)
			case "parent_message_uuid":
				parent = text(v)
			}
		}
		switch {
		case strings.HasPrefix(parent, claudeRoot):
			linked = true
		case parent != "":
			n.parent, linked = parent, true
		case len(nodes) > 0: // of the time before branches were exported
			n.parent = nodes[len(nodes)-1].id
		}
		nodes = append(nodes, n)
	}
	way := branch{whole: true}
	if linked {
		way = branchTo(nodes, text(e.currentLeaf))
	} else {
		for i := range nodes {
			way.path = append(way.path, i)
		}
	}
	p := parsed{branches: way.others, incomplete: !way.whole}
	said := newTranscript(&p)
	for i, at := range way.path {
		if n := nodes[at]; n.message != nil {
			said.claude(n, i)
		}
	}
	p.conversation.Source = Claude
	p.conversation.ID = text(e.uuid)
	p.conversation.Title = text(e.name)
	p.conversation.CreatedAt, p.conversation.UpdatedAt = instant(e.createdAt), instant(e.updatedAt)
	return p
}

// claude adds the message of a node, the one at that place of its branch.
func (t *transcript) claude(n node, place int) {
	var sender, plainText, content, attachments, files []byte
	for key, value := range members(n.message) {
		switch string(key) {
		case "sender":
			sender = value
		case "text":
			plainText = value
		case "content":
			content = value
		case "attachments":
			attachments = value
		case "files":
			files = value
		}
	}
	role := text(sender)
	switch role {
	case "human":
		role = RoleUser
	case RoleAssistant, RoleSystem:
	default:
		t.leftOut.Hidden++
		return
	}
	said, other := t.claudeText(content)
	if strings.TrimSpace(said) == "" && other == (SkippedMessages{}) {
		said = t.withFiles(text(plainText))
	}
	lines := []string{said}
	for file := range objects(attachments) {
		// A long text that was pasted becomes an attachment, and so does a file, with its text. Where nothing was typed
		// beside it, it is the message.
		pasted := text(member(file, "extracted_content"))
		if strings.TrimSpace(said) == "" && strings.TrimSpace(pasted) != "" {
			lines = append(lines, pasted)
			continue
		}
		lines = append(lines, t.attachment("file", text(member(file, "file_name"))), fenced("", pasted))
	}
	for file := range objects(files) {
		lines = append(lines, t.attachment("file", text(member(file, "file_name"))))
	}
	all := joined(lines)
	if strings.TrimSpace(all) == "" && other != (SkippedMessages{}) {
		t.leftOut.add(other)
		return
	}
	t.add(ForeignMessage{Role: role, Text: all, CreatedAt: n.createdAt}, n.id, place)
}

// artifact returns what a call of a tool made for the person to see, as a file of the message; "" for another call.
func (t *transcript) artifact(block []byte) string {
	input := member(block, "input")
	switch text(member(block, "name")) {
	case "artifacts":
		id := text(member(input, "id"))
		made := t.artifacts[id]
		switch text(member(input, "command")) {
		case "update":
			made.text = strings.Replace(made.text, text(member(input, "old_str")), text(member(input, "new_str")), 1)
		default:
			made.text = text(member(input, "content"))
		}
		if title := text(member(input, "title")); title != "" {
			made.title = title
		}
		if language := text(member(input, "language")); language != "" {
			made.language = language
		}
		if t.artifacts == nil {
			t.artifacts = make(map[string]artifact)
		}
		t.artifacts[id] = made
		return t.madeFile(made)
	case "create_file":
		name := text(member(input, "path"))
		return t.madeFile(artifact{title: name[strings.LastIndexByte(name, '/')+1:], text: text(member(input, "file_text"))})
	}
	return ""
}

// artifact is a document that the model made beside its answer.
type artifact struct{ title, language, text string }

func (t *transcript) madeFile(a artifact) string {
	if strings.TrimSpace(a.text) == "" {
		return ""
	}
	return t.attachment("file", a.title) + "\n\n" + fenced(a.language, a.text)
}

// inlineArtifacts are documents as they stood in answers before there were blocks for them.
var inlineArtifacts = regexp.MustCompile(`(?s)<antArtifact([^>]*)>(.*?)</antArtifact>`)

// withFiles has the documents in a text stand there as files, and leaves out thoughts about them.
func (t *transcript) withFiles(said string) string {
	if !strings.Contains(said, "<ant") {
		return said
	}
	said = antThinking.ReplaceAllString(said, "")
	return inlineArtifacts.ReplaceAllStringFunc(said, func(whole string) string {
		m := inlineArtifacts.FindStringSubmatch(whole)
		named := func(name string) string {
			_, rest, _ := strings.Cut(m[1], name+`="`)
			value, _, _ := strings.Cut(rest, `"`)
			return value
		}
		return "\n\n" + t.madeFile(artifact{named("title"), named("language"), m[2]}) + "\n\n"
	})
}

var antThinking = regexp.MustCompile(`(?s)<antThinking>.*?</antThinking>\s*`)

// claudeText returns the text of the blocks of a message, and as what the message counts
// when that is blank. The text beside the blocks is not used then: in newer exports it has a
// line "This block is not supported" for each of them.
func (t *transcript) claudeText(content []byte) (said string, other SkippedMessages) {
	var lines []string
	for block := range items(content) {
		switch kind := text(member(block, "type")); kind {
		case "text", "voice_note":
			lines = append(lines, t.withFiles(text(member(block, "text"))))
		case "thinking", "redacted_thinking":
			other = SkippedMessages{Reasoning: 1}
		case "":
		default:
			if made := t.artifact(block); made != "" {
				lines = append(lines, made)
			} else if other == (SkippedMessages{}) {
				other = SkippedMessages{Tool: 1}
			}
		}
	}
	return joined(lines), other
}

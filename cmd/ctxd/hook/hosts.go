package hook

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"
)

// The events of ctxd hook.
const (
	Start  = "start"
	Prompt = "prompt"
	Stop   = "stop"
)

// events are all of them, in the order in which they are installed.
var events = []string{Start, Prompt, Stop}

// host is a program that calls hooks.
type host struct {
	name   string
	folder string // of its settings, in the home of the user
	env    string // the variable that names another folder; empty: none
	file   string // in the folder

	events  map[string]string // what the program calls an event of ours
	nested  bool              // a list of hooks stands below a matcher, in "hooks"
	timeout int               // in the unit of the program; 0: its own
	version bool              // the settings begin with "version": 1

	session, turn, folders string            // members of the input; turn is empty where turns have no id
	answer                 string            // the member of the input at Stop that has the answer
	promptAtStop           bool              // the input at Stop has the prompt, too
	transcript             bool              // the log of a session is read for its turns
	context                map[string]string // how the program takes context at an event: a member of the output, or nestedContext
}

// nestedContext is the output of programs that take additionalContext below hookSpecificOutput.
const nestedContext = "hookSpecificOutput"

// hosts are the programs that ctxd hook serves.
var hosts = []host{
	{
		name: "claude-code", folder: ".claude", env: "CLAUDE_CONFIG_DIR", file: "settings.json",
		events: map[string]string{Start: "SessionStart", Prompt: "UserPromptSubmit", Stop: "Stop"},
		nested: true, timeout: 5,
		session: "session_id", folders: "cwd", answer: "last_assistant_message", transcript: true,
		context: map[string]string{Start: nestedContext, Prompt: nestedContext},
	},
	{
		name: "codex", folder: ".codex", env: "CODEX_HOME", file: "hooks.json",
		events: map[string]string{Start: "SessionStart", Prompt: "UserPromptSubmit", Stop: "Stop"},
		nested: true, timeout: 5,
		session: "session_id", turn: "turn_id", folders: "cwd", answer: "last_assistant_message",
		context: map[string]string{Start: nestedContext, Prompt: nestedContext},
	},
	{
		name: "gemini", folder: ".gemini", file: "settings.json",
		events: map[string]string{Start: "SessionStart", Prompt: "BeforeAgent", Stop: "AfterAgent"},
		nested: true, timeout: 5000,
		session: "session_id", folders: "cwd", answer: "prompt_response", promptAtStop: true,
		context: map[string]string{Start: nestedContext, Prompt: nestedContext},
	},
	{
		name: "cursor", folder: ".cursor", file: "hooks.json", version: true,
		events:  map[string]string{Start: "sessionStart", Prompt: "beforeSubmitPrompt", Stop: "afterAgentResponse"},
		session: "conversation_id", turn: "generation_id", folders: "workspace_roots", answer: "text",
		context: map[string]string{Start: "additional_context"},
	},
}

// Names are the names of the hosts.
func Names() (names []string) {
	for i := range hosts {
		names = append(names, hosts[i].name)
	}
	return names
}

func find(name string) *host {
	for i := range hosts {
		if hosts[i].name == name {
			return &hosts[i]
		}
	}
	return nil
}

// path returns the file of the settings of the user.
func (h *host) path() (string, error) {
	if dir := os.Getenv(h.env); h.env != "" && dir != "" {
		return filepath.Join(dir, h.file), nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, h.folder, h.file), err
}

// output is what the program reads as context; nil where it takes none at the event.
func (h *host) output(event, text string) any {
	switch key := h.context[event]; key {
	case "":
		return nil
	case nestedContext:
		return map[string]any{key: map[string]string{"hookEventName": h.events[event], "additionalContext": text}}
	default:
		return map[string]string{key: text}
	}
}

// markLength is how many bytes of the id of a conversation name its host.
const markLength = 6

// conversation returns the id of the conversation that keeps a session: a UUID of version 8, which is free in its form.
// It is the same at each call, and its last bytes name the host, so that what was kept of a host can be told.
func (h *host) conversation(session string) string {
	said := sha256.Sum256([]byte("ctxd session\x00" + h.name + "\x00" + session))
	id := uuid.UUID(said[:16])
	copy(id[len(id)-markLength:], h.mark())
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return id.String()
}

func (h *host) mark() []byte {
	sum := sha256.Sum256([]byte("ctxd host\x00" + h.name))
	return sum[:markLength]
}

// keeps reports whether a conversation is one of a session of this host.
func (h *host) keeps(conversation string) bool {
	id, err := uuid.Parse(conversation)
	return err == nil && id.Version() == 8 && strings.HasSuffix(string(id[:]), string(h.mark()))
}

// project returns the folder of a project: that of the repository around a folder, else the folder.
func project(folder string) string {
	for at := folder; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if filepath.Dir(at) == at {
			return folder
		}
	}
}

// contextID is the id of the context of memories that belongs to the folder of a project.
func contextID(folder string) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("ctxd project\x00"+folder)).String()
}

// off reports whether a folder, or one above it, has .ctxd/off: nothing is kept of it. A folder that can't be looked at
// is off, too.
func off(folder string) bool {
	places := []string{folder}
	if real, err := filepath.EvalSymlinks(folder); err == nil && real != folder {
		places = append(places, real)
	}
	for _, at := range places {
		for ; ; at = filepath.Dir(at) {
			if _, err := os.Lstat(filepath.Join(at, ".ctxd", "off")); err == nil || os.IsPermission(err) {
				return true
			}
			if filepath.Dir(at) == at {
				break
			}
		}
	}
	return false
}

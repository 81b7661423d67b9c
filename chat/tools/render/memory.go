package render

import (
	"fmt"
	"time"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/record"
	entitytext "github.com/ctxd/ctxd/entities/text"
)

// Remembered is a memory or a message that was found.
type Remembered struct {
	Position     int
	ID, Text     string
	CreatedAt    time.Time
	Tier, Status string // of a memory
	Holds        string // of a memory: when it holds, where it does not hold now
	Ref          string // of a memory: what # names it by; "" where it is not said
	Role         string // of a message
	Conversation string // of a message: the id of its conversation
	OlderThan    string // id of what was said later of the same
	Rest         string // the tool that reads the rest of a long memory; "" for none
}

// hitChars is how much of a statement stands in a list.
const hitChars = 500

// Line shows it in one line.
func (h *Remembered) Line() string {
	isMessage := h.Conversation != ""
	of := Inline(h.Tier) + ", " + entitytext.Day(h.CreatedAt)
	if isMessage {
		of = "said by " + Inline(h.Role) + ", " + entitytext.Day(h.CreatedAt)
	} else if h.Status != record.MemoryActive {
		of += ", " + Inline(h.Status)
	}
	if h.Holds != "" {
		of += ", " + h.Holds
	}
	said, cut := prompt.Cut(OneLine(h.Text), hitChars)
	line := fmt.Sprintf("%d. [%s] %s", h.Position, of, prompt.EscapeInline(said))
	if cut && !isMessage && h.Rest != "" {
		line += " (" + h.Rest + " reads the rest)"
	}
	line += ID(h.ID)
	if h.Ref != "" {
		line += " " + h.Ref
	}
	if isMessage {
		line += ", in the conversation" + ID(h.Conversation)
	}
	if h.OlderThan != "" {
		line += ", older than" + ID(h.OlderThan)
	}
	return line + "\n"
}

// Unsure says that what a search of notes has found may be no answer; "" where it may well be one.
func Unsure(confidence, reason string) string {
	if confidence != "low" {
		return ""
	}
	return "Confidence: low (" + Inline(reason) + ")\n" + doubt("a note")
}

func doubt(what string) string {
	return "Say that you do not know, unless " + what + " below answers.\n"
}

// Confidence says how sure an answer out of what was found is.
func Confidence(confidence, reason, degraded string) string {
	head := "Confidence: " + Inline(confidence) + " (" + Inline(reason) + ")\n"
	if confidence == "low" {
		head += doubt("a memory")
	}
	if degraded != "" {
		head += "Some may be missing: " + Inline(degraded) + ".\n"
	}
	return head
}

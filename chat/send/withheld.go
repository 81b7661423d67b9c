package send

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/record"
)

// maxWithheldNames is how many private records are named that a provider is not given.
const maxWithheldNames = 10

// withhold warns the person of what the provider is not given since it is private. Where a local one answered before, that is
// all that the prompt would have held as well, and it is told before the provider answers (CHAT-48).
func (s *sending) withhold(h *chat.History) {
	if !s.reader.Hides() || s.asker.Hides() {
		return
	}
	var parts []string
	if h.Withheld > 0 {
		parts = append(parts, count(h.Withheld, "earlier message"))
	}
	if s.moved = s.isLocal(h.Before); s.moved {
		parts = append(parts, s.withheldNames()...)
	}
	switch {
	case len(parts) == 0:
	case s.moved:
		s.warn(record.AboutPrivate, "%s answered before and is local; %s is not, and is not given what is private: %s",
			h.Before, s.info.Name, strings.Join(parts, ", "))
	default:
		s.warn(record.AboutPrivate, "%s of the conversation are private, and %s is not local: it was not given them", parts[0], s.info.Name)
	}
}

// isLocal reports whether a provider gets private records; one that the settings have no more may have got them.
func (s *sending) isLocal(name string) bool {
	if name == "" || name == s.info.Name {
		return false
	}
	p, err := s.opts.Providers.Provider(name)
	return err != nil || p.Info().Local
}

// withheldNames are the private records that would have been in the prompt of a local provider, as the person knows them.
func (s *sending) withheldNames() (names []string) {
	for _, d := range s.prompt.Report.Dropped {
		if d.Reason != prompt.Private || d.ID == "" {
			continue
		}
		if name := s.nameOf(d); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if more := len(names) - maxWithheldNames; more > 0 {
		names = append(names[:maxWithheldNames], fmt.Sprintf("and %d more", more))
	}
	return names
}

// nameOf names a private record for who asks, who sees it.
func (s *sending) nameOf(d prompt.Dropped) string {
	switch d.Kind {
	case prompt.KindNote:
		if n := s.asker.Note(d.ID); n != nil {
			return "[[" + n.Title + "]]"
		}
	case prompt.KindMemory:
		if n := s.opts.Chat.Numbered(s.asker, d.ID); n > 0 {
			return fmt.Sprintf("memory #%d", n)
		}
	case prompt.KindEntity:
		if e := s.asker.Entity(d.ID); e != nil {
			return "@" + e.Name
		}
	}
	return d.Kind + " " + d.ID
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

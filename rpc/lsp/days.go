package lsp

// The note of a day: its path, and what a link to it says, by the settings of the program that keeps the vault (notes/days).
// A vault without settings has its notes of days where most of them are.

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ctxd/ctxd/notes/days"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// dayNotes returns where a vault has its notes of days.
func (s *Session) dayNotes(ctx context.Context, root, vault string) (days.Settings, error) {
	n, _, ok := days.Read(readFrom(root))
	if ok || vault == "" {
		return n, nil
	}
	p := &s.places
	p.mu.Lock()
	most, ok := p.days[vault]
	p.mu.Unlock()
	if ok {
		most.Apply(&n)
		return n, nil
	}
	most, err := s.countDayNotes(ctx, vault)
	if err != nil {
		return n, err
	}
	most.Apply(&n)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.days == nil {
		p.days = make(map[string]days.Counter)
	}
	p.days[vault] = most
	return n, nil
}

// readFrom reads files of a folder.
func readFrom(root string) days.Reader {
	return func(file string) ([]byte, error) { return os.ReadFile(filepath.Join(root, filepath.FromSlash(file))) }
}

// countDayNotes counts the notes of days of a vault.
func (s *Session) countDayNotes(ctx context.Context, vault string) (count days.Counter, err error) {
	const page = 1000
	ask := protocol.NoteFilter{Vault: vault}
	ask.Limit = page
	for {
		var out protocol.NotePage
		if err := s.Daemon(ctx, "notes.list", ask, &out); err != nil {
			return count, err
		}
		for _, n := range out.Notes {
			count.Add(n.Path)
		}
		if out.NextCursor == "" {
			return count, nil
		}
		ask.Cursor = out.NextCursor
	}
}

// namedDay is a day as people say it.
type namedDay struct {
	name string
	day  time.Time
}

var dayNumber = regexp.MustCompile(`^(?:in )?(\d{1,3})\b`)

// daysNamed returns the days whose names begin with what is typed: today, last monday, 3 days ago, in 2 weeks.
func daysNamed(typed string, today time.Time) (list []namedDay) {
	const fewest = 3 // letters: less may begin anything
	typed = strings.ToLower(strings.Join(strings.Fields(typed), " "))
	if len(typed) < fewest {
		return nil
	}
	all := []namedDay{{"today", today}, {"yesterday", today.AddDate(0, 0, -1)}, {"tomorrow", today.AddDate(0, 0, 1)}}
	for i := range 7 {
		weekday := time.Weekday((i + 1) % 7)
		name := strings.ToLower(weekday.String())
		ahead := (int(weekday)-int(today.Weekday())+6)%7 + 1 // 1 to 7
		back := (int(today.Weekday())-int(weekday)+6)%7 + 1
		all = append(all, namedDay{"last " + name, today.AddDate(0, 0, -back)},
			namedDay{"next " + name, today.AddDate(0, 0, ahead)}, namedDay{name, today.AddDate(0, 0, ahead)})
	}
	if m := dayNumber.FindStringSubmatch(typed); m != nil {
		n, _ := strconv.Atoi(m[1]) // of three digits
		for _, unit := range []struct {
			name string
			days int
		}{{"day", 1}, {"week", 7}} {
			name := m[1] + " " + unit.name
			if n != 1 {
				name += "s"
			}
			all = append(all, namedDay{name + " ago", today.AddDate(0, 0, -n*unit.days)}, namedDay{"in " + name, today.AddDate(0, 0, n*unit.days)})
		}
	}
	return slices.DeleteFunc(all, func(d namedDay) bool { return !strings.HasPrefix(d.name, typed) })
}

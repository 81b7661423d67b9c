package lsp

// The note of a day: its path, and what a link to it says, by the settings of the program that keeps the vault (notes/days).
// A vault without settings has its notes of days where most of them are.

import (
	"context"
	"os"
	"path"
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
	read := func(file string) ([]byte, error) { return os.ReadFile(filepath.Join(root, filepath.FromSlash(file))) }
	if n, ok := days.Read(read); ok || vault == "" {
		return n, nil
	}
	p := &s.places
	p.mu.Lock()
	n, ok := p.days[vault]
	p.mu.Unlock()
	if ok {
		return n, nil
	}
	n, err := s.mostDayNotes(ctx, vault)
	if err != nil {
		return n, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.days == nil {
		p.days = make(map[string]days.Settings)
	}
	p.days[vault] = n
	return n, nil
}

// daily are names of notes that are a day.
var daily = regexp.MustCompile(`^\d{4}([-_.])\d{2}([-_.])\d{2}\.md$`)

// mostDayNotes returns where most notes of days are, and named as they are.
func (s *Session) mostDayNotes(ctx context.Context, vault string) (days.Settings, error) {
	const page = 1000
	counts, format := make(map[string]int), make(map[string]string)
	ask := protocol.NoteFilter{Vault: vault}
	ask.Limit = page
	for {
		var out protocol.NotePage
		if err := s.Daemon(ctx, "notes.list", ask, &out); err != nil {
			return days.Settings{}, err
		}
		for _, n := range out.Notes {
			if m := daily.FindStringSubmatch(path.Base(n.Path)); m != nil {
				counts[n.Folder]++
				format[n.Folder] = "YYYY" + m[1] + "MM" + m[2] + "DD"
			}
		}
		if out.NextCursor == "" {
			break
		}
		ask.Cursor = out.NextCursor
	}
	folder, most := "", 0
	for f, n := range counts {
		if n > most || n == most && f < folder {
			folder, most = f, n
		}
	}
	if most == 0 {
		return days.Settings{File: days.ISO}, nil
	}
	return days.Settings{Folder: folder, File: format[folder]}, nil
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
